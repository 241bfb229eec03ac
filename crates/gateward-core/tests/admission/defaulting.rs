//! Defaults: patches, and where there are none.

use base64::Engine;
use gateward_core::{
    Defaulted, Defaulter, IntoDefaulted, IntoDefaulter, Operation, Outcome, Request, Skip, Verdict, Webhook, Webhooks,
    handler,
};
use serde_json::{Value, json};

use crate::zoo::{MUTATE, Otter, Reply, VALIDATE, ask, created, deleted, otter, updated};

/// Gives an otter a river, unless it has one.
struct River(&'static str);

#[handler]
impl Defaulter<Otter> for River {
    async fn create(&self, mut otter: Otter, _: &Request) -> Otter {
        otter.spec.river.get_or_insert(self.0.into());
        otter
    }

    async fn update(&self, _: &Otter, otter: Otter, request: &Request) -> Defaulted<Otter> {
        self.create(otter, request).await.into_defaulted()
    }
}

/// Names an otter after its river.
fn name_by_river(mut otter: Otter, _: &Request) -> Defaulted<Otter> {
    otter.spec.name = format!("otter of {}", otter.spec.river.as_deref().unwrap_or("nowhere"));
    Defaulted::new(otter).warning("named after its river")
}

/// Refuses every otter.
async fn refuse(_: Otter, _: &Request) -> Result<Otter, Verdict> {
    Err(Verdict::deny("the zoo is full").code(409))
}

/// Must never be called.
fn unreachable(_: Otter, _: &Request) -> Otter {
    unreachable!("no defaulter runs here")
}

fn defaulted_by<M>(defaulter: impl IntoDefaulter<Otter, M>) -> Webhooks {
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
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().defaulter(River("Wye")).defaulter(name_by_river));
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
        .register(Webhook::<Otter>::new().defaulter(name_by_river).defaulter(refuse).defaulter(unreachable));
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

/// What an otter once had it keeps.
struct Keeping;

#[handler]
impl Defaulter<Otter> for Keeping {
    async fn update(&self, old: &Otter, mut new: Otter, _: &Request) -> Otter {
        new.spec.river = new.spec.river.or_else(|| old.spec.river.clone());
        new.spec.pups = new.spec.pups.or(old.spec.pups);
        new
    }
}

#[test]
fn a_defaulter_sees_the_stored_object() {
    let webhooks = defaulted_by(Keeping);
    let reply = ask(&webhooks, MUTATE, &updated(otter(json!({"river": "Usk", "pups": 2})), otter(json!({}))));
    let kept =
        json!([{"op": "add", "path": "/spec/pups", "value": 2}, {"op": "add", "path": "/spec/river", "value": "Usk"}]);
    assert_eq!(patch(&reply), kept);
    assert_eq!(ask(&webhooks, MUTATE, &created(otter(json!({})))).record.outcome, Outcome::Skipped(Skip::NoHandler));
}

#[test]
fn what_can_not_be_read_of_the_stored_object_is_absent_to_a_defaulter() {
    let webhooks = defaulted_by(Keeping);
    let reply = ask(&webhooks, MUTATE, &updated(otter(json!({"river": "Usk", "pups": "x"})), otter(json!({}))));
    assert_eq!(patch(&reply), json!([{"op": "add", "path": "/spec/river", "value": "Usk"}]));
    for nothing in [json!([]), json!(5), json!({"spec": "x"})] {
        let reply = ask(&webhooks, MUTATE, &updated(nothing, otter(json!({"pups": 1}))));
        assert!(reply.is_allowed(), "{}", reply.body);
        assert_without_patch(&reply);
    }
}

#[test]
fn functions_and_closures_default_too_and_may_wait() {
    async fn wye(mut otter: Otter, request: &Request) -> Otter {
        std::future::ready(()).await;
        otter.spec.river.get_or_insert_with(|| format!("Wye of {}", request.username()));
        otter
    }
    let named = async |mut otter: Otter, _: &Request| {
        otter.spec.name = "otto".into();
        Ok::<_, Verdict>(Defaulted::new(otter).warning("named"))
    };
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().defaulter(wye).defaulter(named));
    let reply = ask(&webhooks, MUTATE, &created(otter(json!({}))));
    let both = [("name", "otto"), ("river", "Wye of jane")];
    let both = both.map(|(name, value)| json!({"op": "add", "path": format!("/spec/{name}"), "value": value}));
    assert_eq!(patch(&reply), json!(both));
    assert_eq!(reply.response()["warnings"], json!(["named"]));
}

#[test]
fn a_removal_has_nothing_to_default() {
    let webhooks = defaulted_by(unreachable);
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
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().defaulter(unreachable).on([Operation::Create]));
    let reply = ask(&webhooks, MUTATE, &updated(otter(json!({})), otter(json!({}))));
    assert!(reply.is_allowed());
    assert_eq!(reply.record.outcome, Outcome::Skipped(Skip::NoHandler));
}

#[test]
fn an_object_of_the_wrong_type_is_denied_unpatched() {
    let reply = ask(&defaulted_by(unreachable), MUTATE, &created(otter(json!({"pups": -1}))));
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
