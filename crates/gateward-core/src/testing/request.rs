//! One request of a test, and what it is answered: at once, or awaited.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::block_on::block_on;
use super::findings::Findings;
use crate::rule::OF_CORE;
use crate::rule::cluster::ClusterReader;
use crate::rule::context::{Context, Facts};
use crate::rule::issue::{Issue, Issues};
use crate::rule::resource::GroupVersionKind;
use crate::webhooks::Webhooks;
use crate::wire::review::Review;

/// One request to webhooks, as the API server would send it.
///
/// What it is answered is had at once ([`create`](Self::create)), or awaited where a handler waits for the runtime in which the
/// test runs:
///
/// ```
/// # use gateward_core::{Webhooks, testing::TestRequest};
/// # async fn test(webhooks: &Webhooks, object: &serde_json::Value) {
/// TestRequest::of(webhooks).user("jane").asynchronous().create(object).await.assert_allowed();
/// # }
/// ```
#[derive(Clone)]
pub struct TestRequest<'r> {
    webhooks: &'r Webhooks,
    facts: Arc<dyn Facts>,
    cluster: Option<Arc<dyn ClusterReader>>,
    user: Option<String>,
    catalogue: Catalogue,
}

/// Whether the rules of findings have to be listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Catalogue {
    Complete,
    /// A validator alone has none.
    Unknown,
}

impl<'r> TestRequest<'r> {
    /// By an ordinary user, without facts. A finding of a rule that no kind lists fails the test: `rules` wouldn't know it.
    pub fn of(webhooks: &'r Webhooks) -> Self {
        Self { webhooks, facts: Arc::new(()), cluster: None, user: Some("jane".into()), catalogue: Catalogue::Complete }
    }

    /// The same, of a validator alone.
    pub(super) fn of_validator(webhooks: &'r Webhooks) -> Self {
        Self { catalogue: Catalogue::Unknown, ..Self::of(webhooks) }
    }

    /// With these facts about the cluster.
    pub fn facts(mut self, facts: impl Facts) -> Self {
        self.facts = Arc::new(facts);
        self
    }

    /// In a cluster in which handlers look things up, such as [`Stored`](super::Stored). Their stores are filled from it
    /// before each request.
    pub fn cluster(mut self, cluster: impl ClusterReader) -> Self {
        self.cluster = Some(Arc::new(cluster));
        self
    }

    /// By this user.
    pub fn user(mut self, name: &str) -> Self {
        self.user = Some(name.into());
        self
    }

    /// Without a user.
    pub fn without_user(mut self) -> Self {
        self.user = None;
        self
    }

    /// The same requests for a test that runs in a runtime, each with `.await`.
    pub fn asynchronous(&self) -> AsyncTestRequest<'r> {
        AsyncTestRequest(self.clone())
    }

    /// The verdict on a new object.
    #[track_caller]
    pub fn create(&self, object: &Value) -> Findings {
        block_on(self.asynchronous().create(object))
    }

    /// The verdict on a change.
    #[track_caller]
    pub fn update(&self, old: &Value, new: &Value) -> Findings {
        block_on(self.asynchronous().update(old, new))
    }

    /// A new object with its defaults.
    #[track_caller]
    pub fn default(&self, object: &Value) -> Findings {
        block_on(self.asynchronous().default(object))
    }

    /// A changed object with its defaults.
    #[track_caller]
    pub fn default_update(&self, old: &Value, new: &Value) -> Findings {
        block_on(self.asynchronous().default_update(old, new))
    }

    /// The verdict on a removal.
    #[track_caller]
    pub fn delete(&self, old: &Value) -> Findings {
        block_on(self.asynchronous().delete(old))
    }

    /// The verdict on a change of the subresource `scale` of `object`, as `kubectl scale` sends it.
    #[track_caller]
    pub fn scale(&self, object: &Value, replicas: i32) -> Findings {
        block_on(self.asynchronous().scale(object, replicas))
    }

    /// The object in another version of its kind, such as `v1`. One that can't be converted fails the test.
    ///
    /// ```
    /// use gateward_core::testing::TestRequest;
    /// # use gateward_core::{ConversionError, Convert, FieldPath, Issues, Provenance, Webhook, Webhooks, resource};
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct OldOtter { fish: u32 }
    /// # resource!(OldOtter, "example.org/v1", "Otter", "otters");
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Otter { meals: u32 }
    /// # resource!(Otter, "example.org/v2", "Otter", "otters");
    /// # struct Meals;
    /// # impl Convert<OldOtter, Otter> for Meals {
    /// #     fn to_hub(&self, old: &OldOtter, at: &mut Provenance, _: &mut Issues) -> Result<Otter, ConversionError> {
    /// #         at.moved(|| (FieldPath::field("meals"), FieldPath::field("fish")));
    /// #         Ok(Otter { meals: old.fish })
    /// #     }
    /// #     fn from_hub(&self, new: &Otter, _: &mut Issues) -> Result<OldOtter, ConversionError> {
    /// #         Ok(OldOtter { fish: new.meals })
    /// #     }
    /// # }
    /// use serde_json::json;
    ///
    /// let webhooks = Webhooks::new().register(Webhook::<Otter>::new().spoke::<OldOtter>(Meals));
    /// let otter = json!({"apiVersion": "example.org/v2", "kind": "Otter", "metadata": {"name": "otto"}, "meals": 3});
    /// assert_eq!(TestRequest::of(&webhooks).convert(&otter, "v1")["fish"], 3);
    /// ```
    #[track_caller]
    pub fn convert(&self, object: &Value, version: &str) -> Value {
        block_on(self.asynchronous().convert(object, version))
    }
}

/// A [`TestRequest`] whose answers are awaited.
#[derive(Clone)]
pub struct AsyncTestRequest<'r>(TestRequest<'r>);

impl AsyncTestRequest<'_> {
    /// The verdict on a new object.
    pub async fn create(&self, object: &Value) -> Findings {
        self.ask(Review::Validate, "CREATE", &Value::Null, object).await
    }

    /// The verdict on a change.
    pub async fn update(&self, old: &Value, new: &Value) -> Findings {
        self.ask(Review::Validate, "UPDATE", old, new).await
    }

    /// A new object with its defaults.
    pub async fn default(&self, object: &Value) -> Findings {
        self.ask(Review::Mutate, "CREATE", &Value::Null, object).await
    }

    /// A changed object with its defaults.
    pub async fn default_update(&self, old: &Value, new: &Value) -> Findings {
        self.ask(Review::Mutate, "UPDATE", old, new).await
    }

    /// The verdict on a removal.
    pub async fn delete(&self, old: &Value) -> Findings {
        self.ask(Review::Validate, "DELETE", old, &Value::Null).await
    }

    /// The verdict on a change of the subresource `scale` of `object`, as `kubectl scale` sends it.
    pub async fn scale(&self, object: &Value, replicas: i32) -> Findings {
        let gvk = kind_of(object);
        let metadata =
            json!({"name": text(object, "/metadata/name"), "namespace": text(object, "/metadata/namespace")});
        let scale = json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": replicas},
        });
        let plural = self.0.webhooks.declaration_of(&gvk).map(|declared| declared.plural.clone());
        let part = json!({
            "kind": kind_of(&scale),
            "resource": {"group": gvk.group, "version": gvk.version, "resource": plural},
            "subResource": "scale",
        });
        self.send(Review::Validate, &gvk, "UPDATE", part, [&scale, &scale]).await
    }

    /// The object in another version of its kind, such as `v1`. One that can't be converted fails the test.
    #[allow(clippy::panic, reason = "an assertion of tests")]
    pub async fn convert(&self, object: &Value, version: &str) -> Value {
        let gvk = GroupVersionKind { version: version.to_owned(), ..kind_of(object) };
        let request = json!({"uid": "trial", "desiredAPIVersion": gvk.api_version(), "objects": [object]});
        let body = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request});
        let context = Context::new(SystemTime::UNIX_EPOCH, Arc::clone(&self.0.facts));
        let answer = self.0.webhooks.handle_kind(Review::Convert, body.to_string().as_bytes(), &context).await;
        let mut response: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        match response.pointer_mut("/response/convertedObjects/0") {
            Some(converted) => converted.take(),
            None => panic!("expected to be converted to {version}, got {}", String::from_utf8_lossy(&answer.body)),
        }
    }

    async fn ask(&self, review: Review, operation: &str, old: &Value, new: &Value) -> Findings {
        let gvk = kind_of(if new.is_null() { old } else { new });
        self.send(review, &gvk, operation, json!({"kind": gvk}), [old, new]).await
    }

    /// Sends a request to all entries of a kind; `part` is what it says of the kind and the resource.
    async fn send(
        &self,
        review: Review,
        about: &GroupVersionKind,
        operation: &str,
        part: Value,
        [old, new]: [&Value; 2],
    ) -> Findings {
        let named = if new.is_null() { old } else { new };
        let mut request = json!({
            "uid": "trial",
            "name": text(named, "/metadata/name"),
            "namespace": text(named, "/metadata/namespace"),
            "operation": operation,
            "userInfo": self.0.user.as_ref().map(|name| json!({"username": name})),
            "object": new,
            "oldObject": old,
        });
        if let (Value::Object(request), Value::Object(part)) = (&mut request, part) {
            request.extend(part);
        }
        let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
        let context = Context::new(SystemTime::UNIX_EPOCH, Arc::clone(&self.0.facts));
        let context = Context { cluster: self.0.cluster.clone(), ..context };
        if let Some(cluster) = &self.0.cluster {
            self.0.webhooks.fill_stores(cluster.as_ref()).await;
        }
        let (webhooks, body) = (self.0.webhooks, body.to_string());
        let answer = match webhooks.path_of(review, about) {
            Some(_) => webhooks.handle_kind(review, body.as_bytes(), &context).await,
            None => webhooks.handle(&format!("/no-webhook-for/{about}"), body.as_bytes(), &context).await,
        };
        if self.0.catalogue == Catalogue::Complete {
            assert_listed(webhooks, &answer.decision.issues);
        }
        Findings::new(new.clone(), answer)
    }
}

/// Users look a finding's rule up in the catalogue.
#[allow(clippy::panic, reason = "an assertion of tests")]
fn assert_listed(webhooks: &Webhooks, issues: &Issues) {
    let rules = webhooks.rules();
    let is_listed = |id: &str| rules.iter().copied().chain(&OF_CORE).any(|rule| rule.id == id);
    if let Some(Issue { rule, path, .. }) = issues.iter().find(|issue| !is_listed(issue.rule)) {
        panic!(
            "the finding at {path} is by the rule {rule:?}, which no kind lists; add it to `.rules([…])` of its `Webhook`"
        );
    }
}

fn kind_of(object: &Value) -> GroupVersionKind {
    GroupVersionKind::of(text(object, "/apiVersion"), text(object, "/kind"))
}

fn text<'v>(document: &'v Value, pointer: &str) -> &'v str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
