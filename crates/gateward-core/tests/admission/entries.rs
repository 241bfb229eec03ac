//! Several entries of one kind, each called at a path of its own; and what each says of reviews.

use std::time::{Duration, SystemTime};

use gateward_core::manifest::{FailurePolicy, label};
use gateward_core::testing::{Stored, TestRequest, block_on};
use gateward_core::{
    Context, Issues, Operation, Outcome, Request, Review, ReviewVersion, Rule, Skip, Verdict, Webhook, Webhooks,
    WebhooksError,
};
use serde_json::json;

use crate::declaring::rendered;
use crate::zoo::{OldOtter, Otter, OtterConversion, VALIDATE, ask, created, deleted, old_otter, otter, updated};

const NAME: Rule =
    Rule { id: "OTTER-01", summary: "an otter has a name", ..Rule::on(gateward_core::CREATE_AND_UPDATE) };
const RIVER: Rule = Rule { id: "OTTER-02", summary: "no otter in lava", ..Rule::on(gateward_core::CREATE) };
const RIVERS: &str = "/validate-zoo-example-org-v1-otter-rivers";

fn named(new: &Otter, _: &Request) -> Issues {
    let path = gateward_core::FieldPath::field("spec") / "name";
    if new.spec.name.is_empty() { Issues::from_iter([NAME.required(path)]) } else { Issues::new() }
}

fn in_water(new: &Otter, _: &Request) -> Issues {
    let path = gateward_core::FieldPath::field("spec") / "name";
    if new.spec.name == "salamander" { Issues::from_iter([RIVER.forbidden(path)]) } else { Issues::new() }
}

fn rivers() -> Webhook<Otter> {
    Webhook::new()
        .validator(in_water)
        .rules([&RIVER])
        .on([Operation::Create])
        .object_selector(label("swims").equals("true"))
        .match_condition("wet", "object.spec.river != ''")
        .failure_policy(FailurePolicy::Ignore)
        .timeout(Duration::from_secs(2))
        .review_versions([ReviewVersion::V1, ReviewVersion::V1Beta1])
}

fn otters() -> Webhook<Otter> {
    Webhook::new().spoke(OtterConversion).validator(named).rules([&NAME])
}

fn zoo() -> Webhooks {
    Webhooks::new().register(otters().entry("rivers", rivers()))
}

fn refused(webhooks: &Webhooks) -> WebhooksError {
    webhooks.check().unwrap_err()
}

#[test]
#[should_panic(expected = "at spec.name is by the rule \"OTTER-01\", which no kind lists; add it to `.rules([…])`")]
fn a_finding_of_a_rule_that_no_kind_lists_fails_the_test() {
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(named).rules([&RIVER]));
    let _ = TestRequest::of(&webhooks).create(&otter(json!({"name": ""})));
}

#[test]
fn each_entry_is_registered_as_it_says() {
    assert_eq!(zoo().check(), Ok(()));
    insta::assert_snapshot!(rendered(&zoo(), Review::Validate));
}

#[test]
fn each_path_is_judged_by_its_own_handlers() {
    let salamander = created(otter(json!({"name": "salamander"})));
    let nameless = created(otter(json!({})));
    assert!(ask(&zoo(), VALIDATE, &salamander).is_allowed());
    assert_eq!(ask(&zoo(), RIVERS, &salamander).fields(), ["spec.name"]);
    assert_eq!(ask(&zoo(), VALIDATE, &nameless).fields(), ["spec.name"]);
    assert!(ask(&zoo(), RIVERS, &nameless).is_allowed());
}

#[test]
fn an_entry_passes_what_it_is_not_registered_for() {
    let object = otter(json!({"name": "salamander"}));
    let reply = ask(&zoo(), RIVERS, &updated(object.clone(), object.clone()));
    assert_eq!(reply.record.outcome, Outcome::Skipped(Skip::NoHandler));
    assert_eq!(ask(&zoo(), RIVERS, &deleted(object)).record.outcome, Outcome::Skipped(Skip::NoHandler));
}

#[test]
fn findings_of_an_entry_come_back_in_the_fields_that_the_user_wrote() {
    let reply = ask(&zoo(), RIVERS, &created(old_otter(json!({"nickname": "salamander"}))));
    assert_eq!(reply.fields(), ["spec.nickname"]);
}

#[test]
fn a_review_without_a_path_is_judged_by_all_entries() {
    let two = |new: &Otter, _: &Request| match new.spec.pups {
        Some(2) => Verdict::deny("no twins"),
        _ => Verdict::allow(),
    };
    let webhooks =
        Webhooks::new().register(otters().entry("rivers", rivers()).entry("twins", Webhook::new().validator(two)));
    let findings = TestRequest::of(&webhooks).create(&otter(json!({"name": "salamander"})));
    findings.only(&[&RIVER]);
    TestRequest::of(&webhooks).create(&otter(json!({}))).only(&[&NAME]);
    TestRequest::of(&webhooks).create(&otter(json!({"name": "otto", "pups": 2}))).assert_denied();
    TestRequest::of(&webhooks).create(&otter(json!({"name": "otto", "pups": 1}))).assert_allowed();

    let context = Context::new(SystemTime::UNIX_EPOCH, std::sync::Arc::new(()));
    let body = deleted(otter(json!({"name": "salamander"}))).to_string();
    let answer = block_on(webhooks.handle_kind(Review::Validate, body.as_bytes(), &context));
    assert_eq!(answer.decision.outcome, Outcome::Skipped(Skip::NoHandler));
}

#[test]
fn an_entry_that_judges_updates_judges_scale_as_the_kind_does() {
    let few = |new: &Otter, _: &Request| match new.spec.pups {
        Some(5..) => Verdict::deny("too many"),
        _ => Verdict::allow(),
    };
    let kind = Webhook::<Otter>::new()
        .validator(named)
        .scale(|otter, replicas| otter.spec.pups = u8::try_from(replicas).ok())
        .entry("pups", Webhook::new().validator(few));
    let webhooks = Webhooks::new().register(kind);
    let stored = otter(json!({"name": "otto", "pups": 1}));
    let request = TestRequest::of(&webhooks).cluster(Stored::new().with::<Otter>(&stored));
    request.scale(&stored, 4).assert_allowed();
    request.scale(&stored, 5).assert_denied();
}

#[test]
fn an_entry_has_a_name_that_no_other_entry_of_the_kind_has() {
    let webhooks = Webhooks::new().register(otters().entry("rivers", rivers()).entry("rivers", rivers()));
    let kind = "zoo.example.org/v1 Otter".to_owned();
    assert_eq!(refused(&webhooks), WebhooksError::EntryTwice { kind, entry: "rivers" });
    let webhooks = Webhooks::new().register(otters().entry("Rivers", rivers()));
    assert!(matches!(refused(&webhooks), WebhooksError::BadName { name, .. } if name.contains("Rivers")));
}

#[test]
fn what_is_the_kind_s_to_say_no_entry_says() {
    let cases: [(Webhook<Otter>, &str); 3] = [
        (rivers().crd("{}"), "a CRD"),
        (rivers().spoke(OtterConversion), "a conversion"),
        (rivers().entry("lakes", rivers()), "entries"),
    ];
    for (entry, what) in cases {
        let error = refused(&Webhooks::new().register(otters().entry("rivers", entry)));
        assert_eq!(
            error.to_string(),
            format!(
                "the entry \"rivers\" of zoo.example.org/v1 Otter has {what} of its own; say that of the kind, before \
                 `.entry`"
            )
        );
    }
}

/// Calls itself the old version of an otter.
#[derive(serde::Serialize, serde::Deserialize)]
struct Impostor {}

gateward_core::resource!(Impostor, "zoo.example.org/v1alpha1", "Otter", "otters");

#[test]
fn a_version_is_of_one_type_in_all_entries() {
    let entry = rivers().validator_for(|_: &Impostor, _: &Request| ());
    let version = "zoo.example.org/v1alpha1 Otter".to_owned();
    assert_eq!(
        refused(&Webhooks::new().register(otters().entry("rivers", entry))),
        WebhooksError::TwoTypes { version }
    );
}

#[test]
fn the_defaults_of_an_entry_come_after_those_of_the_kind() {
    let twins = |mut new: Otter, _: &Request| {
        new.spec.pups.get_or_insert(2);
        new
    };
    let rivers = |mut new: Otter, _: &Request| {
        new.spec.river = Some(format!("a river for {:?}", new.spec.pups));
        new
    };
    let kind = Webhook::<Otter>::new().defaulter(twins).entry("rivers", Webhook::new().defaulter(rivers));
    let webhooks = Webhooks::new().register(kind);
    assert_eq!(webhooks.check(), Ok(()));
    let patched = TestRequest::of(&webhooks).default(&otter(json!({}))).patched();
    assert_eq!(patched["spec"], json!({"pups": 2, "river": "a river for Some(2)"}));
}

#[test]
fn an_entry_without_a_validator_is_refused() {
    let webhooks = Webhooks::new().register(otters().entry("rivers", Webhook::new()));
    assert!(matches!(refused(&webhooks), WebhooksError::NoHandler { .. }));
}

#[test]
fn an_entry_may_judge_a_version_as_it_is_written() {
    let stones = |new: &OldOtter, _: &Request| match new.spec.stones.len() {
        0..3 => Verdict::allow(),
        _ => Verdict::deny("too heavy"),
    };
    let webhooks = Webhooks::new().register(otters().entry("rivers", rivers().validator_for(stones)));
    assert_eq!(webhooks.check(), Ok(()));
    let heavy = created(old_otter(json!({"nickname": "otto", "stones": ["a", "b", "c"]})));
    assert!(!ask(&webhooks, RIVERS, &heavy).is_allowed());
    assert!(ask(&webhooks, VALIDATE, &heavy).is_allowed());
}

#[test]
fn review_versions_are_listed_once_and_at_least_one() {
    for (versions, problem) in [
        (vec![], "no version of AdmissionReview is listed; name one with `.review_versions`, or leave it out"),
        (vec![ReviewVersion::V1; 2], "AdmissionReview v1 is listed twice; name each version once"),
    ] {
        let (kind, problem) = ("zoo.example.org/v1 Otter".to_owned(), problem.to_owned());
        let webhooks = Webhooks::new().register(otters().review_versions(versions));
        assert_eq!(refused(&webhooks), WebhooksError::Registration { kind, problem });
    }
}
