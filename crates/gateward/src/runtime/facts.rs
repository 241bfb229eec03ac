//! What is known of the cluster: the facts of the moment, learned anew every minute, and what handlers look things up with.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use gateward_cluster::Backoff;
use gateward_core::{ClusterReader, Facts};
use gateward_server::{Panicked, Readiness, ReportLine, catch_panic};
use tokio::sync::watch;

use crate::config::{ConfigSource, Discovered, DiscoveryError, Problem};
use crate::operator::Operator;

/// How long facts are taken for granted.
const LASTING: Duration = Duration::from_mins(1);
/// The delay after a first failure, and the longest, until they are known for the first time; jitter adds up to the same
/// again.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The name of the wait and of the report.
const NAME: &str = "facts";

/// What is known at the moment. All clones are the same.
#[derive(Clone)]
pub(super) struct Present {
    facts: Arc<RwLock<Arc<dyn Facts>>>,
    cluster: Arc<OnceLock<Arc<dyn ClusterReader>>>,
}

impl Present {
    /// Nothing is known. No request is answered yet.
    pub(super) fn unknown() -> Self {
        Self { facts: Arc::new(RwLock::new(Arc::new(()))), cluster: Arc::default() }
    }

    /// What is known.
    pub(super) fn get(&self) -> Arc<dyn Facts> {
        Arc::clone(&self.facts.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What handlers look things up with, once there is a connection.
    pub(super) fn cluster(&self) -> Arc<OnceLock<Arc<dyn ClusterReader>>> {
        Arc::clone(&self.cluster)
    }

    pub(super) fn put(&self, facts: Arc<dyn Facts>) {
        *self.facts.write().unwrap_or_else(PoisonError::into_inner) = facts;
    }
}

/// Learns what is to be known of the cluster.
pub(super) struct FactsPoller<'a, P> {
    pub(super) operator: &'a P,
    pub(super) given: &'a ConfigSource,
    pub(super) cluster: Arc<dyn ClusterReader>,
    pub(super) present: Present,
    pub(super) readiness: Readiness,
}

impl<P: Operator> FactsPoller<'_, P> {
    /// Polls; ends only where the configuration requires what the cluster doesn't have, before any request was answered.
    /// `known` changes when the facts are known for the first time.
    pub(super) async fn go_on(self, known: &watch::Sender<bool>) -> Problem {
        self.present.cluster.get_or_init(|| Arc::clone(&self.cluster));
        let mut notes = match self.first().await {
            Ok(learned) => self.take(learned, &[]),
            Err(contradiction) => return contradiction,
        };
        known.send_replace(true);
        loop {
            tokio::time::sleep(LASTING).await;
            match self.once().await {
                Ok(learned) => notes = self.take(learned, &notes),
                Err(error) => {
                    tracing::warn!(%error, "the facts of the last time stay in use");
                    self.readiness
                        .report(NAME, vec![ReportLine::Warning(format!("{error}; the last facts stay in use"))]);
                }
            }
        }
    }

    /// Learns for the first time, however long it takes.
    async fn first(&self) -> Result<Discovered, Problem> {
        let waiting = self.readiness.wait_for(NAME, "asking the API server what the cluster serves");
        let mut backoff = Backoff::with_delays(FIRST_PAUSE, LONGEST_PAUSE);
        loop {
            match self.once().await {
                Ok(learned) => return Ok(learned),
                Err(DiscoveryError::Contradiction(problem)) => return Err(problem),
                Err(DiscoveryError::Unreadable(why)) => {
                    tracing::warn!(why, "trying again to learn what the cluster serves");
                    waiting.update(why);
                }
            }
            tokio::time::sleep(backoff.fail()).await;
        }
    }

    async fn once(&self) -> Result<Discovered, DiscoveryError> {
        let learning = async { self.operator.cluster_facts(self.given, Arc::clone(&self.cluster)).await };
        let learned = catch_panic(learning).await;
        let panicked = || DiscoveryError::Unreadable("what the cluster serves can't be learned: that panicked".into());
        learned.unwrap_or_else(|Panicked| Err(panicked()))
    }

    /// Has requests answered by what was learned; gives the notes back, of which those are logged that are new.
    fn take(&self, learned: Discovered, before: &[String]) -> Vec<String> {
        let Discovered { facts, notes } = learned;
        self.present.put(facts);
        notes.iter().filter(|note| !before.contains(note)).for_each(|note| tracing::warn!("{note}"));
        self.readiness.report(NAME, notes.iter().cloned().map(ReportLine::Warning).collect());
        notes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use gateward_core::testing::Stored;
    use gateward_core::{FieldPath, Webhooks};
    use serde_json::json;

    use super::*;
    use crate::config::{Flags, PodEnvironment};

    /// Learns what its steps say, one after the other, and then the last one again and again.
    struct Pupil {
        webhooks: Webhooks,
        steps: Vec<fn() -> Result<usize, DiscoveryError>>,
        asked: AtomicUsize,
    }

    struct Number(usize);
    impl Facts for Number {}

    impl Operator for Pupil {
        fn webhooks(&self) -> &Webhooks {
            &self.webhooks
        }

        async fn cluster_facts(
            &self,
            _: &ConfigSource,
            _: Arc<dyn ClusterReader>,
        ) -> Result<Discovered, DiscoveryError> {
            let step = self.asked.fetch_add(1, Ordering::Relaxed).min(self.steps.len() - 1);
            (self.steps[step])().map(|number| Discovered { facts: Arc::new(Number(number)), notes: Vec::new() })
        }
    }

    fn unreadable() -> Result<usize, DiscoveryError> {
        Err(DiscoveryError::Unreadable("the API server is away".into()))
    }

    fn panic() -> Result<usize, DiscoveryError> {
        panic!("no such API group")
    }

    fn contradiction() -> Result<usize, DiscoveryError> {
        Err(DiscoveryError::Contradiction(Problem::of_key(FieldPath::field("grove"), "isn't there")))
    }

    /// What is known after some minutes, or what ended it.
    async fn after(minutes: u64, steps: Vec<fn() -> Result<usize, DiscoveryError>>) -> Result<Option<usize>, Problem> {
        let operator = Pupil { webhooks: Webhooks::new(), steps, asked: AtomicUsize::new(0) };
        let variable = |name: &str| Some(if name == "POD_IP" { "10.0.0.1" } else { "x" }.to_owned());
        let pod_environment = PodEnvironment::read(variable, None).unwrap();
        let given = ConfigSource { document: json!({}), pod_environment, flags: Flags::default() };
        let present = Present::unknown();
        let learning = FactsPoller {
            operator: &operator,
            given: &given,
            cluster: Arc::new(Stored::new()),
            present: present.clone(),
            readiness: Readiness::new(),
        };
        let (known, ready) = watch::channel(false);
        let time = Duration::from_mins(minutes) + Duration::from_secs(30);
        if let Ok(problem) = tokio::time::timeout(time, learning.go_on(&known)).await {
            return Err(problem);
        }
        let facts = present.get();
        let number = (facts.as_ref() as &dyn std::any::Any).downcast_ref::<Number>().map(|number| number.0);
        assert_eq!(*ready.borrow(), number.is_some());
        Ok(number)
    }

    #[tokio::test(start_paused = true)]
    async fn facts_are_waited_for_and_then_learned_anew() {
        let steps: Vec<fn() -> _> = vec![unreadable, unreadable, || Ok(1), || Ok(2)];
        assert_eq!(after(0, steps.clone()).await, Ok(Some(1)));
        assert_eq!(after(1, steps).await, Ok(Some(2)));
        assert_eq!(after(5, vec![unreadable]).await, Ok(None));
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_facts_stay_while_others_cannot_be_learned() {
        assert_eq!(after(3, vec![|| Ok(1), unreadable, contradiction, panic]).await, Ok(Some(1)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_costs_one_attempt() {
        assert_eq!(after(0, vec![panic, || Ok(1)]).await, Ok(Some(1)));
        assert_eq!(after(1, vec![|| Ok(1), panic]).await, Ok(Some(1)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_contradiction_at_the_start_ends_it() {
        assert_eq!(after(1, vec![unreadable, contradiction]).await.unwrap_err().text, "isn't there");
    }
}
