//! What is read of a request, and what is said of one that can't be read.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, SystemTime};

use gateward_core::testing::block_on;
use gateward_core::{
    Context, Decision, DryRun, Facts, Operation, Outcome, Request, Review, ReviewResponse, Validator, Verdict, Webhook,
    WebhookError, Webhooks, handler,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::zoo::{
    MUTATE, Otter, Reply, VALIDATE, ask, ask_in, created, deleted, judged_by, old_otter, otter, review, updated,
};

fn allowing() -> Webhooks {
    judged_by(|_, _| Verdict::allow())
}

fn validate(body: &Value) -> Reply {
    ask(&allowing(), VALIDATE, body)
}

#[test]
fn answers_in_the_callers_version_with_the_callers_uid() {
    for version in ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"] {
        let mut body = created(otter(json!({})));
        body["apiVersion"] = version.into();
        let reply = validate(&body);
        assert_eq!(
            reply.body,
            json!({
                "apiVersion": version,
                "kind": "AdmissionReview",
                "response": {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "allowed": true}
            })
        );
    }
}

#[test]
fn where_nothing_is_decided_a_caller_without_http_gets_its_uid_and_version_back() {
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(()));
    for version in ["admission.k8s.io/v1", "admission.k8s.io/v1beta1"] {
        let mut body = created(Value::Null);
        body["apiVersion"] = version.into();
        let body = body.to_string();
        let answer = block_on(allowing().handle(VALIDATE, body.as_bytes(), &context));
        assert_eq!(answer.status, 400);
        let review: Value = serde_json::from_slice(&answer.review_body()).unwrap();
        assert_eq!(review["apiVersion"], version);
        assert_eq!(review["response"]["uid"], "705ab4f5-6393-11e8-b7cc-42010a800002");
        assert_eq!(
            (&review["response"]["allowed"], &review["response"]["status"]["code"]),
            (&json!(false), &json!(400))
        );
    }
}

#[test]
fn a_shell_that_gives_up_can_say_what_the_request_was_about() {
    let body = created(otter(json!({}))).to_string();
    let about = Arc::new(OnceLock::new());
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(())).observer(Arc::<OnceLock<Decision>>::clone(&about));
    block_on(allowing().handle(VALIDATE, b"{", &context));
    assert!(about.get().is_none(), "nothing could be read");
    let answer = block_on(allowing().handle(VALIDATE, body.as_bytes(), &context));
    assert_eq!(answer.decision.outcome, Outcome::Allowed);
    let ReviewResponse { status, decision, .. } =
        ReviewResponse::error_in(about.get().cloned(), WebhookError::Deadline);
    assert_eq!((status, decision.outcome), (504, Outcome::Error(WebhookError::Deadline)));
    assert_eq!((decision.kind.kind.as_str(), decision.name.as_str()), ("Otter", answer.decision.name.as_str()));
    assert_eq!(decision.uid, "705ab4f5-6393-11e8-b7cc-42010a800002");
}

#[test]
fn an_envelope_that_can_not_be_read_is_an_http_error_and_no_denial() {
    let with = |pointer: &str, value: Value| {
        let mut body = created(otter(json!({})));
        *body.pointer_mut(pointer).unwrap() = value;
        body.to_string().into_bytes()
    };
    let bodies = [
        Vec::new(),
        b"{".to_vec(),
        b"\xff{}".to_vec(),
        b"[]".to_vec(),
        with("/kind", json!("ConversionReview")),
        with("/apiVersion", json!("admission.k8s.io/v2")),
        with("/request", Value::Null),
        with("/request/uid", json!("")),
        with("/request/uid", json!(" ")),
        with("/request/uid", Value::Null),
        with("/request/operation", Value::Null),
        [with("/kind", json!("AdmissionReview")), b"{}".to_vec()].concat(),
    ];
    for body in bodies {
        let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(()));
        let reply = ask_in(&allowing(), &context, VALIDATE, &body);
        let shown = String::from_utf8_lossy(&body).into_owned();
        assert_eq!(
            (reply.status, &reply.body["kind"], &reply.body["code"]),
            (400, &json!("Status"), &json!(400)),
            "{shown}"
        );
    }
}

#[test]
fn a_request_about_another_kind_is_an_http_error() {
    for (member, value) in [("kind", "Beaver"), ("group", "example.org"), ("version", "v2")] {
        let mut body = created(otter(json!({})));
        body["request"]["kind"][member] = value.into();
        let reply = validate(&body);
        assert_eq!(reply.status, 400);
        assert!(reply.body["message"].as_str().unwrap().contains("Otter of zoo.example.org in v1"), "{}", reply.body);
    }
}

#[test]
fn a_request_without_the_objects_of_its_operation_is_an_http_error() {
    let (nothing, something) = (Value::Null, otter(json!({})));
    for body in
        [created(nothing.clone()), updated(something.clone(), nothing.clone()), updated(nothing.clone(), something)]
    {
        let mut body = body;
        body["request"]["kind"]["version"] = "v1".into();
        assert_eq!(validate(&body).status, 400);
    }
}

#[test]
fn a_path_that_is_not_served_is_not_found() {
    let reply = ask(&allowing(), "/validate", &created(otter(json!({}))));
    assert_eq!((reply.status, &reply.body["reason"]), (404, &json!("NotFound")));
    // Nothing defaults otters here.
    assert_eq!(ask(&allowing(), MUTATE, &created(otter(json!({})))).status, 404);
}

#[test]
fn the_kind_says_who_judges_where_no_path_does() {
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(()));
    let webhooks = judged_by(|_, _| Verdict::deny("no otters"));
    let by_kind = |review, object| {
        let body = created(object).to_string();
        let answer = block_on(webhooks.handle_kind(review, body.as_bytes(), &context));
        Reply::from(answer)
    };
    assert!(!by_kind(Review::Validate, otter(json!({}))).is_allowed());
    assert!(by_kind(Review::Mutate, otter(json!({}))).is_allowed());
    assert!(by_kind(Review::Validate, old_otter(json!({}))).is_allowed());
}

/// Remembers the requests that it is shown.
#[derive(Clone, Default)]
struct Witness(Arc<Mutex<Vec<(&'static str, Request)>>>);

impl Witness {
    fn note(&self, method: &'static str, request: &Request) -> Verdict {
        self.0.lock().unwrap().push((method, request.clone()));
        Verdict::allow()
    }

    fn only(&self) -> (&'static str, Request) {
        let noted = self.0.lock().unwrap();
        assert_eq!(noted.len(), 1);
        noted[0].clone()
    }
}

#[handler]
impl Validator<Otter> for Witness {
    async fn create(&self, _: &Otter, request: &Request) -> Verdict {
        self.note("create", request)
    }

    async fn update(&self, old: &Otter, new: &Otter, request: &Request) -> Verdict {
        assert_eq!((old.spec.name.as_str(), new.spec.name.as_str()), ("before", "after"));
        self.note("update", request)
    }

    async fn delete(&self, old: &Otter, request: &Request) -> Verdict {
        assert_eq!(old.spec.name, "gone");
        self.note("delete", request)
    }

    async fn connect(&self, options: &Otter, request: &Request) -> Verdict {
        assert_eq!(options.spec.name, "called");
        self.note("connect", request)
    }
}

#[test]
fn each_operation_has_a_method_of_its_own() {
    let bodies = [
        ("create", created(otter(json!({})))),
        ("update", updated(otter(json!({"name": "before"})), otter(json!({"name": "after"})))),
        ("delete", deleted(otter(json!({"name": "gone"})))),
        ("connect", review("CONNECT", otter(json!({"name": "called"})), Value::Null)),
    ];
    for (method, body) in bodies {
        let witness = Witness::default();
        let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(witness.clone()));
        assert!(ask(&webhooks, VALIDATE, &body).is_allowed());
        assert_eq!(witness.only().0, method);
    }
}

#[derive(Debug, PartialEq)]
struct Rivers(Vec<&'static str>);

impl Facts for Rivers {}

#[test]
fn a_handler_knows_the_request() {
    let witness = Witness::default();
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(witness.clone()));
    let mut body = created(otter(json!({})));
    body["request"]["dryRun"] = true.into();
    body["request"]["subResource"] = "status".into();
    body["request"]["requestKind"] = json!({"group": "zoo.example.org", "version": "v1alpha1", "kind": "Otter"});
    let (now, left) = (SystemTime::UNIX_EPOCH, Duration::from_secs(7));
    let context = Context::new(now, Arc::new(Rivers(vec!["Wye"]))).until(now + left);
    ask_in(&webhooks, &context, VALIDATE, body.to_string().as_bytes());

    let (_, request) = witness.only();
    assert_eq!(
        (request.username(), request.user.as_ref().unwrap().groups.as_slice()),
        ("jane", &["keepers".to_owned()][..])
    );
    assert_eq!((request.operation, request.dry_run), (Some(Operation::Create), DryRun::Yes));
    assert_eq!((request.namespace.as_deref(), request.name.as_deref()), (Some("river"), Some("otto")));
    assert_eq!(request.sub_resource.as_deref(), Some("status"));
    assert_eq!(request.request_kind.as_ref().unwrap().version, "v1alpha1");
    assert_eq!((request.now, request.deadline), (Some(now), Some(now + left)));
    assert_eq!(request.facts::<Rivers>(), Some(&Rivers(vec!["Wye"])));
    assert_eq!(request.facts::<u8>(), None);
}

#[test]
fn a_handler_knows_what_the_client_addressed() {
    let resource = |version: &str| json!({"group": "zoo.example.org", "version": version, "resource": "otters"});
    let addressed = |request_resource: Value, request_sub_resource: Value| {
        let witness = Witness::default();
        let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(witness.clone()));
        let mut body = created(otter(json!({})));
        body["request"]["resource"] = resource("v1");
        body["request"]["subResource"] = "status".into();
        body["request"]["requestResource"] = request_resource;
        body["request"]["requestSubResource"] = request_sub_resource;
        assert!(ask(&webhooks, VALIDATE, &body).is_allowed());
        let (_, request) = witness.only();
        (request.request_resource().version.clone(), request.request_sub_resource().map(str::to_owned))
    };
    let status = || Some("status".to_owned());
    assert_eq!(addressed(resource("v1"), "status".into()), ("v1".into(), status()));
    assert_eq!(addressed(resource("v1alpha1"), "status".into()), ("v1alpha1".into(), status()));
    assert_eq!(addressed(resource("v1alpha1"), Value::Null), ("v1alpha1".into(), None));
    // API servers of before Kubernetes 1.15 don't say it.
    assert_eq!(addressed(Value::Null, Value::Null), ("v1".into(), status()));
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Orphans {
    propagation_policy: String,
}

#[test]
fn a_webhook_that_says_so_gets_the_texts_of_the_review() {
    let witness = Witness::default();
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().with_raw_review().validator(witness.clone()));
    let mut body = deleted(otter(json!({"name": "gone"})));
    body["request"]["options"] = json!({"kind": "DeleteOptions", "propagationPolicy": "Orphan"});
    ask(&webhooks, VALIDATE, &body);
    let (_, request) = witness.only();
    assert_eq!(request.raw_object(), Ok(None));
    let stored = serde_json::from_str::<Value>(request.raw_old_object().unwrap().unwrap()).unwrap();
    assert_eq!(stored, body["request"]["oldObject"]);
    assert_eq!(request.options(), Ok(Some(Orphans { propagation_policy: "Orphan".into() })));
    assert!(request.options::<Vec<u8>>().is_err());
}

#[test]
fn a_webhook_that_does_not_say_so_gets_an_error_that_names_the_way() {
    let witness = Witness::default();
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(witness.clone()));
    ask(&webhooks, VALIDATE, &created(otter(json!({}))));
    let (_, request) = witness.only();
    let errors = [request.raw_object().err(), request.raw_old_object().err(), request.options::<Orphans>().err()];
    for error in errors {
        let error = error.unwrap();
        assert_eq!(error.status(), 500);
        assert!(error.to_string().contains(".with_raw_review()"), "{error}");
    }
}

#[test]
fn an_object_that_will_be_named_by_the_api_server_goes_by_its_prefix() {
    let witness = Witness::default();
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(witness.clone()));
    let mut body = created(otter(json!({})));
    body["request"]["name"] = "".into();
    body["request"]["object"]["metadata"] = json!({"generateName": "otto-"});
    let reply = ask(&webhooks, VALIDATE, &body);
    let (_, request) = witness.only();
    assert_eq!((request.name, request.generate_name.as_deref()), (None, Some("otto-")));
    assert_eq!(reply.record.name, "otto-*");
}

#[test]
fn a_request_without_a_user_has_an_empty_user_name() {
    let witness = Witness::default();
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(witness.clone()));
    let mut body = created(otter(json!({})));
    body["request"]["userInfo"] = Value::Null;
    ask(&webhooks, VALIDATE, &body);
    let (_, request) = witness.only();
    assert!(request.user.is_none() && request.username().is_empty());
}
