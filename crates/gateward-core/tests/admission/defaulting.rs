//! Defaults: patches, and where there are none.

use base64::Engine;
use gateward_core::{Defaulted, Defaulter, Operation, Outcome, Request, Skip, Verdict, Webhook, Webhooks};
use serde_json::{Value, json};

use crate::zoo::{MUTATE, Otter, Reply, VALIDATE, ask, created, deleted, otter, updated};

/// Gives an otter a river, unless it has one.
struct River(&'static str);

impl Defaulter<Otter> for River {
    async fn default(&self, mut otter: Otter, _: &Request) -> Defaulted<Otter> {
        otter.spec.river.get_or_insert(self.0.into());
        otter.into()
    }
}

/// Names an otter after its river.
struct NameByRiver;

impl Defaulter<Otter> for NameByRiver {
    async fn default(&self, mut otter: Otter, _: &Request) -> Defaulted<Otter> {
        otter.spec.name = format!("otter of {}", otter.spec.river.as_deref().unwrap_or("nowhere"));
        Defaulted::new(otter).warning("named after its river")
    }
}

/// Refuses every otter.
struct Refusing;

impl Defaulter<Otter> for Refusing {
    async fn default(&self, _: Otter, _: &Request) -> Defaulted<Otter> {
        Defaulted::refuse(Verdict::deny("the zoo is full").code(409))
    }
}

/// Must never be called.
struct Unreachable;

impl Defaulter<Otter> for Unreachable {
    async fn default(&self, _: Otter, _: &Request) -> Defaulted<Otter> {
        unreachable!("no defaulter runs here")
    }
}

fn defaulted_by(defaulter: impl Defaulter<Otter>) -> Webhooks {
    Webhooks::new().register(Webhook::<Otter>::new().defaulter(defaulter))
}

/// The patch as the API server reads it.
fn patch(reply: &Reply) -> Value {
    assert_eq!(reply.response()["patchType"], "JSONPatch");
    let bytes = base64::engine::general_purpose::STANDARD.decode(reply.response()["patch"].as_str().unwrap()).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn assert_without_patch(reply: &Reply) {
    assert_eq!((reply.response().get("patch"), reply.response().get("patchType")), (None, None));
}

#[test]
fn a_patch_comes_with_its_type() {
    let reply = ask(&defaulted_by(River("Wye")), MUTATE, &created(otter(json!({"color": "brown"}))));
    assert!(reply.is_allowed());
    assert_eq!(patch(&reply), json!([{"op": "add", "path": "/spec/river", "value": "Wye"}]));
    assert_eq!(reply.record.outcome, Outcome::Patched { operations: 1 });
}

#[test]
fn where_nothing_changes_there_is_neither_patch_nor_type() {
    let reply = ask(&defaulted_by(River("Wye")), MUTATE, &created(otter(json!({"river": "Usk", "pups": 1}))));
    assert!(reply.is_allowed());
    assert_without_patch(&reply);
}

#[test]
fn a_validating_answer_never_holds_a_patch() {
    let rules = |_: &Otter, _: &Request| Verdict::allow();
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().defaulter(River("Wye")).validator(rules));
    let reply = ask(&webhooks, VALIDATE, &created(otter(json!({}))));
    assert!(reply.is_allowed());
    assert_without_patch(&reply);
}

#[test]
fn each_defaulter_gets_what_the_one_before_it_returned() {
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().defaulter(River("Wye")).defaulter(NameByRiver));
    let reply = ask(&webhooks, MUTATE, &created(otter(json!({}))));
    let (name, river) = ("otter of Wye", "Wye");
    assert_eq!(
        patch(&reply),
        json!([{"op": "add", "path": "/spec/name", "value": name}, {"op": "add", "path": "/spec/river", "value": river}])
    );
    assert_eq!(reply.response()["warnings"], json!(["named after its river"]));
}

#[test]
fn a_refusal_denies_and_patches_nothing() {
    let webhooks = Webhooks::new()
        .register(Webhook::<Otter>::new().defaulter(NameByRiver).defaulter(Refusing).defaulter(Unreachable));
    let reply = ask(&webhooks, MUTATE, &created(otter(json!({}))));
    assert_eq!((reply.is_allowed(), &reply.response()["status"]["code"]), (false, &json!(409)));
    assert_eq!(reply.response()["warnings"], json!(["named after its river"]));
    assert_without_patch(&reply);
}

#[test]
fn an_update_is_defaulted_too() {
    let body = updated(otter(json!({"river": "Usk"})), otter(json!({})));
    assert_eq!(patch(&ask(&defaulted_by(River("Wye")), MUTATE, &body))[0]["path"], "/spec/river");
}

#[test]
fn a_removal_has_nothing_to_default() {
    let all = [Operation::Create, Operation::Update, Operation::Delete];
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().defaulter(Unreachable).on(all));
    let mut with_an_object = deleted(otter(json!({})));
    with_an_object["request"]["object"] = otter(json!({}));
    for body in [deleted(otter(json!({}))), with_an_object] {
        let reply = ask(&webhooks, MUTATE, &body);
        assert!(reply.is_allowed());
        assert_without_patch(&reply);
    }
}

#[test]
fn an_operation_that_was_not_declared_runs_no_handler() {
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().defaulter(Unreachable).on([Operation::Create]));
    let reply = ask(&webhooks, MUTATE, &updated(otter(json!({})), otter(json!({}))));
    assert!(reply.is_allowed());
    assert_eq!(reply.record.outcome, Outcome::Skipped(Skip::NoHandler));
}

#[test]
fn an_object_of_the_wrong_type_is_denied_unpatched() {
    let reply = ask(&defaulted_by(Unreachable), MUTATE, &created(otter(json!({"pups": -1}))));
    assert_eq!((reply.is_allowed(), reply.fields()), (false, vec!["spec.pups"]));
    assert_without_patch(&reply);
}

#[test]
fn what_nests_too_deeply_to_be_read_is_left_alone_by_a_patch() {
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let body = created(otter(json!({"unknown": "DEEP"}))).to_string().replace(r#""DEEP""#, &deep);
    let context = gateward_core::Context::new(std::time::SystemTime::UNIX_EPOCH, std::sync::Arc::new(()));
    let reply = crate::zoo::ask_in(&defaulted_by(River("Wye")), &context, MUTATE, body.as_bytes());
    let patch = serde_json::to_value(&reply.record.patch).unwrap();
    assert_eq!(patch, json!([{"op": "add", "path": "/spec/river", "value": "Wye"}]));
}
