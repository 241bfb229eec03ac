//! Denials: findings, plain ones, and what is no denial although nothing is allowed.

use gateward_core::{CREATE, FieldPath, Issues, Redacted, Request, Rule, Verdict, Webhook, WebhookError, Webhooks};
use serde_json::{Value, json};

use crate::zoo::{Otter, Reply, VALIDATE, ask, ask_in, created, judged_by, otter};

const NAMED: Rule = Rule { id: "OTTER-01", ..Rule::on(CREATE) };
const CLEAN: Rule = Rule { id: "OTTER-02", ..Rule::on(CREATE) };

fn spec() -> FieldPath {
    FieldPath::field("spec")
}

fn created_before(rules: fn(&Otter, &Request) -> Verdict) -> Reply {
    ask(&judged_by(rules), VALIDATE, &created(otter(json!({}))))
}

/// Two findings, a warning and a note.
fn two_findings(_: &Otter, _: &Request) -> Verdict {
    let mut issues = Issues::new();
    issues.add(NAMED.required(spec() / "name").message("an otter has a name").help("for example Otto"));
    issues.add(CLEAN.warning(spec() / "pups", "pups are counted in spring"));
    issues.add(CLEAN.note(spec(), "the weather was not asked"));
    issues.add(CLEAN.invalid(spec() / "river", "mud"));
    issues.into()
}

#[test]
fn findings_deny_as_invalid_with_a_cause_each_in_order() {
    let reply = created_before(two_findings);
    let text = r#"Otter.zoo.example.org "otto" is invalid: [spec.name: Required value: an otter has a name (for example Otto), spec.river: Invalid value: "mud"]"#;
    assert_eq!(reply.status, 200);
    assert_eq!(
        *reply.response(),
        json!({
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "allowed": false,
            "status": {
                "status": "Failure",
                "reason": "Invalid",
                "code": 422,
                "message": text,
                "details": {
                    "name": "otto",
                    "group": "zoo.example.org",
                    "kind": "Otter",
                    "causes": [
                        {"reason": "FieldValueRequired", "field": "spec.name",
                         "message": "Required value: an otter has a name (for example Otto)"},
                        {"reason": "FieldValueInvalid", "field": "spec.river", "message": "Invalid value: \"mud\""},
                    ],
                },
            },
            "warnings": ["pups are counted in spring"],
            "auditAnnotations": {"rules": "OTTER-01,OTTER-02"},
        })
    );
}

#[test]
fn a_denial_has_nothing_that_a_terminal_obeys() {
    let judged = |_: &Otter, _: &Request| {
        let hostile = "\u{1b}[2J\u{9b}2J\u{202e}\u{2028}";
        let mut issues = Issues::new();
        issues.add(NAMED.invalid(spec() / hostile, hostile).message(format!("adds {hostile}")));
        Verdict::from(issues)
    };
    let plain = |_: &Otter, _: &Request| Verdict::deny("adds \u{1b}[2J\u{9b}2J\u{202e}\u{2028}");
    for rules in [judged as fn(&Otter, &Request) -> Verdict, plain] {
        let status = created_before(rules).response()["status"].clone();
        let cause = &status["details"]["causes"][0];
        for said in [&status["message"], &cause["message"], &cause["field"]] {
            let said = said.as_str().unwrap_or_default();
            assert!(!said.chars().any(gateward_core::terminal::is_obeyed), "{said:?}");
        }
        assert!(status["message"].as_str().unwrap().contains(r"adds \u{1b}[2J\u{9b}2J\u{202e}\u{2028}"), "{status}");
    }
}

#[test]
fn the_record_names_the_rules_for_logs_and_counters() {
    let record = created_before(two_findings).record;
    assert_eq!(record.rules(), ["OTTER-01", "OTTER-02"]);
    assert_eq!(
        (record.namespace.as_str(), record.name.as_str(), record.resource.as_str()),
        ("river", "otto", "otters")
    );
}

#[test]
fn notes_become_warnings_where_the_shell_wants_it() {
    let context = gateward_core::Context::new(std::time::SystemTime::UNIX_EPOCH, std::sync::Arc::new(()));
    let context = context.notes(gateward_core::Notes::AsWarnings);
    let body = created(otter(json!({}))).to_string();
    let reply = ask_in(&judged_by(two_findings), &context, VALIDATE, body.as_bytes());
    assert_eq!(reply.response()["warnings"], json!(["pups are counted in spring", "the weather was not asked"]));
}

#[test]
fn a_finding_alone_stands_without_brackets() {
    let reply = created_before(|_, _| Issues::from_iter([NAMED.forbidden(spec() / "name")]).into());
    let text = r#"Otter.zoo.example.org "otto" is invalid: spec.name: Forbidden"#;
    assert_eq!(reply.response()["status"]["message"], text);
}

#[test]
fn a_secret_stands_nowhere_in_the_answer() {
    let rules = |_: &Otter, _: &Request| Issues::from_iter([CLEAN.invalid(spec() / "river", Redacted)]).into();
    let reply = ask(&judged_by(rules), VALIDATE, &created(otter(json!({"river": "s3cret"}))));
    assert!(reply.body.to_string().contains("<redacted>") && !reply.body.to_string().contains("s3cret"));
}

#[test]
fn a_plain_denial_has_code_400_unless_the_author_gives_one() {
    let status = |reply: Reply| {
        let status = &reply.response()["status"];
        (status["code"].clone(), status["reason"].clone(), status["message"].clone())
    };
    let no = |code: u16, reason: &str| (json!(code), json!(reason), json!("no otters here"));
    assert_eq!(status(created_before(|_, _| Verdict::deny("no otters here"))), no(400, "BadRequest"));
    assert_eq!(status(created_before(|_, _| Verdict::deny("no otters here").code(403))), no(403, "Forbidden"));
    assert_eq!(status(created_before(|_, _| Verdict::deny("no otters here").code(204))), no(400, "BadRequest"));
    let drought = |_: &Otter, _: &Request| Verdict::deny("no otters here").code(409).reason("Drought");
    assert_eq!(status(created_before(drought)), no(409, "Drought"));
}

#[test]
fn a_plain_denial_carries_the_findings_of_other_validators_as_causes() {
    let plain = |_: &Otter, _: &Request| Verdict::deny("no otters here");
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(plain).validator(two_findings));
    let reply = ask(&webhooks, VALIDATE, &created(otter(json!({}))));
    assert_eq!(reply.response()["status"]["message"], "no otters here");
    assert_eq!(reply.fields(), ["spec.name", "spec.river"]);
}

#[test]
fn warnings_come_in_a_form_that_the_api_server_shows() {
    let reply = created_before(|_, _| Verdict::allow().warning("one\nbell \u{7}two").warning("one"));
    assert!(reply.is_allowed());
    assert_eq!(reply.response()["warnings"], json!(["one", "bell two"]));
}

#[test]
fn audit_annotations_go_with_the_answer() {
    let reply = created_before(|_, _| Verdict::allow().audit_annotation("diet", "fish"));
    assert_eq!(reply.response()["auditAnnotations"], json!({"diet": "fish"}));
}

#[test]
fn every_node_of_the_wrong_type_is_a_finding() {
    let body = created(otter(json!({"name": 1, "pups": "two", "tools": [{"name": "stone"}, {"name": true}, {}]})));
    let reply = ask(&judged_by(|_, _| Verdict::allow()), VALIDATE, &body);
    let mut fields = reply.fields();
    fields.sort_unstable();
    assert_eq!(fields, ["spec.name", "spec.pups", "spec.tools[1].name", "spec.tools[2].name"]);
    assert_eq!(reply.record.rules(), ["DECODE"]);
    assert_eq!(reply.response()["status"]["code"], 422);
}

#[test]
fn an_array_is_no_object() {
    for (spec, field) in
        [(json!([]), "spec"), (json!(["otto", 2]), "spec"), (json!({"tools": [["stone"]]}), "spec.tools[0]")]
    {
        let reply = ask(&judged_by(|_, _| Verdict::allow()), VALIDATE, &created(otter(spec)));
        assert_eq!((reply.fields(), reply.record.rules()), (vec![field], vec!["DECODE"]));
    }
}

#[test]
fn a_member_that_stands_there_twice_is_a_finding() {
    let body = created(otter(json!({"name": "HERE"}))).to_string().replace(r#""name":"HERE""#, r#""pups":1,"pups":2"#);
    let context = gateward_core::Context::new(std::time::SystemTime::UNIX_EPOCH, std::sync::Arc::new(()));
    let reply = ask_in(&judged_by(|_, _| Verdict::allow()), &context, VALIDATE, body.as_bytes());
    assert_eq!(reply.record.rules(), ["DECODE"]);
    assert!(!reply.is_allowed());
}

#[test]
fn what_can_not_be_decided_is_an_http_error() {
    let reply = created_before(|_, _| WebhookError::Unavailable("the river gauge is down".into()).into());
    assert_eq!((reply.status, &reply.body["message"]), (503, &json!("the river gauge is down")));
    assert_eq!(reply.record.uid, "705ab4f5-6393-11e8-b7cc-42010a800002");
}

#[test]
fn a_sure_denial_stands_before_what_can_not_be_decided() {
    let undecided = |_: &Otter, _: &Request| Verdict::from(WebhookError::Overloaded);
    for webhooks in [
        Webhooks::new().register(Webhook::<Otter>::new().validator(undecided).validator(two_findings)),
        Webhooks::new().register(Webhook::<Otter>::new().validator(two_findings).validator(undecided)),
    ] {
        let reply = ask(&webhooks, VALIDATE, &created(otter(json!({}))));
        assert_eq!((reply.status, &reply.response()["allowed"]), (200, &Value::Bool(false)));
    }
}
