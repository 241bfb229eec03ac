//! Section 11 on v1beta1 objects that carry what conversion kept of v1alpha1.

use serde_json::{Value, json};

use super::{created, object, updated, with};

/// A v1beta1 graph with this component, that carries `kept`.
fn graph(component: Value, kept: Value) -> Value {
    let annotations = json!({"nvidia.com/dgd-spec": json!({"version": 1, "spec": kept}).to_string()});
    let metadata = json!({"name": "otter", "namespace": "tidepool", "annotations": annotations});
    object("v1beta1", "DynamoGraphDeployment", metadata, json!({"components": [component]}))
}

fn drum() -> Value {
    let main = json!({"name": "main", "image": "engine:1.4.2"});
    json!({"name": "drum", "type": "frontend", "podTemplate": {"spec": {"containers": [main]}}})
}

/// A v1beta1 graph with a component called `drum`, of which this was kept.
fn kept(service: Value) -> Value {
    graph(drum(), json!({"services": {"drum": service}}))
}

fn component(kept: Value) -> Value {
    let annotations = json!({"nvidia.com/dcd-spec": json!({"version": 1, "spec": kept}).to_string()});
    let metadata = json!({"name": "drum", "namespace": "tidepool", "annotations": annotations});
    object("v1beta1", "DynamoComponentDeployment", metadata, drum())
}

#[test]
fn what_is_kept_is_judged_in_the_paths_of_v1alpha1() {
    assert_eq!(created(graph(drum(), json!({"pvcs": [{"name": ""}]}))), ["ALPHA-01 spec.pvcs[0].name"]);
    let executor = json!({"annotations": {"nvidia.com/vllm-distributed-executor-backend": "pool"}});
    assert_eq!(
        created(kept(executor)),
        ["ALPHA-02 spec.services[drum].annotations[nvidia.com/vllm-distributed-executor-backend]"]
    );
    let ingress = json!({"ingress": {"enabled": true}});
    assert_eq!(created(kept(ingress.clone())), ["ALPHA-06 spec.services[drum].ingress.host"]);
    assert_eq!(created(component(ingress)), ["ALPHA-06 spec.ingress.host"]);
}

#[test]
fn ignored_fields_are_warned_of_on_every_write() {
    let graph = kept(json!({"dynamoNamespace": "reef", "autoscaling": {}}));
    let expected =
        ["warning ALPHA-03 spec.services[drum].dynamoNamespace", "warning ALPHA-04 spec.services[drum].autoscaling"];
    assert_eq!(created(graph.clone()), expected);
    assert_eq!(updated(graph.clone(), graph), expected);
}

#[test]
fn what_is_kept_of_a_component_that_is_gone_is_not_judged() {
    assert!(created(graph(drum(), json!({"services": {"flute": {"ingress": {"enabled": true}}}}))).is_empty());
}

#[test]
fn configurations_of_endpoint_pickers_are_the_schemas_business() {
    let picker = with(drum(), json!({"type": "epp", "eppConfig": {}}));
    let both = |object: Value| created(object).into_iter().filter(|line| line.contains("ALPHA")).count();
    assert_eq!(both(graph(picker, json!({"pvcs": [{"name": "a"}]}))), 0);
}

#[test]
fn an_annotation_that_cannot_be_read_is_ignored() {
    for text in ["{", "[]", "{\"spec\": 5}"] {
        let mut graph = kept(json!({}));
        graph["metadata"]["annotations"]["nvidia.com/dgd-spec"] = json!(text);
        assert!(created(graph).is_empty(), "{text}");
    }
}
