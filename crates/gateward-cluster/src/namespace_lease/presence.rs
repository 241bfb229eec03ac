//! Whether the webhooks that stand behind claims are still there, asked when it matters.
//!
//! A watch says what was: it may be late, or bring nothing at all while nothing fails. An object that is passed because
//! of a webhook that is gone would be stored unjudged. So before one is passed, the API server is asked.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gateward_core::Review;
use k8s_openapi::api::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration};
use kube::api::ListParams;
use kube::core::PartialObjectMeta;
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::sync::Mutex;
use tracing::warn;

use super::webhook::{ClaimingWebhook, ConfigurationVersion};
use crate::failure::with_timeout;

/// A review waits for two reads at most, and its caller for some seconds.
const TIMEOUT: Duration = Duration::from_secs(1);

/// For how long no further read is tried after one has failed: meanwhile reviews don't wait.
const PAUSE: Duration = Duration::from_secs(5);

/// How many configurations of a kind are looked at. A cluster has some dozens.
const MOST: u32 = 1_000;

/// Reads which webhook configurations there are. At most one read of each kind is under way; reviews share it.
pub(crate) struct WebhookPresence {
    client: Client,
    validating: Mutex<Option<PresenceRead>>,
    mutating: Mutex<Option<PresenceRead>>,
}

/// The webhook configurations of a kind that there are; none where they can't be read.
#[derive(Debug, Clone, Default)]
pub(crate) struct PresentConfigurations(Arc<HashSet<ConfigurationVersion>>);

/// A read that has ended.
struct PresenceRead {
    began: Instant,
    /// `None` where it failed.
    present: Option<PresentConfigurations>,
}

impl WebhookPresence {
    pub(crate) fn new(client: Client) -> Self {
        Self { client, validating: Mutex::default(), mutating: Mutex::default() }
    }

    /// What is there at a moment after a review was `asked`.
    pub(crate) async fn of(&self, review: Review, asked: Instant) -> PresentConfigurations {
        match review {
            Review::Validate => self.read::<ValidatingWebhookConfiguration>(&self.validating, asked).await,
            Review::Mutate => self.read::<MutatingWebhookConfiguration>(&self.mutating, asked).await,
            Review::Convert => PresentConfigurations::default(),
        }
    }

    async fn read<K>(&self, last: &Mutex<Option<PresenceRead>>, asked: Instant) -> PresentConfigurations
    where
        K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + DeserializeOwned,
    {
        // A review that waited here for a read that began too early makes the next one, for all that wait.
        let mut last = last.lock().await;
        if let Some(read) = last.as_ref().filter(|read| read.answers(asked)) {
            return read.present.clone().unwrap_or_default();
        }
        let began = Instant::now();
        let listed = list::<K>(&self.client).await;
        let listed = listed.inspect_err(|why| {
            warn!("{} can't be read, so what is claimed is judged here too: {why}", K::kind(&()));
        });
        let present = listed.ok();
        *last = Some(PresenceRead { began, present: present.clone() });
        present.unwrap_or_default()
    }
}

/// Without a resourceVersion, the answer is at least as new as the question.
async fn list<K>(client: &Client) -> Result<PresentConfigurations, String>
where
    K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + DeserializeOwned,
{
    let configurations: Api<K> = Api::all(client.clone());
    let parameters = ListParams::default().limit(MOST);
    let listed = with_timeout(TIMEOUT, configurations.list_metadata(&parameters)).await;
    let listed = listed.map_err(|unanswered| unanswered.to_string())?;
    if listed.metadata.continue_.is_some_and(|more| !more.is_empty()) {
        return Err(format!("there are more than {MOST}"));
    }
    Ok(listed.items.into_iter().map(version).collect())
}

fn version<K>(PartialObjectMeta { metadata, .. }: PartialObjectMeta<K>) -> ConfigurationVersion {
    ConfigurationVersion {
        uid: metadata.uid.unwrap_or_default(),
        resource_version: metadata.resource_version.unwrap_or_default(),
    }
}

impl PresenceRead {
    /// Whether it says what is there for a review.
    fn answers(&self, asked: Instant) -> bool {
        match self.present {
            Some(_) => asked <= self.began,
            None => asked < self.began + PAUSE,
        }
    }
}

impl PresentConfigurations {
    /// Whether a webhook is there as it was seen.
    pub(crate) fn has(&self, webhook: &ClaimingWebhook) -> bool {
        self.0.contains(&webhook.version)
    }
}

impl FromIterator<ConfigurationVersion> for PresentConfigurations {
    fn from_iter<I: IntoIterator<Item = ConfigurationVersion>>(versions: I) -> Self {
        Self(Arc::new(versions.into_iter().collect()))
    }
}

impl std::fmt::Debug for WebhookPresence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebhookPresence").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;
    use http::{Request, Response, StatusCode};
    use kube::client::Body;
    use serde_json::json;
    use tower::service_fn;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// An API server with one configuration of each kind, and how often it was asked.
    fn api_server(status: StatusCode) -> (WebhookPresence, Arc<AtomicUsize>) {
        let asked = Arc::<AtomicUsize>::default();
        let counter = Arc::clone(&asked);
        let service = service_fn(move |request: Request<Body>| {
            counter.fetch_add(1, Ordering::Relaxed);
            let query = request.uri().query().unwrap_or_default();
            assert!(!query.contains("resourceVersion"), "an answer out of a cache may be old: {query}");
            let uid = request.uri().path().rsplit('/').next().unwrap().to_owned();
            let item = json!({"metadata": {"name": "river", "uid": uid, "resourceVersion": "7"}});
            let list = json!({
                "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": {}, "items": [item],
                "message": "no rule allows it", "status": "Failure", "code": status.as_u16(),
            });
            async move {
                tokio::task::yield_now().await;
                let body = Body::from(list.to_string().into_bytes());
                Ok::<_, Infallible>(Response::builder().status(status).body(body).unwrap())
            }
        });
        (WebhookPresence::new(Client::new(service, "default")), asked)
    }

    fn webhook(review: Review, resource_version: &str) -> ClaimingWebhook {
        let kind = if review == Review::Validate { "validating" } else { "mutating" };
        ClaimingWebhook {
            review,
            configuration: "river".into(),
            version: ConfigurationVersion {
                uid: format!("{kind}webhookconfigurations"),
                resource_version: resource_version.into(),
            },
            entry: "otters".into(),
            namespaces: vec!["team-a".into()],
            rules: Vec::new(),
        }
    }

    #[tokio::test]
    async fn a_webhook_is_there_as_long_as_its_object_is_as_it_was_seen() {
        for (review, other) in [(Review::Validate, Review::Mutate), (Review::Mutate, Review::Validate)] {
            let present = api_server(StatusCode::OK).0.of(review, Instant::now()).await;
            assert!(present.has(&webhook(review, "7")), "{review:?}");
            assert!(!present.has(&webhook(review, "6")) && !present.has(&webhook(other, "7")), "{review:?}");
        }
    }

    #[tokio::test]
    async fn reviews_that_come_together_share_a_read() {
        let (presence, asked) = api_server(StatusCode::OK);
        let now = Instant::now();
        let answers = join_all((0..100).map(|_| presence.of(Review::Validate, now))).await;
        assert!(answers.iter().all(|present| present.has(&webhook(Review::Validate, "7"))));
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        presence.of(Review::Validate, Instant::now()).await;
        assert_eq!(asked.load(Ordering::Relaxed), 2, "a later review needs a later read");
    }

    #[tokio::test]
    async fn nothing_is_there_for_an_api_server_that_does_not_answer_and_it_is_not_asked_again_at_once() {
        let (presence, asked) = api_server(StatusCode::FORBIDDEN);
        for _ in 0..10 {
            let present = presence.of(Review::Validate, Instant::now()).await;
            assert!(!present.has(&webhook(Review::Validate, "7")));
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_read_answers_for_reviews_that_came_before_it() {
        let asked = Instant::now();
        let began = asked + SECOND;
        let last = PresenceRead { began, present: Some(PresentConfigurations::default()) };
        assert!(last.answers(began) && last.answers(asked));
        assert!(!last.answers(began + Duration::from_nanos(1)));
    }

    #[test]
    fn reviews_do_not_wait_for_an_api_server_that_has_just_not_answered() {
        let began = Instant::now();
        let last = PresenceRead { began, present: None };
        assert!(last.answers(began + 4 * SECOND) && !last.answers(began + 5 * SECOND));
    }
}
