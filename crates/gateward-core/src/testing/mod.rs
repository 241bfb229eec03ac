//! The vocabulary of rule tests.
//!
//! ```
//! use gateward_core::testing::{accepted, rejected};
//! use gateward_core::{CREATE, FieldPath, Issues, Request, Rule, Verdict, resource};
//!
//! # #[derive(serde::Serialize, serde::Deserialize)]
//! # struct Otter { name: String }
//! # resource!(Otter, "example.org/v1", "Otter", "otters");
//! const NAMED: Rule = Rule { id: "OTTER-01", ..Rule::on(CREATE) };
//!
//! fn rules(otter: &Otter, _: &Request) -> Verdict {
//!     let mut issues = Issues::new();
//!     if otter.name.is_empty() {
//!         issues.add(NAMED.required(FieldPath::field("name")).message("an otter has a name"));
//!     }
//!     issues.into()
//! }
//!
//! rejected(rules, &Otter { name: String::new() }).by(&NAMED).at("name").saying("has a name");
//! accepted(rules, &Otter { name: "Otto".into() });
//! ```

#![allow(clippy::missing_panics_doc, reason = "assertions panic; that is what they are for")]

mod stored;

use std::fmt::Write;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::SystemTime;

use serde_json::{Value, json};

pub use self::stored::Stored;
use crate::rule::Rule;
use crate::rule::cluster::ClusterReader;
use crate::rule::context::{Context, Facts};
use crate::rule::into_handler::IntoValidator;
use crate::rule::issue::{Issue, Severity};
use crate::rule::resource::{GroupVersionKind, Resource};
use crate::webhooks::Webhooks;
use crate::webhooks::webhook::Webhook;
use crate::wire::response::{Outcome, ReviewResponse};
use crate::wire::review::Review;

/// Creates `object` before `validator` and demands a denial.
#[track_caller]
pub fn rejected<K: Resource, M>(validator: impl IntoValidator<K, M>, object: &K) -> Findings {
    let findings = created(validator, object);
    findings.assert_denied();
    findings
}

/// Creates `object` before `validator` and demands that it passes.
#[track_caller]
pub fn accepted<K: Resource, M>(validator: impl IntoValidator<K, M>, object: &K) -> Findings {
    let findings = created(validator, object);
    findings.assert_allowed();
    findings
}

fn created<K: Resource, M>(validator: impl IntoValidator<K, M>, object: &K) -> Findings {
    let webhooks = Webhooks::new().register(Webhook::<K>::new().validator(validator));
    let mut document = serde_json::to_value(object).unwrap_or_default();
    document["apiVersion"] = K::gvk().api_version().into();
    document["kind"] = K::kind().into();
    TestRequest::of(&webhooks).create(&document)
}

/// One request to a webhooks, as the API server would send it.
#[derive(Clone)]
pub struct TestRequest<'r> {
    webhooks: &'r Webhooks,
    facts: Arc<dyn Facts>,
    cluster: Option<Arc<dyn ClusterReader>>,
    user: Option<String>,
}

impl<'r> TestRequest<'r> {
    /// By an ordinary user, without facts.
    pub fn of(webhooks: &'r Webhooks) -> Self {
        Self { webhooks, facts: Arc::new(()), cluster: None, user: Some("jane".into()) }
    }

    /// With these facts about the cluster.
    pub fn facts(mut self, facts: impl Facts) -> Self {
        self.facts = Arc::new(facts);
        self
    }

    /// In a cluster in which handlers look things up, such as [`Stored`].
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

    /// The verdict on a new object.
    pub fn create(&self, object: &Value) -> Findings {
        self.ask(Review::Validate, "CREATE", &Value::Null, object)
    }

    /// The verdict on a change.
    pub fn update(&self, old: &Value, new: &Value) -> Findings {
        self.ask(Review::Validate, "UPDATE", old, new)
    }

    /// A new object with its defaults.
    pub fn default(&self, object: &Value) -> Findings {
        self.ask(Review::Mutate, "CREATE", &Value::Null, object)
    }

    /// A changed object with its defaults.
    pub fn default_update(&self, old: &Value, new: &Value) -> Findings {
        self.ask(Review::Mutate, "UPDATE", old, new)
    }

    /// The verdict on a removal.
    pub fn delete(&self, old: &Value) -> Findings {
        self.ask(Review::Validate, "DELETE", old, &Value::Null)
    }

    /// The verdict on a change of the subresource `scale` of `object`, as `kubectl scale` sends it.
    pub fn scale(&self, object: &Value, replicas: i32) -> Findings {
        let gvk = kind_of(object);
        let metadata =
            json!({"name": text(object, "/metadata/name"), "namespace": text(object, "/metadata/namespace")});
        let scale = json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": replicas},
        });
        let plural = self.webhooks.declaration_of(&gvk).map(|declared| declared.plural.clone());
        let part = json!({
            "kind": kind_of(&scale),
            "resource": {"group": gvk.group, "version": gvk.version, "resource": plural},
            "subResource": "scale",
        });
        self.send(Review::Validate, &gvk, "UPDATE", part, [&scale, &scale])
    }

    fn ask(&self, review: Review, operation: &str, old: &Value, new: &Value) -> Findings {
        let gvk = kind_of(if new.is_null() { old } else { new });
        self.send(review, &gvk, operation, json!({"kind": gvk}), [old, new])
    }

    /// Sends a request to the webhook of a kind; `part` is what it says of the kind and the resource.
    fn send(
        &self,
        review: Review,
        about: &GroupVersionKind,
        operation: &str,
        part: Value,
        [old, new]: [&Value; 2],
    ) -> Findings {
        let path = self.webhooks.path_of(review, about).unwrap_or_else(|| format!("/no-webhook-for/{about}"));
        let named = if new.is_null() { old } else { new };
        let mut request = json!({
            "uid": "trial",
            "name": text(named, "/metadata/name"),
            "namespace": text(named, "/metadata/namespace"),
            "operation": operation,
            "userInfo": self.user.as_ref().map(|name| json!({"username": name})),
            "object": new,
            "oldObject": old,
        });
        if let (Value::Object(request), Value::Object(part)) = (&mut request, part) {
            request.extend(part);
        }
        let body = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
        let context = Context::new(SystemTime::UNIX_EPOCH, Arc::clone(&self.facts));
        let context = Context { cluster: self.cluster.clone(), ..context };
        let answer = block_on(self.webhooks.handle(&path, body.to_string().as_bytes(), &context));
        Findings { object: new.clone(), answer }
    }
}

fn kind_of(object: &Value) -> GroupVersionKind {
    GroupVersionKind::of(text(object, "/apiVersion"), text(object, "/kind"))
}

fn text<'v>(document: &'v Value, pointer: &str) -> &'v str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Polls until the future is ready. Handlers under test wait for nothing.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = std::task::Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        std::thread::yield_now();
    }
}

/// What came of a [`TestRequest`].
#[derive(Debug, Clone)]
pub struct Findings {
    object: Value,
    answer: ReviewResponse,
}

#[allow(clippy::panic, reason = "assertions of tests")]
impl Findings {
    /// The answer itself.
    pub fn answer(&self) -> &ReviewResponse {
        &self.answer
    }

    /// Demands that the object passes.
    #[track_caller]
    pub fn assert_allowed(&self) {
        let passed =
            matches!(self.answer.decision.outcome, Outcome::Allowed | Outcome::Patched { .. } | Outcome::Skipped(_));
        assert!(passed, "expected to pass, got {:?}:\n{}", self.answer.decision.outcome, self.listed());
    }

    /// Demands a denial.
    #[track_caller]
    pub fn assert_denied(&self) {
        let denied = matches!(self.answer.decision.outcome, Outcome::Denied { .. });
        assert!(denied, "expected a denial, got {:?}", self.answer.decision.outcome);
    }

    /// Demands a finding of this rule and returns a claim about it.
    #[track_caller]
    pub fn by(&self, rule: &Rule) -> Claim<'_> {
        let candidates: Vec<&Issue> =
            self.answer.decision.issues.iter().filter(|issue| issue.rule == rule.id).collect();
        assert!(!candidates.is_empty(), "no finding by {}, but:\n{}", rule.id, self.listed());
        Claim { candidates }
    }

    /// Demands that exactly these rules denied, in this order, each as often as it stands here.
    #[track_caller]
    pub fn only(&self, rules: &[&Rule]) -> &Self {
        let found: Vec<&str> = self.answer.decision.issues.of(Severity::Error).map(|issue| issue.rule).collect();
        let wanted: Vec<&str> = rules.iter().map(|rule| rule.id).collect();
        assert_eq!(found, wanted, "the findings are:\n{}", self.listed());
        self
    }

    /// The paths of the findings that deny, in order.
    pub fn paths(&self) -> Vec<String> {
        self.answer.decision.issues.of(Severity::Error).map(|issue| issue.path.to_string()).collect()
    }

    /// The warnings that the user sees.
    pub fn warnings(&self) -> Vec<String> {
        let body: Value = serde_json::from_slice(&self.answer.body).unwrap_or_default();
        let warnings = body.pointer("/response/warnings").and_then(Value::as_array).cloned().unwrap_or_default();
        warnings.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The object after the patch.
    #[track_caller]
    pub fn patched(&self) -> Value {
        let mut object = self.object.clone();
        match self.answer.decision.patch.apply(&mut object) {
            Ok(()) => object,
            Err(error) => panic!("the patch doesn't fit: {error}"),
        }
    }

    fn listed(&self) -> String {
        self.answer.decision.issues.iter().fold(String::new(), |mut text, issue| {
            let _ = writeln!(text, "  {} {issue}", issue.rule);
            text
        })
    }
}

/// Something claimed of the findings of one rule; each further word narrows them.
#[derive(Debug)]
pub struct Claim<'f> {
    candidates: Vec<&'f Issue>,
}

impl Claim<'_> {
    /// One of them stands at this path.
    #[track_caller]
    pub fn at(mut self, path: &str) -> Self {
        let all: Vec<String> = self.candidates.iter().map(|issue| issue.path.to_string()).collect();
        self.candidates.retain(|issue| issue.path.to_string() == path);
        assert!(!self.candidates.is_empty(), "no finding at {path}, but at {all:?}");
        self
    }

    /// Its text holds these words.
    #[track_caller]
    pub fn saying(mut self, words: &str) -> Self {
        let all: Vec<String> = self.candidates.iter().map(|issue| issue.detail()).collect();
        self.candidates.retain(|issue| issue.detail().contains(words));
        assert!(!self.candidates.is_empty(), "no finding says {words:?}, but {all:?}");
        self
    }
}
