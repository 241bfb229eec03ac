//! Kinds that are known at run time only: their objects are raw JSON.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use gateward_core::testing::{TestRequest, block_on};
use gateward_core::{
    BoxFuture, Context, DynamicKind, Facts, Operation, Raw, Request, Review, ReviewSubject, Validator, Verdict,
    Webhook, Webhooks, WebhooksError, handler,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::declaring::rendered;
use crate::zoo::{MUTATE, Otter, VALIDATE, ask, created, deleted, otter, updated};

/// What the rules here read of any object.
#[derive(Deserialize)]
struct Labelled {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    labels: std::collections::BTreeMap<String, String>,
}

fn owned(new: &Raw<Labelled>, _: &Request) -> Verdict {
    match new.view() {
        Ok(object) if object.metadata.labels.contains_key("owner") => Verdict::allow(),
        Ok(_) => Verdict::deny("every object has an owner"),
        Err(error) => Verdict::deny(error.to_string()),
    }
}

/// Labels an object with whoever makes it.
fn owned_by_its_maker(new: Raw<Value>, request: &Request) -> Raw<Value> {
    let mut tree = new.to_value();
    let labels = &mut tree["metadata"]["labels"];
    if labels.get("owner").is_none() {
        labels["owner"] = request.username().into();
    }
    tree.into()
}

fn otters() -> DynamicKind {
    DynamicKind::new("zoo.example.org/v1", "Otter", "otters")
}

fn any() -> DynamicKind {
    DynamicKind::any_of("*")
}

const ANY_PATH: &str = "/validate-any-any-any";

fn labelled(owner: &str) -> Value {
    let mut otter = otter(json!({"name": "otto", "depth": 1.50}));
    otter["metadata"]["labels"] = json!({"owner": owner});
    otter
}

fn everything() -> Webhooks {
    Webhooks::new().register(Webhook::<Raw<Labelled>>::of_kind(&any()).validator(owned))
}

#[test]
fn a_kind_that_is_given_at_run_time_is_judged_as_a_declared_one() {
    let webhooks = Webhooks::new().register(Webhook::<Raw<Labelled>>::of_kind(&otters()).validator(owned));
    assert_eq!(webhooks.check(), Ok(()));
    assert!(ask(&webhooks, VALIDATE, &created(labelled("jane"))).is_allowed());
    assert!(!ask(&webhooks, VALIDATE, &created(otter(json!({})))).is_allowed());
    let mut other = created(otter(json!({})));
    other["request"]["kind"]["kind"] = "Seal".into();
    assert_eq!(ask(&webhooks, VALIDATE, &other).status, 400);
}

#[test]
fn labels_of_the_wrong_type_are_named() {
    let mut odd = otter(json!({}));
    odd["metadata"]["labels"] = json!({"owner": 5});
    let webhooks = everything();
    let reply = ask(&webhooks, ANY_PATH, &created(odd));
    let message = reply.response()["status"]["message"].as_str().unwrap();
    assert!(message.contains("metadata.labels"), "{message}");
}

#[test]
fn a_webhook_for_all_kinds_judges_whatever_comes() {
    let webhooks = everything();
    assert_eq!(webhooks.check(), Ok(()));
    for (group, version, kind) in [("", "v1", "ConfigMap"), ("apps", "v1", "Deployment"), ("zoo.org", "v9", "Seal")] {
        let mut body = created(labelled("jane"));
        body["request"]["kind"] = json!({"group": group, "version": version, "kind": kind});
        assert!(ask(&webhooks, ANY_PATH, &body).is_allowed());
        body["request"]["object"] = otter(json!({}));
        assert!(!ask(&webhooks, ANY_PATH, &body).is_allowed());
    }
}

#[test]
fn a_webhook_for_a_group_judges_no_other() {
    let kind = DynamicKind::any_of("zoo.example.org");
    let webhooks = Webhooks::new().register(Webhook::<Raw<Labelled>>::of_kind(&kind).validator(owned));
    let path = "/validate-zoo-example-org-any-any";
    assert!(ask(&webhooks, path, &created(labelled("jane"))).is_allowed());
    let mut other = created(labelled("jane"));
    other["request"]["kind"]["group"] = "lake.example.org".into();
    assert_eq!(ask(&webhooks, path, &other).status, 400);
}

#[test]
fn the_rule_for_all_kinds_leaves_out_the_namespaces_that_pods_start_in() {
    insta::assert_snapshot!(rendered(&everything(), Review::Validate));
}

#[test]
fn defaults_change_what_the_defaulter_changes_and_no_spelling() {
    let webhooks = Webhooks::new().register(Webhook::<Raw<Value>>::of_kind(&otters()).defaulter(owned_by_its_maker));
    let object = otter(json!({"depth": 1.50, "long": 12_345_678_901_234_567_u64}));
    let findings = TestRequest::of(&webhooks).default(&object);
    let operations = findings.answer().decision.patch.operations();
    let paths: Vec<String> = operations.iter().map(|operation| operation.path().to_owned()).collect();
    assert_eq!(paths, ["/metadata/labels"]);
    assert_eq!(findings.patched()["metadata"]["labels"], json!({"owner": "jane"}));
    assert!(ask(&webhooks, MUTATE, &created(labelled("joe"))).record.patch.is_empty());
}

#[test]
fn an_object_that_nests_too_deeply_is_neither_judged_nor_replaced() {
    let deep = format!("{}1{}", "[".repeat(120), "]".repeat(120));
    let object =
        format!(r#"{{"apiVersion":"zoo.example.org/v1","kind":"Otter","metadata":{{"name":"o"}},"spec":{deep}}}"#);
    let body = created(Value::Null).to_string().replacen(r#""object":null"#, &format!(r#""object":{object}"#), 1);
    let webhooks = Webhooks::new().register(
        Webhook::<Raw<Value>>::of_kind(&otters())
            .defaulter(owned_by_its_maker)
            .validator(|_: &Raw<Value>, _: &Request| Verdict::allow()),
    );
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(()));
    let changed = body.replacen(r#""CREATE""#, r#""UPDATE""#, 1).replacen(
        r#""oldObject":null"#,
        &format!(r#""oldObject":{object}"#),
        1,
    );
    assert!(changed.contains("UPDATE") && changed.matches(&deep).count() == 2, "{changed}");
    for (path, body) in [(MUTATE, &body), (VALIDATE, &body), (MUTATE, &changed), (VALIDATE, &changed)] {
        let answer = block_on(webhooks.handle(path, body.as_bytes(), &context));
        assert!(String::from_utf8_lossy(&answer.body).contains("nests too deeply"), "{path}");
        assert!(answer.decision.patch.is_empty());
    }
}

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

#[handler]
impl Validator<Raw<Value>> for Seen {
    async fn update(&self, old: &Raw<Value>, new: &Raw<Value>, _: &Request) {
        self.0.lock().unwrap().push(format!("{} to {}", old.tree()["spec"], new.tree()["spec"]));
    }

    async fn delete(&self, old: &Raw<Value>, _: &Request) {
        self.0.lock().unwrap().push(format!("no {}", old.tree()["spec"]));
    }

    async fn connect(&self, options: &Raw<Value>, request: &Request) {
        self.0.lock().unwrap().push(format!("{}: {}", request.sub_resource.as_deref().unwrap(), options.tree()));
    }
}

#[test]
fn a_validator_sees_changes_and_removals() {
    let seen = Seen::default();
    let webhooks = Webhooks::new().register(Webhook::<Raw<Value>>::of_kind(&otters()).validator(seen.clone()));
    let [old, new] = [1, 2].map(|pups| otter(json!({"pups": pups})));
    ask(&webhooks, VALIDATE, &updated(old.clone(), new));
    ask(&webhooks, VALIDATE, &deleted(old));
    assert_eq!(*seen.0.lock().unwrap(), [r#"{"pups":1} to {"pups":2}"#, r#"no {"pups":1}"#]);
}

#[test]
fn a_subresource_of_a_kind_that_is_given_at_run_time_is_connected_to() {
    let (options, pods) = (DynamicKind::new("v1", "PodExecOptions", "pods"), DynamicKind::new("v1", "Pod", "pods"));
    let seen = Seen::default();
    let webhook = Webhook::<Raw<Value>>::of_kind(&options).subresource_of_kind(&pods, "exec").validator(seen.clone());
    let webhooks = Webhooks::new().register(webhook.on([Operation::Connect]));
    assert_eq!(webhooks.check(), Ok(()));
    let mut body = created(json!({"command": ["sh"]}));
    body["request"]["operation"] = "CONNECT".into();
    body["request"]["kind"] = json!({"group": "", "version": "v1", "kind": "PodExecOptions"});
    body["request"]["resource"] = json!({"group": "", "version": "v1", "resource": "pods"});
    body["request"]["subResource"] = "exec".into();
    assert!(ask(&webhooks, "/validate--v1-pod-exec", &body).is_allowed());
    assert_eq!(*seen.0.lock().unwrap(), [r#"exec: {"command":["sh"]}"#]);
}

#[test]
fn a_review_without_a_path_is_judged_by_the_declared_kind_and_by_the_webhook_for_all() {
    let few = |new: &Otter, _: &Request| match new.spec.pups {
        Some(5..) => Verdict::deny("too many pups"),
        _ => Verdict::allow(),
    };
    let webhooks = Webhooks::new()
        .register(Webhook::<Raw<Labelled>>::of_kind(&any()).validator(owned))
        .register(Webhook::<Otter>::new().validator(few));
    assert_eq!(webhooks.path_of(Review::Validate, &otters().gvk).as_deref(), Some(VALIDATE));
    let mut many = labelled("jane");
    many["spec"]["pups"] = 5.into();
    TestRequest::of(&webhooks).create(&labelled("jane")).assert_allowed();
    TestRequest::of(&webhooks).create(&many).assert_denied();
    TestRequest::of(&webhooks).create(&otter(json!({}))).assert_denied();
}

#[test]
fn defaults_of_the_declared_kind_are_seen_by_the_webhook_for_all() {
    let twins = |mut new: Otter, _: &Request| {
        new.spec.pups.get_or_insert(2);
        new
    };
    let counted = |new: Raw<Value>, _: &Request| {
        let mut tree = new.to_value();
        let pups = tree["spec"]["pups"].to_string();
        tree["metadata"]["labels"] = json!({"pups": pups});
        Raw::<Value>::from(tree)
    };
    let webhooks = Webhooks::new()
        .register(Webhook::<Otter>::new().defaulter(twins))
        .register(Webhook::<Raw<Value>>::of_kind(&any()).defaulter(counted));
    let patched = TestRequest::of(&webhooks).default(&otter(json!({}))).patched();
    assert_eq!((&patched["spec"]["pups"], &patched["metadata"]["labels"]["pups"]), (&json!(2), &json!("2")));
}

/// Otters of the river are another operator's.
struct RiverIsClaimed;

impl Facts for RiverIsClaimed {
    fn claims<'a>(&'a self, subject: &'a ReviewSubject<'a>) -> BoxFuture<'a, bool> {
        let kind = (subject.namespace, subject.group, subject.resource);
        Box::pin(ready(kind == ("river", "zoo.example.org", "otters") && subject.versions == ["v1"]))
    }
}

#[test]
fn a_claim_is_held_against_the_kind_of_the_review() {
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(RiverIsClaimed));
    let body = created(otter(json!({}))).to_string();
    let answer = block_on(everything().handle(ANY_PATH, body.as_bytes(), &context));
    assert_eq!(answer.decision.outcome, gateward_core::Outcome::Skipped(gateward_core::Skip::ClaimedNamespace));
}

#[test]
fn a_kind_that_no_api_server_has_is_refused() {
    for (kind, problem) in [
        (
            DynamicKind::new("Zoo/v1", "Otter", "otters"),
            "the group must be a domain in lower case, empty for the core group, or * for all groups",
        ),
        (DynamicKind::new("zoo.org/", "Otter", "otters"), "the version must be such as v1, or * for all versions"),
        (
            DynamicKind::new("zoo.org/v1", "otter", "otters"),
            "the kind must be in upper camel case, such as TestEntity, or * for all kinds",
        ),
        (
            DynamicKind::new("zoo.org/v1", "Otter", "Otters"),
            "the plural must be in lower case, such as testentities, or * for all kinds",
        ),
        (DynamicKind::new("zoo.org/v1", "Otter", "*"), "kind and plural must both be *, or neither"),
    ] {
        let name = kind.gvk.to_string();
        let webhooks = Webhooks::new().register(Webhook::<Raw<Labelled>>::of_kind(&kind).validator(owned));
        assert_eq!(webhooks.check(), Err(WebhooksError::BadKind { kind: name, problem }));
    }
}
