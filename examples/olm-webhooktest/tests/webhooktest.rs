//! What OLM's end-to-end tests expect of their operator.

#![allow(clippy::unwrap_used, reason = "a test")]

use gateward::prelude::*;
use gateward::testing::{TestRequest, accepted, rejected, round_trips};
use gateward::{Outcome, Review};
use olm_webhooktest::{VALID, v1, validity, webhooks};
use serde_json::{Value, json};

fn object(version: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("webhook.operators.coreos.io/{version}"),
        "kind": "WebhookTest",
        "metadata": {"name": "my-cr-1", "namespace": "webhook-e2e"},
        "spec": spec,
    })
}

#[track_caller]
fn to(version: &str, object: &Value) -> Value {
    let converted = webhooks().convert(&object.to_string(), &format!("webhook.operators.coreos.io/{version}")).unwrap();
    serde_json::from_str(&converted.json).unwrap()
}

fn test(valid: bool) -> v1::WebhookTest {
    v1::WebhookTest { spec: Some(v1::WebhookTestSpec { valid, mutate: None }) }
}

#[test]
fn only_what_is_valid_is_admitted() {
    accepted(validity, &test(true));
    rejected(validity, &v1::WebhookTest { spec: None }).by(&VALID).at("spec.valid");
    rejected(validity, &test(false)).by(&VALID).at("spec.valid").saying("Spec.Valid must be true");
}

#[test]
fn an_update_is_judged_by_its_new_object() {
    let webhooks = webhooks();
    let (good, bad) = (object("v1", &json!({"valid": true})), object("v1", &json!({"valid": false})));
    TestRequest::of(&webhooks).update(&bad, &good).assert_allowed();
    TestRequest::of(&webhooks).update(&good, &bad).by(&VALID).at("spec.valid");
}

#[test]
fn the_refusal_names_the_object_and_the_rule() {
    let webhooks = webhooks();
    let findings = TestRequest::of(&webhooks).create(&object("v1", &json!({"valid": false})));
    assert!(
        matches!(&findings.answer().decision.outcome, Outcome::Denied { code: 422, reason } if reason == "Invalid")
    );
    let body = String::from_utf8_lossy(&findings.answer().body).into_owned();
    assert!(body.contains("my-cr-1") && body.contains("Spec.Valid must be true"), "{body}");
}

#[test]
fn a_finding_names_the_field_that_the_user_wrote() {
    let webhooks = webhooks();
    let findings = TestRequest::of(&webhooks).create(&object("v2", &json!({"conversion": {"valid": false}})));
    findings.by(&VALID).at("spec.conversion.valid");
}

#[test]
fn mutate_is_switched_on_and_nothing_else_changes() {
    let webhooks = webhooks();
    for spec in [json!({"valid": true}), json!({"valid": true, "mutate": false, "more": 1})] {
        let mut expected = object("v1", &spec);
        expected["spec"]["mutate"] = true.into();
        assert_eq!(TestRequest::of(&webhooks).default(&object("v1", &spec)).patched(), expected);
        assert_eq!(TestRequest::of(&webhooks).default_update(&expected, &object("v1", &spec)).patched(), expected);
    }
    let done = TestRequest::of(&webhooks).default(&object("v1", &json!({"valid": true, "mutate": true})));
    assert_eq!(done.answer().decision.outcome, Outcome::Allowed);
}

#[test]
fn v2_nests_what_v1_has_flat() {
    for spec in
        [json!({"valid": true}), json!({"valid": true, "mutate": true}), json!({"valid": false, "mutate": false})]
    {
        let (flat, nested) = (object("v1", &spec), object("v2", &json!({"conversion": spec})));
        assert_eq!(to("v2", &flat), nested);
        assert_eq!(to("v1", &nested), flat);
    }
}

const CRD: &str = include_str!("../crd.yaml");

#[test]
fn every_object_of_each_version_comes_back_from_the_other() {
    round_trips(&webhooks(), CRD).cases(500).hold();
}

#[test]
fn fields_that_no_version_knows_come_back_and_never_come_alive() {
    round_trips(&webhooks(), CRD).cases(500).with_unknown_fields().hold();
}

#[test]
fn status_and_unknown_fields_survive() {
    let mut flat = object("v1", &json!({"valid": true, "more": {"a": [1]}}));
    flat["status"] = json!({"seen": true});
    let nested = to("v2", &flat);
    assert_eq!(nested["status"], flat["status"]);
    assert_eq!(to("v1", &nested), flat);
}

#[test]
fn the_paths_are_the_usual_ones() {
    let webhooks = webhooks();
    assert_eq!(webhooks.check(), Ok(()));
    let kind = GroupVersionKind::of("webhook.operators.coreos.io/v1", "WebhookTest");
    let path = |review| webhooks.path_of(review, &kind).unwrap();
    assert_eq!(path(Review::Mutate), "/mutate-webhook-operators-coreos-io-v1-webhooktest");
    assert_eq!(path(Review::Validate), "/validate-webhook-operators-coreos-io-v1-webhooktest");
    assert_eq!(webhooks.declaration_of(&kind).unwrap().conversion_path().as_deref(), Some("/convert"));
}
