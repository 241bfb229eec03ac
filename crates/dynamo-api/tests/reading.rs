//! How objects are read and written: as the Go types of the API do.

#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, reason = "helpers of tests")]

use dynamo_api::v1beta1::{BackendFramework, ComponentType, PodMode};
use dynamo_api::{v1alpha1, v1beta1};
use gateward::json::decode;
use serde_json::{Value, json};

/// Reads `value` as a `T` and writes it again.
fn rewritten<T: serde::de::DeserializeOwned + serde::Serialize>(value: &Value) -> Value {
    let read: T = decode::from_str(&value.to_string()).unwrap();
    serde_json::to_value(&read).unwrap()
}

fn paths_of_errors<T: serde::de::DeserializeOwned>(value: &Value) -> Vec<String> {
    let mut paths: Vec<String> =
        decode::errors::<T>(&value.to_string(), 20).iter().map(|error| error.path.to_string()).collect();
    paths.sort();
    paths
}

fn graph(spec: Value) -> Value {
    json!({"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "metadata": {"name": "otter"}, "spec": spec})
}

#[test]
fn writes_back_what_was_read_and_nothing_else() {
    let full = graph(json!({
        "annotations": {"a": "b"},
        "backendFramework": "vllm",
        "components": [{
            "name": "decode",
            "type": "decode",
            "replicas": 0,
            "podTemplate": {"metadata": {}, "spec": {"containers": [{"name": "main", "tty": true}], "hostPID": false}},
            "multinode": {"nodeCount": 2},
            "roles": [],
            "scalingAdapter": {},
            "frontendSidecar": "",
            "sharedMemorySize": 0,
            "experimental": {"gpuMemoryService": {"mode": "InterPod"}, "grove": {"forceScalingGroup": false}},
        }],
        "restart": {"id": "1", "strategy": {"type": "Parallel"}},
    }));
    assert_eq!(rewritten::<v1beta1::DynamoGraphDeployment>(&full), full);
}

#[test]
fn null_is_another_way_to_be_absent() {
    let nulls = graph(json!({"annotations": null, "components": null, "backendFramework": null, "restart": null}));
    assert_eq!(rewritten::<v1beta1::DynamoGraphDeployment>(&nulls), graph(json!({})));
}

#[test]
fn an_empty_enumeration_value_is_another_way_to_be_absent() {
    let graph: v1beta1::DynamoGraphDeployment =
        serde_json::from_value(graph(json!({"backendFramework": "", "components": [{"type": ""}]}))).unwrap();
    assert_eq!(graph.spec.backend_framework, None);
    assert_eq!(graph.spec.components[0].component_type, None);
}

#[test]
fn keeps_values_that_the_api_does_not_name() {
    let mode: PodMode = serde_json::from_value(json!("intrapod")).unwrap();
    assert_eq!(mode, PodMode::Other("intrapod".into()));
    assert_eq!(serde_json::to_value(&mode).unwrap(), json!("intrapod"));
}

#[test]
fn tells_an_empty_list_of_roles_from_none() {
    let component: v1beta1::ComponentSpec = serde_json::from_value(json!({"roles": []})).unwrap();
    assert_eq!(component.roles, Some(vec![]));
    let component: v1beta1::ComponentSpec = serde_json::from_value(json!({"roles": null})).unwrap();
    assert_eq!(component.roles, None);
}

#[test]
fn keeps_services_without_a_value_and_sorts_by_name() {
    let spec: v1alpha1::DynamoGraphDeploymentSpec =
        serde_json::from_value(json!({"services": {"b": null, "a": {}, "B": {}}})).unwrap();
    assert_eq!(spec.services.keys().collect::<Vec<_>>(), ["B", "a", "b"]);
    assert_eq!(spec.services["b"], None);
    assert_eq!(serde_json::to_value(&spec).unwrap(), json!({"services": {"B": {}, "a": {}, "b": null}}));
}

#[test]
fn names_every_member_of_the_wrong_type() {
    let wrong = graph(json!({
        "backendFramework": 1,
        "components": [{"name": "a"}, {"replicas": "2"}],
        "restart": "now",
    }));
    assert_eq!(
        paths_of_errors::<v1beta1::DynamoGraphDeployment>(&wrong),
        ["spec.backendFramework", "spec.components[1].replicas", "spec.restart"]
    );
}

#[test]
fn a_standalone_component_has_its_members_beside_the_engine() {
    let value = json!({
        "apiVersion": "nvidia.com/v1beta1",
        "kind": "DynamoComponentDeployment",
        "metadata": {"name": "otter"},
        "spec": {
            "name": "otter",
            "backendFramework": "sglang",
            "type": "worker",
            "podTemplate": {"spec": {"containers": [{"name": "main", "image": "a:1.0.0"}]}},
        },
    });
    let component: v1beta1::DynamoComponentDeployment = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(component.spec.backend_framework, Some(BackendFramework::Sglang));
    assert_eq!(component.spec.component.component_type, Some(ComponentType::Worker));
    assert_eq!(rewritten::<v1beta1::DynamoComponentDeployment>(&value), value);
}

#[test]
fn errors_in_a_standalone_component_keep_their_paths() {
    let wrong =
        json!({"spec": {"backendFramework": 1, "replicas": "2", "multinode": {"nodeCount": true}, "labels": []}});
    assert_eq!(
        paths_of_errors::<v1alpha1::DynamoComponentDeployment>(&wrong),
        ["spec.backendFramework", "spec.labels", "spec.multinode.nodeCount", "spec.replicas"]
    );
    assert_eq!(paths_of_errors::<v1beta1::DynamoComponentDeployment>(&json!({"spec": []})), ["spec"]);
}

#[test]
fn a_pod_template_is_looked_at_only_when_asked() {
    let component: v1beta1::ComponentSpec = serde_json::from_value(json!({
        "podTemplate": {"spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": 2}}}]}},
    }))
    .unwrap();
    let template = component.pod_template.as_ref().unwrap().view().unwrap();
    let (place, main) = template.spec.container("main").unwrap();
    assert_eq!(place, 0);
    assert_eq!(main.resources.limits["nvidia.com/gpu"].text(), "2");

    let component: v1beta1::ComponentSpec =
        serde_json::from_value(json!({"podTemplate": {"spec": {"containers": [{"image": 5}]}}})).unwrap();
    let error = component.pod_template.as_ref().unwrap().view().unwrap_err();
    assert_eq!(error.path.to_string(), "spec.containers[0].image");
}

#[test]
fn an_array_is_no_object_wherever_it_stands() {
    for (pointer, path) in [
        ("/spec", "spec"),
        ("/metadata", "metadata"),
        ("/spec/components/0", "spec.components[0]"),
        ("/spec/components/0/multinode", "spec.components[0].multinode"),
        ("/spec/components/0/scalingAdapter", "spec.components[0].scalingAdapter"),
    ] {
        let mut object = graph(json!({"components": [{"multinode": {}, "scalingAdapter": {}}]}));
        *object.pointer_mut(pointer).unwrap() = json!([]);
        assert_eq!(paths_of_errors::<v1beta1::DynamoGraphDeployment>(&object), [path]);
    }
    let error = decode::from_str::<v1beta1::DynamoGraphDeployment>("[]").unwrap_err();
    assert!(error.message.contains("object"), "{error}");
    assert!(decode::from_str::<v1beta1::DynamoComponentDeployment>(r#"{"spec": []}"#).is_err());
    assert!(decode::from_str::<dynamo_api::pod::PodTemplate>(r#"{"spec": []}"#).is_err());
}
