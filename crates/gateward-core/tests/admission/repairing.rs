//! A stored object that can no longer be read is mended, let go and removed like any other.

use gateward_core::{
    Defaulted, FieldPath, Issues, Outcome, Request, Rule, Skip, UPDATE, Validator, Verdict, Webhook, Webhooks, handler,
};
use serde_json::{Value, json};

use crate::zoo::{
    MUTATE, Otter, OtterConversion, Reply, VALIDATE, ask, created, deleted, judged_by, old_otter, otter, updated,
};

const PUPS_STAY: Rule = Rule { id: "OTTER-05", ..Rule::on(UPDATE) };
const RIVER_STAYS: Rule = Rule { id: "OTTER-06", ..Rule::on(UPDATE) };
const NAMED: Rule = Rule { id: "OTTER-07", ..Rule::on(UPDATE) };

/// Otters have a name, and neither pups nor river ever change.
struct Strict;

#[handler]
impl Validator<Otter> for Strict {
    async fn delete(&self, _: &Otter, _: &Request) {}

    async fn update(&self, old: &Otter, new: &Otter, _: &Request) -> Verdict {
        let spec = || FieldPath::field("spec");
        let mut issues = Issues::new();
        if old.spec.pups != new.spec.pups {
            issues.add(PUPS_STAY.forbidden(spec() / "pups").message("pups never change"));
        }
        if old.spec.river != new.spec.river {
            issues.add(RIVER_STAYS.forbidden(spec() / "river").message("the river never changes"));
        }
        if new.spec.name.is_empty() {
            issues.add(NAMED.required(spec() / "name").message("an otter has a name"));
        }
        issues.into()
    }
}

fn strict() -> Webhooks {
    Webhooks::new().register(Webhook::<Otter>::new().spoke(OtterConversion).validator(Strict))
}

fn update(old: Value, new: Value) -> Reply {
    ask(&strict(), VALIDATE, &updated(old, new))
}

fn warnings(reply: &Reply) -> Vec<&str> {
    reply.response()["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn an_unreadable_member_of_the_stored_object_is_mended_and_named_in_a_warning() {
    let reply = update(otter(json!({"name": "otto", "pups": 300})), otter(json!({"name": "otto", "pups": 3})));
    assert!(reply.is_allowed(), "{}", reply.body);
    assert_eq!(warnings(&reply).len(), 1);
    assert!(warnings(&reply)[0].starts_with("spec.pups of the stored object can't be read"), "{}", reply.body);
}

#[test]
fn rules_that_do_not_need_the_unreadable_member_run() {
    let reply = update(otter(json!({"pups": "x", "river": "Wye"})), otter(json!({"pups": 3, "river": "Usk"})));
    assert_eq!(reply.fields(), ["spec.river", "spec.name"]);
    assert_eq!(warnings(&reply).len(), 1);
}

#[test]
fn an_unreadable_stored_object_of_a_spoke_is_mended_too() {
    let old = old_otter(json!({"nickname": "otto", "river": 5, "stones": ["flint", 2]}));
    let reply = update(old, old_otter(json!({"nickname": "otto", "river": "Usk"})));
    assert!(reply.is_allowed(), "{}", reply.body);
    assert_eq!(warnings(&reply).len(), 2);
    assert!(warnings(&reply)[1].starts_with("spec.stones[1] of"), "{}", reply.body);
}

#[test]
fn a_stored_object_of_which_nothing_can_be_read_is_mended() {
    for old in [json!([1]), json!({"spec": "x"}), json!(5)] {
        let reply = update(old.clone(), otter(json!({"name": "otto", "pups": 3})));
        assert!(reply.is_allowed(), "{old}: {}", reply.body);
        assert_eq!(warnings(&reply).len(), 1, "{}", reply.body);
        assert_eq!(update(old, otter(json!({"pups": 3}))).fields(), ["spec.name"]);
    }
}

#[test]
fn a_thousand_unreadable_items_are_one_unreadable_list() {
    let old = otter(json!({"river": "Wye", "tools": vec![json!({}); 1000]}));
    let reply = update(old, otter(json!({"name": "otto", "river": "Usk"})));
    assert_eq!(reply.fields(), ["spec.river"]);
    assert!(warnings(&reply).len() < 3 && warnings(&reply)[0].starts_with("spec.tools of"), "{}", reply.body);
}

#[test]
fn an_unreadable_object_can_be_removed() {
    assert!(ask(&strict(), VALIDATE, &deleted(otter(json!({"pups": "x"})))).is_allowed());
    assert!(ask(&strict(), VALIDATE, &deleted(json!([]))).is_allowed());
}

fn leaving(spec: Value) -> Value {
    let mut otter = otter(spec);
    otter["metadata"]["deletionTimestamp"] = "2026-11-21T10:00:00Z".into();
    otter
}

/// Must not be reached.
fn unreachable(otter: Otter, _: &Request) -> Defaulted<Otter> {
    Defaulted::new(otter).warning("reached")
}

#[test]
fn an_unreadable_object_that_is_being_deleted_passes_what_rules_say_of_the_rest() {
    let unreadable = || leaving(json!({"name": "otto", "pups": "x", "tools": 5}));
    let reply = update(unreadable(), unreadable());
    assert!(reply.is_allowed(), "{}", reply.body);
    assert_eq!(update(unreadable(), leaving(json!({"name": 1}))).fields(), ["spec.name"]);
    // One that stays is to be mended.
    assert!(!update(unreadable(), otter(json!({"pups": "x"}))).is_allowed());
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().defaulter(unreachable));
    let reply = ask(&webhooks, MUTATE, &updated(unreadable(), unreadable()));
    assert!(reply.is_allowed() && warnings(&reply).is_empty(), "{}", reply.body);
    assert!(!ask(&webhooks, MUTATE, &created(unreadable())).is_allowed());
}

fn held(finalizers: &Value, spec: &Value) -> Value {
    let mut otter = otter(spec.clone());
    otter["metadata"]["finalizers"] = finalizers.clone();
    otter["metadata"]["managedFields"] = json!([{"manager": finalizers.to_string()}]);
    otter
}

#[test]
fn removing_finalizers_alone_passes_whatever_the_object() {
    let refusing = judged_by(|_, _| Verdict::deny("no otters here"));
    let webhooks = |path| if path == VALIDATE { &refusing } else { unreachable!("{path}") };
    for spec in [json!({}), json!({"pups": "x", "river": []}), json!([])] {
        let both = json!(["zoo.example.org/a", "zoo.example.org/b"]);
        let reply = |old: &Value, new: &Value| {
            let body = updated(held(old, &spec), held(new, &spec));
            ask(webhooks(VALIDATE), VALIDATE, &body)
        };
        for left in [json!(["zoo.example.org/b"]), json!([])] {
            let reply = reply(&both, &left);
            assert!(reply.is_allowed(), "{}", reply.body);
            assert_eq!(reply.record.outcome, Outcome::Skipped(Skip::FinalizersRemoved));
        }
        // Another one is put there, one is exchanged, nothing changes.
        assert!(!reply(&json!([]), &both).is_allowed());
        assert!(!reply(&both, &json!(["zoo.example.org/c"])).is_allowed());
        assert!(!reply(&both, &both).is_allowed());
    }
}

#[test]
fn removing_one_of_a_great_many_finalizers_passes() {
    let finalizers = |count: usize| (0..count).map(|number| format!("zoo.example.org/{number}")).collect::<Value>();
    let refusing = judged_by(|_: &Otter, _| Verdict::deny("no otters here"));
    let body = updated(held(&finalizers(10_000), &json!({})), held(&finalizers(9_999), &json!({})));
    assert!(ask(&refusing, VALIDATE, &body).is_allowed());
}

#[test]
fn an_update_that_changes_more_than_finalizers_is_validated() {
    let (some, none) = (json!(["zoo.example.org/a"]), json!([]));
    let (old, new) = (held(&some, &json!({"name": "otto"})), held(&none, &json!({"name": "otta"})));
    assert!(!ask(&judged_by(|_, _| Verdict::deny("no otters here")), VALIDATE, &updated(old, new)).is_allowed());
}

#[test]
fn a_name_of_the_wrong_type_does_not_hide_that_the_object_is_being_deleted() {
    let mut object = leaving(json!({"pups": "x", "name": "otto"}));
    object["metadata"]["name"] = json!(5);
    assert!(update(object.clone(), object).is_allowed());
}
