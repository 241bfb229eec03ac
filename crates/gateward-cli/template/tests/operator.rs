//! What the operator promises: its rules, its defaults, its conversion, and what it installs.

use std::process::{Command, Output};

use __crate__::rules::{LANGUAGE_STAYS, REPLICAS, Rules, TEXT};
use __crate__::webhooks::{crd, webhooks};
use __crate__::{controller, v2};

use gateward::testing::{TestRequest, accepted, rejected, round_trips};
use serde_json::{Value, json};

fn object(spec: Value) -> Value {
    let metadata = json!({"name": "hello", "namespace": "default"});
    json!({"apiVersion": "__group__/v2", "kind": "__kind__", "metadata": metadata, "spec": spec})
}

fn old_object(spec: Value) -> Value {
    let mut object = object(spec);
    object["apiVersion"] = "__group__/v1".into();
    object
}

fn typed(spec: Value) -> v2::__kind__ {
    serde_json::from_value(object(spec)).expect("an object of v2")
}

#[test]
fn the_declarations_go_together() {
    assert_eq!(webhooks().check(), Ok(()));
}

#[test]
fn a_text_has_1_to_100_characters() {
    for text in ["é".to_owned(), "é".repeat(100)] {
        accepted(Rules, &typed(json!({"text": text})));
    }
    for text in [String::new(), "é".repeat(101)] {
        let findings = rejected(Rules, &typed(json!({"text": text})));
        findings.only(&[&TEXT]).by(&TEXT).at("spec.text").saying("1 to 100");
    }
}

#[test]
fn a_text_is_said_at_most_ten_times() {
    for replicas in [0, 10] {
        accepted(Rules, &typed(json!({"text": "Hello", "replicas": replicas})));
    }
    for replicas in [-1, 11] {
        let findings = rejected(Rules, &typed(json!({"text": "Hello", "replicas": replicas})));
        findings.only(&[&REPLICAS]).by(&REPLICAS).at("spec.replicas").saying("from 0 to 10");
    }
}

#[test]
fn a_text_keeps_its_language() {
    let [english, french] = ["en", "fr"].map(|language| object(json!({"text": "Hello", "language": language})));
    TestRequest::of(&webhooks()).update(&english, &english).assert_allowed();
    let findings = TestRequest::of(&webhooks()).update(&english, &french);
    findings.only(&[&LANGUAGE_STAYS]).by(&LANGUAGE_STAYS).at("spec.language");
}

#[test]
fn findings_stand_in_the_fields_of_the_users_version() {
    let findings = TestRequest::of(&webhooks()).create(&old_object(json!({"text": "Hello", "size": 11})));
    findings.only(&[&REPLICAS]).by(&REPLICAS).at("spec.size");
}

#[test]
fn a_text_is_said_once_unless_its_user_says_otherwise() {
    let default = |object: &Value| TestRequest::of(&webhooks()).default(object).patched();
    assert_eq!(default(&object(json!({"text": "Hello"}))), object(json!({"text": "Hello", "replicas": 1})));
    assert_eq!(default(&old_object(json!({"text": "Hello"}))), old_object(json!({"text": "Hello", "size": 1})));
    let twice = object(json!({"text": "Hello", "replicas": 2}));
    assert_eq!(default(&twice), twice);
}

#[test]
fn no_object_loses_a_field_on_its_way_through_another_version() {
    let crd = serde_json::to_string(&crd().expect("a CRD")).expect("a CRD is JSON");
    round_trips(&webhooks(), &crd).hold();
}

#[test]
fn a_config_map_says_the_text_as_often_as_it_is_asked_to() {
    let map = controller::config_map(&typed(json!({"text": "Hello", "replicas": 2})));
    assert_eq!(map["metadata"]["name"], "hello-text");
    assert_eq!(map["data"]["text"], "Hello\nHello");
}

fn program(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE___name__");
    Command::new(program).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("the program runs")
}

#[test]
fn the_samples_are_judged_as_they_are_called() {
    assert_eq!(program(&["check", "samples/__singular__.yaml"]).status.code(), Some(0));
    let broken = program(&["check", "--output", "json", "samples/__singular__-broken.yaml"]);
    assert_eq!(broken.status.code(), Some(1));
    let findings = String::from_utf8(broken.stdout).expect("it prints text");
    assert!(findings.contains("spec.text") && findings.contains("spec.size"), "{findings}");
}
