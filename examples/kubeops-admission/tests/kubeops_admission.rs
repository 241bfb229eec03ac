//! What KubeOps' documentation promises of its admission example.

use gateward::testing::{Findings, TestRequest, accepted, block_on, rejected};
use gateward::{Context, Outcome, Review, ReviewResponse};
use kubeops_admission::{TestEntity, TestEntitySpec, Usernames, webhooks};
use serde_json::{Value, json};

fn entity(username: &str) -> Value {
    json!({
        "apiVersion": "webhook.dev/v1",
        "kind": "TestEntity",
        "metadata": {"name": "sample", "namespace": "default", "labels": {"team": "x"}},
        "spec": {"username": username, "nick": "al"},
    })
}

fn called(username: &str) -> TestEntity {
    TestEntity { spec: TestEntitySpec { username: username.into() } }
}

#[track_caller]
fn assert_refused(findings: &Findings, expected: u16) {
    let record = &findings.answer().decision;
    assert!(matches!(record.outcome, Outcome::Denied { code, .. } if code == expected), "{:?}", record.outcome);
    assert_eq!(record.denial.as_deref(), Some("name may not be 'forbidden'."));
}

#[test]
fn the_name_forbidden_is_denied() {
    rejected(Usernames, &called("forbidden"));
}

#[test]
fn only_the_exact_word_is_refused() {
    for username in ["", "alice", "Forbidden", " forbidden ", "overwrite"] {
        accepted(Usernames, &called(username));
    }
}

#[test]
fn a_create_is_refused_with_422_and_an_update_with_400() {
    let webhooks = webhooks();
    assert_refused(&TestRequest::of(&webhooks).create(&entity("forbidden")), 422);
    assert_refused(&TestRequest::of(&webhooks).update(&entity("alice"), &entity("forbidden")), 400);
}

#[test]
fn an_update_is_judged_by_its_new_object() {
    let webhooks = webhooks();
    TestRequest::of(&webhooks).update(&entity("forbidden"), &entity("alice")).assert_allowed();
    assert_refused(&TestRequest::of(&webhooks).update(&entity("forbidden"), &entity("forbidden")), 400);
}

#[test]
fn an_entity_without_a_spec_passes() {
    let webhooks = webhooks();
    let bare = json!({"apiVersion": "webhook.dev/v1", "kind": "TestEntity", "metadata": {"name": "sample"}});
    TestRequest::of(&webhooks).create(&bare).assert_allowed();
    assert_eq!(TestRequest::of(&webhooks).default(&bare).patched(), bare);
}

#[test]
fn a_new_entity_called_overwrite_gets_another_name_and_nothing_else_changes() {
    let webhooks = webhooks();
    let findings = TestRequest::of(&webhooks).default(&entity("overwrite"));
    assert_eq!(findings.patched(), entity("random overwritten"));
    assert_eq!(findings.answer().decision.patch.len(), 1);
}

#[test]
fn a_second_pass_changes_nothing() {
    let webhooks = webhooks();
    let findings = TestRequest::of(&webhooks).default(&entity("random overwritten"));
    assert_eq!(findings.answer().decision.outcome, Outcome::Allowed);
}

#[test]
fn an_update_is_never_overwritten() {
    let webhooks = webhooks();
    let findings = TestRequest::of(&webhooks).default_update(&entity("alice"), &entity("overwrite"));
    assert_eq!(findings.patched(), entity("overwrite"));
}

/// The answer to a review as the API server sends it.
fn ask(path: &str, uid: &str, operation: &str) -> ReviewResponse {
    let kind = json!({"group": "webhook.dev", "version": "v1", "kind": "TestEntity"});
    let request = json!({"uid": uid, "kind": kind, "operation": operation, "object": entity("alice")});
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
    let context = Context::new(std::time::SystemTime::UNIX_EPOCH, std::sync::Arc::new(()));
    block_on(webhooks().handle(path, review.to_string().as_bytes(), &context))
}

#[test]
fn an_operation_that_is_none_of_three_is_refused_with_422() {
    for path in ["/validate/v1testentity", "/mutate/v1testentity"] {
        for operation in ["CONNECT", "create"] {
            let record = ask(path, "7", operation).decision;
            assert!(matches!(record.outcome, Outcome::Denied { code: 422, .. }), "{:?}", record.outcome);
            assert!(record.denial.is_some_and(|text| text.contains(operation)));
        }
    }
}

#[test]
fn a_review_without_a_uid_is_an_http_error() {
    assert_eq!(ask("/validate/v1testentity", "7", "CREATE").status, 200);
    assert_eq!(ask("/validate/v1testentity", "", "CREATE").status, 400);
}

#[test]
fn the_paths_are_those_of_kubeops() {
    let webhooks = webhooks();
    assert_eq!(webhooks.check(), Ok(()));
    let served: Vec<_> = webhooks.paths().filter(|(_, review)| *review != Review::Convert).collect();
    assert_eq!(served, [("/mutate/v1testentity", Review::Mutate), ("/validate/v1testentity", Review::Validate)]);
}
