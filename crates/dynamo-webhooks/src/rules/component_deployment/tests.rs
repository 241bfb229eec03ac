//! Validation of DynamoComponentDeployment.

use gateward::{Review, Webhooks};
use serde_json::{Value, json};

use super::kind;
use crate::testing::{create, object, on, update, with};

/// A worker that nothing is wrong with, with these members of its spec.
fn worker(members: Value) -> Value {
    let spec = json!({"backendFramework": "vllm", "name": "drum", "type": "worker", "podTemplate": pod(json!({}))});
    component("v1beta1", with(spec, members))
}

/// The same in v1alpha1.
fn worker_v1alpha1(members: Value) -> Value {
    let extra = json!({"mainContainer": {"image": "depot.example/engine:1.4.2"}});
    let spec = json!({
        "backendFramework": "vllm", "serviceName": "drum", "componentType": "worker", "extraPodSpec": extra,
    });
    component("v1alpha1", with(spec, members))
}

fn component(version: &str, spec: Value) -> Value {
    let metadata = json!({"name": "lantern-drum", "namespace": "quay-nine"});
    object(version, "DynamoComponentDeployment", metadata, spec)
}

/// A pod whose main container has these members beside its image.
fn pod(members: Value) -> Value {
    let main = with(json!({"name": "main", "image": "depot.example/engine:1.4.2"}), members);
    json!({"spec": {"containers": [main]}})
}

fn elastic(members: Value) -> Value {
    pod(with(json!({"args": ["--enable-elastic-ep --data-parallel-backend ray"]}), members))
}

fn checkpoint(reference: &str) -> Value {
    json!({"experimental": {"checkpoint": {"enabled": false, "checkpointRef": reference}}})
}

#[test]
fn one_answer_holds_what_is_wrong_with_the_component_and_with_its_change() {
    let old = worker(json!({"topologyConstraint": {"packDomain": "rack"}}));
    let mut new = worker(json!({
        "podTemplate": elastic(json!({"image": ""})),
        "minAvailable": 1,
        "sharedMemorySize": "-1",
    }));
    new["spec"] = with(new["spec"].take(), checkpoint("tide-42"));
    let moved = |framework: &str| {
        let mut new = new.clone();
        new["spec"]["backendFramework"] = framework.into();
        update(&old, &new)
    };
    let expected = [
        "spec.podTemplate.spec.containers[0].command",
        "spec.minAvailable",
        "spec.sharedMemorySize",
        "spec.experimental.checkpoint.checkpointRef",
        "spec.topologyConstraint",
        "spec.podTemplate.spec.containers[0].image",
    ];
    assert_eq!(moved("vllm").paths(), expected);
    let changed_engine = [&expected[1..4], &["spec.backendFramework"], &expected[4..]].concat();
    assert_eq!(moved("sglang").paths(), changed_engine);
}

#[test]
fn findings_come_back_in_the_paths_of_v1alpha1() {
    let mut object = worker_v1alpha1(json!({
        "sharedMemory": {"size": "-1"},
        "checkpoint": {"enabled": true, "checkpointRef": "tide-42"},
        "gpuMemoryService": {"enabled": true},
        "failover": {"enabled": true, "mode": "interPod"},
    }));
    object["spec"]["componentType"] = "decode".into();
    let expected = [
        "spec.sharedMemory.size",
        "spec.gpuMemoryService",
        "spec.failover.mode",
        "spec.failover",
        "spec.checkpoint",
        "spec.checkpoint.checkpointRef",
    ];
    assert_eq!(create(&object).paths(), expected);
}

#[test]
fn what_is_wrong_inside_a_pod_is_found_where_it_was_written() {
    let found = create(&worker(json!({"podTemplate": {"spec": {"containers": {"name": "main"}}}})));
    assert_eq!(found.paths(), ["spec.podTemplate.spec.containers"]);
    let found = create(&worker_v1alpha1(json!({"extraPodSpec": {"mainContainer": {"image": 7}}})));
    assert_eq!(found.paths(), ["spec.extraPodSpec.mainContainer.image"]);
}

#[test]
fn metadata_and_power_are_not_looked_at() {
    let mut object = worker(json!({}));
    object["metadata"]["annotations"] = json!({
        "nvidia.com/dynamo-operator-origin-version": "??",
        "nvidia.com/vllm-distributed-executor-backend": "??",
        "nvidia.com/dynamo-kube-discovery-mode": "??",
        "nvidia.com/workload-provider": "grove",
        "nvidia.com/grove-update-strategy": "??",
    });
    object["spec"]["podTemplate"]["metadata"] = json!({"annotations": {"dynamo.nvidia.com/gpu-power-limit": "x"}});
    object["spec"]["name"] = "d".repeat(60).into();
    object["spec"]["topologyConstraint"] = json!({"packDomain": "Rack 7"});
    create(&object).assert_allowed();
    object["spec"]["minAvailable"] = 1.into();
    create(&object).assert_denied();
}

#[test]
fn roles_of_a_new_component_are_given_their_replicas_and_nothing_else_is_given() {
    let roles = json!([{"name": "leader"}, {"name": "worker"}, {"name": "worker", "replicas": 9}, {"name": "captain"}]);
    let object = worker(json!({"multinode": {"nodeCount": 4}, "roles": roles}));
    let mut expected = object.clone();
    expected["spec"]["roles"][0]["replicas"] = 1.into();
    expected["spec"]["roles"][1]["replicas"] = 3.into();
    assert_eq!(on(&json!({}), |request| request.default(&object)).patched(), expected);
    let flat = worker(json!({"roles": [{"name": "leader"}]}));
    assert_eq!(on(&json!({}), |request| request.default(&flat)).patched(), flat);
}

#[test]
fn an_update_is_given_nothing() {
    let object = worker(json!({"name": "", "multinode": {"nodeCount": 4}, "roles": [{"name": "leader"}]}));
    assert_eq!(on(&json!({}), |request| request.default_update(&worker(json!({})), &object)).patched(), object);
}

#[test]
fn v1alpha1_is_given_nothing() {
    let object =
        worker_v1alpha1(json!({"serviceName": "", "multinode": {"nodeCount": 4}, "roles": [{"name": "leader"}]}));
    let found = on(&json!({}), |request| request.default(&object));
    found.assert_allowed();
    assert_eq!(found.patched(), object);
}

#[test]
fn the_paths_of_earlier_releases_are_served() {
    let webhooks = Webhooks::new().register(kind());
    let paths =
        |review: Review| webhooks.declarations().flat_map(|declared| declared.paths(review)).collect::<Vec<_>>();
    let validating = [
        "/validate/nvidia.com/v1beta1/dynamocomponentdeployments",
        "/validate-nvidia-com-v1alpha1-dynamocomponentdeployment",
    ];
    assert_eq!(paths(Review::Validate), validating);
    assert_eq!(paths(Review::Mutate), ["/mutate-nvidia-com-v1beta1-dynamocomponentdeployment"]);
}
