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
use crate::rule::resource::{GroupVersionKind, Resource};
use crate::webhooks::Webhooks;
use crate::webhooks::subresource::{SCALE, Subresource};
use crate::wire::operation::Operation;
use crate::wire::request::DryRun;
use crate::wire::review::{AdmissionReview, Review};

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
    groups: Vec<String>,
    dry_run: DryRun,
    options: Value,
    name: Option<String>,
    namespace: Option<String>,
    subresource: Option<Subresource>,
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
        Self {
            webhooks,
            facts: Arc::new(()),
            cluster: None,
            user: Some("jane".into()),
            groups: Vec::new(),
            dry_run: DryRun::No,
            options: Value::Null,
            name: None,
            namespace: None,
            subresource: None,
            catalogue: Catalogue::Complete,
        }
    }

    /// Findings of rules that no kind lists don't fail the test: for webhooks that are a part of the operator's.
    pub fn with_unlisted_rules(mut self) -> Self {
        self.catalogue = Catalogue::Unknown;
        self
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

    /// By a user of these groups, such as `system:serviceaccounts:zoo`.
    pub fn groups(mut self, groups: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.groups = groups.into_iter().map(Into::into).collect();
        self
    }

    /// Without a user.
    pub fn without_user(mut self) -> Self {
        self.user = None;
        self
    }

    /// Nothing is stored: `kubectl --dry-run=server`.
    pub fn dry_run(mut self) -> Self {
        self.dry_run = DryRun::Yes;
        self
    }

    /// With these options of the operation, such as `{"propagationPolicy": "Orphan"}`.
    pub fn options(mut self, options: &Value) -> Self {
        self.options = options.clone();
        self
    }

    /// About the object of this name, where what is sent has none, as the options of `exec`.
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// In this namespace, where what is sent says none.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// About a subresource of `P`, in the words of [`Webhook::subresource_of`](crate::Webhook::subresource_of).
    ///
    /// Objects that are sent to one subresource alone, such as an Eviction, find it without this.
    ///
    /// ```
    /// use gateward_core::testing::TestRequest;
    /// # use gateward_core::{Request, Verdict, Webhook, Webhooks, resource};
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Otter { fish: u32 }
    /// # resource!(Otter, "example.org/v1", "Otter", "otters");
    /// # fn rules(_: &Otter, _: &Request) -> Verdict { Verdict::deny("otters don't change") }
    /// # fn of_status(_: &Otter, _: &Request) -> Verdict { Verdict::allow() }
    /// use serde_json::json;
    ///
    /// let webhooks = Webhooks::new()
    ///     .register(Webhook::<Otter>::new().validator(rules))
    ///     .register(Webhook::<Otter>::new().subresource_of::<Otter>("status").validator(of_status));
    /// let otter = json!({"apiVersion": "example.org/v1", "kind": "Otter", "metadata": {"name": "otto"}, "fish": 3});
    /// let request = TestRequest::of(&webhooks);
    /// request.update(&otter, &otter).assert_denied();
    /// request.subresource_of::<Otter>("status").update(&otter, &otter).assert_allowed();
    /// ```
    pub fn subresource_of<P: Resource>(mut self, name: &'static str) -> Self {
        self.subresource = Some(Subresource::named::<P>(name));
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

    /// The verdict on a connection, such as `kubectl exec` with its options.
    #[track_caller]
    pub fn connect(&self, options: &Value) -> Findings {
        block_on(self.asynchronous().connect(options))
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
        self.ask(Review::Validate, Operation::Create, &Value::Null, object).await
    }

    /// The verdict on a change.
    pub async fn update(&self, old: &Value, new: &Value) -> Findings {
        self.ask(Review::Validate, Operation::Update, old, new).await
    }

    /// A new object with its defaults.
    pub async fn default(&self, object: &Value) -> Findings {
        self.ask(Review::Mutate, Operation::Create, &Value::Null, object).await
    }

    /// A changed object with its defaults.
    pub async fn default_update(&self, old: &Value, new: &Value) -> Findings {
        self.ask(Review::Mutate, Operation::Update, old, new).await
    }

    /// The verdict on a removal.
    pub async fn delete(&self, old: &Value) -> Findings {
        self.ask(Review::Validate, Operation::Delete, old, &Value::Null).await
    }

    /// The verdict on a connection, such as `kubectl exec` with its options.
    pub async fn connect(&self, options: &Value) -> Findings {
        self.ask(Review::Validate, Operation::Connect, &Value::Null, options).await
    }

    /// The verdict on a change of the subresource `scale` of `object`, as `kubectl scale` sends it.
    pub async fn scale(&self, object: &Value, replicas: i32) -> Findings {
        let about = kind_of(object);
        let metadata =
            json!({"name": text(object, "/metadata/name"), "namespace": text(object, "/metadata/namespace")});
        let scale = json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": replicas},
        });
        let resource = json!({"resource": self.resource_of(&about), "subResource": SCALE});
        self.send(Review::Validate, Operation::Update, resource, [&scale, &scale]).await
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

    async fn ask(&self, review: Review, operation: Operation, old: &Value, new: &Value) -> Findings {
        let kind = kind_of(if new.is_null() { old } else { new });
        let resource = match self.subresource_for(&kind) {
            Some(Subresource { of, plural, name, .. }) => {
                // The status of an object is sent in the object's version.
                let version = if of.same_kind(&kind) { kind.version } else { of.version };
                json!({"resource": {"group": of.group, "version": version, "resource": plural}, "subResource": name})
            }
            None => json!({"resource": self.resource_of(&kind)}),
        };
        self.send(review, operation, resource, [old, new]).await
    }

    /// The subresource that an object of this kind is sent to: the one that the test names, or the first that takes such an
    /// object, where the kind isn't declared for itself.
    fn subresource_for(&self, kind: &GroupVersionKind) -> Option<Subresource> {
        let TestRequest { webhooks, subresource, .. } = &self.0;
        let taking = || {
            let mut asked = webhooks.declarations().filter(|declared| declared.is_asked_about(kind));
            webhooks.declaration_of(kind).is_none().then(|| asked.find_map(|declared| declared.subresource.clone()))?
        };
        subresource.clone().or_else(taking)
    }

    fn resource_of(&self, kind: &GroupVersionKind) -> Value {
        let webhooks = self.0.webhooks;
        let declared = webhooks.declaration_of(kind).map(|declared| declared.plural.clone());
        let of_parts = || {
            let mut parts = webhooks.declarations().filter_map(|declared| declared.subresource.as_ref());
            parts.find(|part| part.of.same_kind(kind)).map(|part| part.plural.clone())
        };
        let plural = declared.or_else(of_parts).unwrap_or_default();
        json!({"group": kind.group, "version": kind.version, "resource": plural})
    }

    /// Sends a request to all entries of what it is about; `resource` is what it says of that beside the objects.
    async fn send(&self, review: Review, operation: Operation, resource: Value, [old, new]: [&Value; 2]) -> Findings {
        let TestRequest { webhooks, cluster, catalogue, .. } = &self.0;
        let body = self.body(operation, resource, [old, new]);
        let context = Context::new(SystemTime::UNIX_EPOCH, Arc::clone(&self.0.facts));
        let context = Context { cluster: cluster.clone(), ..context };
        if let Some(cluster) = cluster {
            webhooks.fill_stores(cluster.as_ref()).await;
        }
        let sent = AdmissionReview::read(&body);
        let answer = match &sent {
            Ok(sent) if !webhooks.serves(review, &sent.request) => {
                webhooks.handle(&format!("/no-webhook-for/{}", sent.request.kind), &body, &context).await
            }
            _ => webhooks.handle_kind(review, &body, &context).await,
        };
        if *catalogue == Catalogue::Complete {
            assert_listed(webhooks, &answer.decision.issues);
        }
        Findings::new(new.clone(), answer)
    }

    /// The review, as the API server sends it.
    fn body(&self, operation: Operation, resource: Value, [old, new]: [&Value; 2]) -> Vec<u8> {
        let TestRequest { user, groups, dry_run, options, name, namespace, .. } = &self.0;
        let named = if new.is_null() { old } else { new };
        let said = |own: &Option<String>, pointer| own.clone().unwrap_or_else(|| text(named, pointer).to_owned());
        let mut request = json!({
            "uid": "trial",
            "kind": kind_of(named),
            "name": said(name, "/metadata/name"),
            "namespace": said(namespace, "/metadata/namespace"),
            "operation": operation.as_str(),
            "userInfo": user.as_ref().map(|name| json!({"username": name, "groups": groups})),
            "object": new,
            "oldObject": old,
            "dryRun": *dry_run == DryRun::Yes,
            "options": options,
        });
        if let (Value::Object(request), Value::Object(resource)) = (&mut request, resource) {
            request.extend(resource);
        }
        let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
        body.to_string().into_bytes()
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
