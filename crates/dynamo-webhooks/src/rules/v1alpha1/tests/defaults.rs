//! The defaults of v1alpha1 graphs.

use serde_json::{Value, json};

use super::{component, drum, on, worker};

fn facts() -> Value {
    json!({"operatorVersion": "1.4.7"})
}

fn created(object: &Value) -> Value {
    on(&facts(), |request| request.default(object)).patched()
}

fn changed(object: &Value) -> Value {
    on(&facts(), |request| request.default_update(object, object)).patched()
}

/// A graph with one service that the workload provider `provider` runs.
fn provided(provider: &str, service: Value) -> Value {
    let mut object = drum(service);
    object["metadata"]["annotations"] = json!({"nvidia.com/workload-provider": provider});
    object
}

#[test]
fn a_new_graph_gets_all_of_them() {
    let mut object = drum(worker(json!({"kept": {"by": "the test"}})));
    object["spec"]["services"]["ghost"] = Value::Null;
    let mut expected = object.clone();
    expected["metadata"]["annotations"] = json!({
        "nvidia.com/workload-provider": "grove", "nvidia.com/dynamo-operator-origin-version": "1.4.7",
    });
    expected["spec"]["services"]["drum"]["replicas"] = json!(1);
    expected["spec"]["services"]["drum"]["minAvailable"] = json!(1);
    assert_eq!(created(&object), expected);
}

#[test]
fn an_update_gets_no_annotations() {
    let object = drum(worker(json!({})));
    let mut expected = object.clone();
    expected["spec"]["services"]["drum"]["replicas"] = json!(1);
    assert_eq!(changed(&object), expected, "the provider is unknown, so there is no minimum");
    let defaulted = changed(&provided("grove", worker(json!({}))));
    assert_eq!(defaulted["spec"]["services"]["drum"]["minAvailable"], json!(1));
}

#[test]
fn roles_get_their_replicas_and_overrides_their_targets() {
    let overlay = |target: &str| json!({"apiVersion": "grove.io/v1alpha1", "target": target, "value": {}});
    let roles = |leader: Value, worker: Value, target: &str| {
        json!([
            {"name": "leader", "replicas": leader, "providerOverride": overlay(target), "odd": 1},
            {"name": "worker", "replicas": worker},
        ])
    };
    let mut object = drum(worker(json!({
        "multinode": {"nodeCount": 4}, "roles": roles(Value::Null, json!(9), ""), "providerOverride": overlay(""),
    })));
    object["spec"]["providerOverride"] = overlay("");
    let spec = created(&object)["spec"].clone();
    assert_eq!(spec["providerOverride"]["target"], json!("PodCliqueSet"));
    let service = &spec["services"]["drum"];
    assert_eq!(service["providerOverride"]["target"], json!("PodCliqueScalingGroupConfig"));
    assert_eq!(service["roles"], roles(json!(1), json!(9), "PodCliqueTemplateSpec"));
}

#[test]
fn a_standalone_component_is_left_alone() {
    let object = component(worker(json!({"multinode": {"nodeCount": 2}, "roles": [{"name": "leader"}]})));
    let webhooks = crate::webhooks();
    let gvk = gateward::GroupVersionKind::of("nvidia.com/v1alpha1", "DynamoComponentDeployment");
    assert!(webhooks.declaration_of(&gvk).is_some());
    assert_eq!(created(&object), object);
}
