//! Objects of a version that is not the hub's.

use gateward_core::{
    CREATE, Defaulter, FieldPath, Issues, Outcome, Request, Rule, Skip, Validator, Verdict, Webhook, Webhooks, handler,
};
use serde_json::json;

use crate::zoo::{MUTATE, OldOtter, Otter, OtterConversion, VALIDATE, ask, created, old_otter, otter, updated};

const RULE: Rule = Rule { id: "OTTER-03", ..Rule::on(CREATE) };

fn spec() -> FieldPath {
    FieldPath::field("spec")
}

/// Refuses each tool, and an otter without a name.
fn rules(otter: &Otter, _: &Request) -> Verdict {
    let mut issues = Issues::new();
    if otter.spec.name.is_empty() {
        issues.add(RULE.required(spec() / "name"));
    }
    for (index, tool) in otter.spec.tools.iter().enumerate() {
        issues.add(RULE.invalid((spec() / "tools").index(index) / "name", tool.name.as_str()));
    }
    issues.into()
}

fn zoo() -> Webhook<Otter> {
    Webhook::<Otter>::new().spoke(OtterConversion).validator(rules)
}

#[test]
fn an_old_object_is_lifted_and_findings_come_back_in_its_own_paths() {
    let webhooks = Webhooks::new().register(zoo());
    let reply = ask(&webhooks, VALIDATE, &created(old_otter(json!({"stones": ["flint", "chert"]}))));
    assert_eq!(reply.fields(), ["spec.nickname", "spec.stones[0]", "spec.stones[1]"]);
    let reply = ask(&webhooks, VALIDATE, &created(otter(json!({"tools": [{"name": "flint"}]}))));
    assert_eq!(reply.fields(), ["spec.name", "spec.tools[0].name"]);
}

#[test]
fn on_an_update_findings_are_traced_by_the_new_object() {
    let body = updated(old_otter(json!({})), old_otter(json!({"nickname": "Otto", "stones": ["flint"]})));
    assert_eq!(ask(&Webhooks::new().register(zoo()), VALIDATE, &body).fields(), ["spec.stones[0]"]);
}

/// Judges what only the old version can say.
struct AsWritten;

#[handler]
impl Validator<Otter> for AsWritten {
    async fn create(&self, _: &Otter, request: &Request) -> Verdict {
        let Some(written) = request.new_as_written::<OldOtter>() else { return Verdict::allow() };
        assert!(request.old_as_written::<OldOtter>().is_none());
        let at = (spec() / "stones").index(written.spec.stones.len());
        Issues::from_iter([RULE.required(at).as_written()]).into()
    }
}

#[test]
fn a_rule_of_the_hub_can_see_the_object_as_the_user_wrote_it() {
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().spoke(OtterConversion).validator(AsWritten));
    let reply = ask(&webhooks, VALIDATE, &created(old_otter(json!({"stones": ["flint"]}))));
    assert_eq!(reply.fields(), ["spec.stones[1]"]);
    assert!(ask(&webhooks, VALIDATE, &created(otter(json!({})))).is_allowed());
}

#[test]
fn what_can_not_be_lifted_is_a_finding() {
    let reply = ask(&Webhooks::new().register(zoo()), VALIDATE, &created(old_otter(json!({"river": "lava"}))));
    assert_eq!((reply.record.rules(), reply.fields()), (vec!["DECODE"], vec!["spec.river"]));
}

#[test]
fn a_wrong_type_is_named_by_the_path_that_the_user_wrote() {
    let reply = ask(&Webhooks::new().register(zoo()), VALIDATE, &created(old_otter(json!({"stones": [1]}))));
    assert_eq!(reply.fields(), ["spec.stones[0]"]);
}

fn dull(_: &OldOtter, _: &Request) -> Verdict {
    Verdict::deny("the old rules").warning("first")
}

fn more(_: &OldOtter, _: &Request) -> Verdict {
    Verdict::allow().warning("second")
}

#[test]
fn handlers_of_the_old_version_take_the_place_of_the_lift() {
    let webhooks = Webhooks::new().register(zoo().validator_for(dull).validator_for(more));
    assert_eq!(webhooks.check(), Ok(()));
    let reply = ask(&webhooks, VALIDATE, &created(old_otter(json!({"stones": ["flint"]}))));
    assert_eq!(reply.response()["status"]["message"], "the old rules");
    assert_eq!(reply.response()["warnings"], json!(["first", "second"]));
    assert!(reply.fields().is_empty());
}

struct Stone(&'static str);

#[handler]
impl Defaulter<OldOtter> for Stone {
    async fn create(&self, mut otter: OldOtter, _: &Request) -> OldOtter {
        otter.spec.stones.push(self.0.into());
        otter
    }
}

#[test]
fn every_defaulter_of_the_old_version_runs_on_its_objects_only() {
    let kind = Webhook::<Otter>::new().defaulter_for(Stone("flint")).defaulter_for(Stone("chert"));
    let webhooks = Webhooks::new().register(kind);
    let reply = ask(&webhooks, MUTATE, &created(old_otter(json!({}))));
    assert_eq!(json!(reply.record.patch), json!([{"op": "add", "path": "/spec/stones", "value": ["flint", "chert"]}]));
    assert_eq!(ask(&webhooks, MUTATE, &created(otter(json!({})))).record.outcome, Outcome::Allowed);
}

fn hub(_: Otter, _: &Request) -> Otter {
    unreachable!("an old object is no object of the hub")
}

#[test]
fn the_hubs_defaulter_does_not_run_on_old_objects() {
    let webhooks = Webhooks::new().register(zoo().defaulter(hub));
    let reply = ask(&webhooks, MUTATE, &created(old_otter(json!({}))));
    assert_eq!(reply.record.outcome, Outcome::Skipped(Skip::NoHandler));
}
