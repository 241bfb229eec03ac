//! What the API server serves, as far as it was asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gateward_core::GroupServed;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use tokio::time::Instant;

/// How long it is believed that something is still served.
const BELIEVED: Duration = Duration::from_mins(5);

/// Whether something is served.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// A group, in whatever version.
    Group { group: String },
    /// A resource in a version.
    Resource { group: String, version: String, plural: String },
}

impl Question {
    /// What to read for an answer.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Group { group } => format!("/apis/{group}"),
            Self::Resource { group, version, .. } => format!("/apis/{group}/{version}"),
        }
    }

    /// Whether the document at the path says yes.
    pub(super) fn is_answered_by(&self, document: &str) -> bool {
        match self {
            Self::Group { .. } => true,
            Self::Resource { plural, .. } => serde_json::from_str(document)
                .is_ok_and(|list: APIResourceList| list.resources.iter().any(|resource| resource.name == *plural)),
        }
    }
}

/// Answers that were given. One that says yes is believed for a while; any other serves only those who were waiting
/// when it was asked for. So a newly installed API is found at once, and concurrent callers ask at most twice.
#[derive(Debug, Clone, Default)]
pub(super) struct Discovered(Arc<Mutex<HashMap<Question, Slot>>>);

type Slot = Arc<tokio::sync::Mutex<Option<Answer>>>;

#[derive(Debug)]
struct Answer {
    served: GroupServed,
    asked: Instant,
}

impl Answer {
    fn serves(&self, arrived: Instant) -> bool {
        let believed = self.served == GroupServed::Served && self.asked.elapsed() < BELIEVED;
        believed || self.asked >= arrived
    }
}

impl Discovered {
    /// The answer that is known, or the one that is given now.
    pub(super) async fn or_ask<A>(&self, question: &Question, ask: impl FnOnce() -> A) -> GroupServed
    where
        A: Future<Output = GroupServed>,
    {
        let arrived = Instant::now();
        let slot = self.slot(question);
        let mut answer = slot.lock().await;
        if let Some(known) = answer.as_ref().filter(|answer| answer.serves(arrived)) {
            return known.served.clone();
        }
        let asked = Instant::now();
        let served = ask().await;
        *answer = Some(Answer { served: served.clone(), asked });
        served
    }

    fn slot(&self, question: &Question) -> Slot {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(question.clone()).or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn question() -> Question {
        Question::Group { group: "zoo.org".into() }
    }

    async fn answered(discovered: &Discovered, asked: &AtomicUsize, answer: GroupServed) -> GroupServed {
        let ask = || async {
            asked.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_secs(1)).await;
            answer
        };
        discovered.or_ask(&question(), ask).await
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_served_is_not_asked_again_for_a_while() {
        let (discovered, asked) = (Discovered::default(), AtomicUsize::new(0));
        for _ in 0..3 {
            assert_eq!(answered(&discovered, &asked, GroupServed::Served).await, GroupServed::Served);
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        tokio::time::advance(BELIEVED).await;
        assert_eq!(answered(&discovered, &asked, GroupServed::Absent).await, GroupServed::Absent);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_served_is_asked_again_at_once() {
        let (discovered, asked) = (Discovered::default(), AtomicUsize::new(0));
        assert_eq!(answered(&discovered, &asked, GroupServed::Absent).await, GroupServed::Absent);
        assert_eq!(answered(&discovered, &asked, GroupServed::Served).await, GroupServed::Served);
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_asks_at_most_two_times() {
        let (discovered, asked) = (Discovered::default(), AtomicUsize::new(0));
        let unreadable = || GroupServed::Unreadable("down".into());
        let crowd = (0..50).map(|_| answered(&discovered, &asked, unreadable()));
        let answers = futures_util::future::join_all(crowd).await;
        assert!(answers.iter().all(|answer| *answer == unreadable()));
        assert!(asked.load(Ordering::Relaxed) <= 2);
    }

    #[test]
    fn a_resource_is_served_where_the_version_lists_it() {
        let (group, version, plural) = ("zoo.org".into(), "v1".into(), "otters".into());
        let question = Question::Resource { group, version, plural };
        assert_eq!(question.path(), "/apis/zoo.org/v1");
        let list = |name| {
            let resource =
                serde_json::json!({"name": name, "kind": "X", "namespaced": true, "singularName": "", "verbs": []});
            serde_json::json!({"groupVersion": "zoo.org/v1", "resources": [resource]}).to_string()
        };
        assert!(question.is_answered_by(&list("otters")) && !question.is_answered_by(&list("otters/status")));
    }
}
