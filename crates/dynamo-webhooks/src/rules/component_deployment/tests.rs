//! Validation of DynamoComponentDeployment.

use gateward_core::testing::{Findings, TestRequest};
use gateward_core::{Review, Webhooks};
use serde_json::{Value, json};

use super::kind;
use crate::operator::facts::ClusterFacts;
use crate::testing::{object, terminating, with};

fn trial<T>(ask: impl FnOnce(&TestRequest) -> T) -> T {
    let webhooks = Webhooks::new().register(kind());
    ask(&TestRequest::of(&webhooks).facts(ClusterFacts::default()))
}

fn create(object: &Value) -> Findings {
    trial(|trial| trial.create(object))
}

fn update(old: &Value, new: &Value) -> Findings {
    trial(|trial| trial.update(old, new))
}

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

#[test]
fn elastic_experts_on_ray_need_a_command() {
    let found = create(&worker(json!({"podTemplate": elastic(json!({}))})));
    assert_eq!(found.paths(), ["spec.podTemplate.spec.containers[0].command"]);
    let commanded = elastic(json!({"command": ["start"]}));
    create(&worker(json!({"podTemplate": commanded}))).assert_allowed();
    create(&worker(json!({"podTemplate": elastic(json!({})), "backendFramework": "sglang"}))).assert_allowed();
}

#[test]
fn arguments_of_other_containers_ask_for_nothing() {
    let mut template = pod(json!({}));
    let sidecar = json!({"name": "side", "image": "s:1", "args": ["--enable-elastic-ep", "-dpb", "ray"]});
    template["spec"]["containers"].as_array_mut().unwrap().insert(0, sidecar);
    create(&worker(json!({"podTemplate": template}))).assert_allowed();
}

fn checkpoint(reference: &str) -> Value {
    json!({"experimental": {"checkpoint": {"enabled": false, "checkpointRef": reference}}})
}

#[test]
fn only_a_component_of_a_graph_names_a_checkpoint() {
    let path = "spec.experimental.checkpoint.checkpointRef";
    assert_eq!(create(&worker(checkpoint("tide-42"))).paths(), [path]);
    let stored = worker(checkpoint("tide-42"));
    assert_eq!(update(&stored, &stored).paths(), [path], "it is not forgiven where it is stored");
    create(&worker(checkpoint(""))).assert_allowed();
    create(&worker(checkpoint(" \t"))).assert_allowed();
}

#[test]
fn the_checkpoint_of_a_component_that_does_not_infer_is_nobodys() {
    for other in [json!("frontend"), Value::Null] {
        let mut object = worker(checkpoint("tide-42"));
        object["spec"]["type"] = other;
        create(&object).assert_allowed();
    }
}

#[test]
fn the_graph_must_be_the_controller() {
    let owner = |api_version: &str, kind: &str, controller: Value| json!({"apiVersion": api_version, "kind": kind, "name": "lantern", "uid": "u-1", "controller": controller});
    let owned_by = |owners: Value| {
        let mut object = worker(checkpoint("tide-42"));
        object["metadata"]["ownerReferences"] = owners;
        create(&object)
    };
    let graph = owner("nvidia.com/v1alpha1", "DynamoGraphDeployment", true.into());
    let other = owner("apps/v1", "Deployment", true.into());
    owned_by(json!([graph])).assert_allowed();
    owned_by(json!([owner("apps/v1", "Deployment", Value::Null), graph])).assert_allowed();
    for owners in [
        json!([]),
        json!([other, graph]),
        json!([owner("nvidia.com/v1beta1", "DynamoGraphDeployment", false.into())]),
        json!([owner("nvidia.com/v1beta1", "DynamoGraphDeployment", Value::Null)]),
        json!([owner("nvidia.com/v1beta1", "DynamoGraphDeploymentRequest", true.into())]),
        json!([owner("example.org/v1", "DynamoGraphDeployment", true.into())]),
        json!([owner("nvidia.com", "DynamoGraphDeployment", true.into())]),
    ] {
        owned_by(owners).assert_denied();
    }
}

#[test]
fn the_engine_can_not_change_and_a_warning_says_so() {
    let engine = |framework: Value| worker(json!({"backendFramework": framework}));
    for (old, new) in [("vllm".into(), "sglang".into()), (Value::Null, "vllm".into()), ("vllm".into(), Value::Null)] {
        let found = update(&engine(old), &engine(new));
        assert_eq!(found.paths(), ["spec.backendFramework"]);
        assert_eq!(found.warnings().len(), 1);
    }
    update(&engine(Value::Null), &engine(Value::Null)).assert_allowed();
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
fn in_v1alpha1_the_runtime_comes_before_the_engine() {
    let old = worker_v1alpha1(json!({}));
    let new = worker_v1alpha1(json!({
        "backendFramework": "sglang",
        "extraPodSpec": {},
        "minAvailable": 1,
        "ingress": {"enabled": true},
        "topologyConstraint": {"packDomain": "rack"},
    }));
    let expected = [
        "spec.minAvailable",
        "spec.ingress.host",
        "spec.extraPodSpec.mainContainer.image",
        "spec.backendFramework",
        "spec.topologyConstraint",
    ];
    assert_eq!(update(&old, &new).paths(), expected);
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
fn in_v1alpha1_the_type_of_a_picker_is_its_component_type() {
    let picker = |members: Value| {
        let mut object = worker_v1alpha1(members);
        object["spec"]["componentType"] = "epp".into();
        object
    };
    let both = json!({"replicas": 3, "eppConfig": {"configMapRef": {"name": ""}}});
    let found = create(&picker(both));
    assert_eq!(found.paths(), ["spec.replicas", "spec.eppConfig.configMapRef.name"]);
    assert_eq!(create(&picker(json!({}))).paths(), ["spec.eppConfig"], "1.4.2 needs a configuration");
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
fn a_component_on_its_own_takes_no_override_whatever_it_says() {
    let mut object = worker(json!({"providerOverride": {"apiVersion": "other/v9", "value": 7}}));
    assert_eq!(create(&object).paths(), ["spec.providerOverride"]);
    object["metadata"]["annotations"] = json!({"nvidia.com/workload-provider": "grove"});
    assert_eq!(create(&object).paths(), ["spec.providerOverride"]);
}

#[test]
fn replicas_are_free_for_everybody() {
    let adapted = |replicas: i32| worker(json!({"replicas": replicas, "scalingAdapter": {}}));
    trial(|trial| trial.clone().nobody().update(&adapted(2), &adapted(9))).assert_allowed();
}

#[test]
fn an_update_of_what_is_being_deleted_passes_but_a_creation_does_not() {
    let object = terminating(worker(json!({"backendFramework": "sglang", "minAvailable": 1})));
    update(&worker(json!({})), &object).assert_allowed();
    create(&object).assert_denied();
}

#[test]
fn the_stored_state_of_a_picker_is_left_alone_until_it_is_changed() {
    let picker = |image: &str| worker(json!({"type": "epp", "podTemplate": pod(json!({"image": image}))}));
    let stored = picker("depot.example/picker:nightly");
    update(&stored, &stored).assert_allowed();
    let found = update(&stored, &picker("depot.example/picker:edge"));
    assert_eq!(found.paths(), ["spec.runtimeVersionOverride"]);
}

#[test]
fn a_new_component_is_called_like_its_object() {
    let default = |object: &Value| trial(|trial| trial.default(object)).patched();
    let mut object = worker(json!({"name": ""}));
    assert_eq!(default(&object)["spec"]["name"], "lantern-drum");
    object["spec"].as_object_mut().unwrap().remove("name");
    assert_eq!(default(&object)["spec"]["name"], "lantern-drum");
    assert_eq!(default(&worker(json!({})))["spec"]["name"], "drum");
    object["metadata"] = json!({"generateName": "lantern-"});
    assert_eq!(default(&object), object);
}

#[test]
fn roles_of_a_new_component_are_given_their_replicas_and_nothing_else_is_given() {
    let roles = json!([{"name": "leader"}, {"name": "worker"}, {"name": "worker", "replicas": 9}, {"name": "captain"}]);
    let object = worker(json!({"multinode": {"nodeCount": 4}, "roles": roles}));
    let mut expected = object.clone();
    expected["spec"]["roles"][0]["replicas"] = 1.into();
    expected["spec"]["roles"][1]["replicas"] = 3.into();
    assert_eq!(trial(|trial| trial.default(&object)).patched(), expected);
    let flat = worker(json!({"roles": [{"name": "leader"}]}));
    assert_eq!(trial(|trial| trial.default(&flat)).patched(), flat);
}

#[test]
fn an_update_is_given_nothing() {
    let object = worker(json!({"name": "", "multinode": {"nodeCount": 4}, "roles": [{"name": "leader"}]}));
    assert_eq!(trial(|trial| trial.default_update(&worker(json!({})), &object)).patched(), object);
}

#[test]
fn v1alpha1_is_given_nothing() {
    let object =
        worker_v1alpha1(json!({"serviceName": "", "multinode": {"nodeCount": 4}, "roles": [{"name": "leader"}]}));
    let found = trial(|trial| trial.default(&object));
    found.assert_allowed();
    assert_eq!(found.patched(), object);
}

#[test]
fn elastic_experts_are_found_in_v1alpha1_too() {
    let main = json!({"image": "depot.example/engine:1.4.2", "args": ["--enable-elastic-ep", "-dpb=ray"]});
    let found = create(&worker_v1alpha1(json!({"extraPodSpec": {"mainContainer": main}})));
    assert_eq!(found.paths(), ["spec.extraPodSpec.mainContainer.command"]);
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
