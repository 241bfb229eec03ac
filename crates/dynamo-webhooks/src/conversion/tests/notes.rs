//! What conversion notes beside the object that it makes, and what no tree of JSON can hold. The objects themselves are
//! the cases of the integration suite.

use gateward::{Webhook, Webhooks};
use serde_json::{Value, json};

use super::super::{GraphConversion, HubGraph, SpokeGraph};
use super::convert;
use crate::testing::{annotated, object};

/// A v1alpha1 graph with this spec.
fn spoke(spec: Value) -> Value {
    named("v1alpha1", "DynamoGraphDeployment", spec)
}

/// A v1beta1 graph with this spec.
fn hub(spec: Value) -> Value {
    named("v1beta1", "DynamoGraphDeployment", spec)
}

fn component(version: &str, spec: Value) -> Value {
    named(version, "DynamoComponentDeployment", spec)
}

fn named(version: &str, kind: &str, spec: Value) -> Value {
    object(version, kind, json!({"name": "otter", "namespace": "tidepool"}), spec)
}

#[test]
fn an_annotation_that_cannot_be_read_is_dropped_with_a_note_and_conversion_goes_on() {
    for (object, version) in [
        (spoke(json!({"services": {"w": {}}})), "v1beta1"),
        (hub(json!({"components": [{"name": "w"}]})), "v1alpha1"),
        (component("v1alpha1", json!({"serviceName": "w"})), "v1beta1"),
        (component("v1beta1", json!({"name": "w"})), "v1alpha1"),
    ] {
        let key = if object["kind"] == "DynamoGraphDeployment" { "nvidia.com/dgd-spec" } else { "nvidia.com/dcd-spec" };
        for text in ["{", "7", r#"{"spec": {"services": 1, "components": 1, "replicas": "x"}}"#] {
            let (converted, issues) = convert(&annotated(object.clone(), key, text), version).unwrap();
            assert_eq!(converted["metadata"].get("annotations"), None, "{text}");
            let paths: Vec<String> = issues.iter().map(|issue| issue.path.to_string()).collect();
            assert_eq!(paths, [format!("metadata.annotations[{key}]")], "{text}");
        }
    }
}

#[test]
fn a_status_that_cannot_be_read_is_dropped_with_a_note_too() {
    let graph = annotated(hub(json!({"components": [{"name": "w"}]})), "nvidia.com/dgd-status", "{");
    let (lowered, issues) = convert(&graph, "v1alpha1").unwrap();
    assert_eq!(lowered["metadata"].get("annotations"), None);
    assert_eq!(issues.iter().count(), 1);
    let standalone = annotated(component("v1beta1", json!({"name": "w"})), "nvidia.com/dcd-status", "[]");
    assert!(convert(&standalone, "v1alpha1").is_ok());
}

#[test]
fn a_status_kept_on_a_v1alpha1_object_is_never_read() {
    let (lifted, issues) = convert(&annotated(spoke(json!({})), "nvidia.com/dgd-status", "{"), "v1beta1").unwrap();
    assert_eq!(lifted["metadata"].get("annotations"), None);
    assert!(issues.is_empty());
}

#[test]
fn two_components_of_one_name_are_an_error_at_the_second() {
    let error = convert(&hub(json!({"components": [{"name": "a"}, {"name": "w"}, {"name": "w"}]})), "v1alpha1");
    assert_eq!(error.unwrap_err().path.to_string(), "spec.components[2].name");
}

#[test]
fn what_conversion_kept_can_always_be_read_again() {
    let sidecar = json!({"image": "r/fe:1", "args": ["a"], "envFromSecret": "s", "envs": [{"name": "A"}]});
    let mut hub = convert(&spoke(json!({"services": {"w": {"frontendSidecar": sidecar}}})), "v1beta1").unwrap().0;
    hub["spec"]["components"][0]["podTemplate"]["spec"]["containers"][1]["securityContext"] = json!({"runAsUser": 1});
    let spoke = convert(&hub, "v1alpha1").unwrap().0;
    assert!(convert(&spoke, "v1beta1").unwrap().1.is_empty());
}

#[derive(serde::Deserialize)]
struct Specified {
    spec: Box<serde_json::value::RawValue>,
}

/// No CRD lets a pod pass that nests like this, but a file may have one.
#[test]
fn what_nests_too_deep_for_a_tree_comes_back_as_it_was() {
    let deep = format!("{{\"nodeName\":\"n\",\"odd\":{}{}}}", "[".repeat(300), "]".repeat(300));
    let service = format!(r#"{{"services":{{"w":{{"envs":[{{"name":"A"}}],"extraPodSpec":{deep}}}}}}}"#);
    let component =
        format!(r#"{{"components":[{{"name":"w","podTemplate":{{"metadata":{{"name":"t"}},"spec":{deep}}}}}]}}"#);
    let webhooks = Webhooks::new()
        .with_annotation_prefix("gateward.dev")
        .register(Webhook::<HubGraph>::new().spoke::<SpokeGraph>(GraphConversion));
    for (version, other, spec) in [("v1alpha1", "v1beta1", service), ("v1beta1", "v1alpha1", component)] {
        let written = format!(
            r#"{{"apiVersion":"nvidia.com/{version}","kind":"DynamoGraphDeployment","metadata":{{"name":"otter"}},"spec":{spec}}}"#
        );
        let there = webhooks.convert(&written, &format!("nvidia.com/{other}")).unwrap();
        let back = webhooks.convert(&there.json, &format!("nvidia.com/{version}")).unwrap();
        // Both conversions also mark the object in the Go operator's annotation.
        let back: Specified = serde_json::from_str(&back.json).unwrap();
        assert_eq!(back.spec.get(), spec);
    }
}
