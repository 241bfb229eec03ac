//! The fields of graphs and components.

use serde_json::{Value, json};

use super::{component, component_object, graph, graph_object, service};

#[test]
fn the_graph_keeps_its_fields_and_renames_two() {
    let lifted = graph(json!({
        "annotations": {"a": "b"},
        "labels": {"team": "reef"},
        "priorityClassName": "gold",
        "backendFramework": "vllm",
        "envs": [{"name": "HF_HOME", "value": "/hf"}],
        "restart": {"id": "r7", "strategy": {"type": "Sequential", "order": ["w"]}},
        "topologyConstraint": {"topologyProfile": "dc-east", "packDomain": "zone"},
        "providerOverride": {"apiVersion": "grove.io/v1alpha1", "value": {"x": 1}},
        "experimental": {"kvTransferPolicy": {"domain": "rack", "labelKey": "zone"}},
        "pvcs": [{"name": "weights"}],
    }));
    assert_eq!(
        lifted.at("spec"),
        json!({
            "annotations": {"a": "b"},
            "labels": {"team": "reef"},
            "priorityClassName": "gold",
            "backendFramework": "vllm",
            "env": [{"name": "HF_HOME", "value": "/hf"}],
            "restart": {"id": "r7", "strategy": {"type": "Sequential", "order": ["w"]}},
            "topologyConstraint": {"clusterTopologyName": "dc-east", "packDomain": "zone"},
            "providerOverride": {"apiVersion": "grove.io/v1alpha1", "value": {"x": 1}},
            "experimental": {"kvTransferPolicy": {"domain": "rack", "labelKey": "zone"}},
        })
    );
    assert_eq!(lifted.at("apiVersion"), json!("nvidia.com/v1beta1"));
    assert_eq!(lifted.at("kind"), json!("DynamoGraphDeployment"));
}

#[test]
fn metadata_is_carried_whole() {
    let metadata = json!({
        "name": "otter", "namespace": "tidepool", "uid": "u", "resourceVersion": "7", "generation": 3,
        "deletionTimestamp": "2026-01-01T00:00:00Z", "labels": {"a": "b"}, "annotations": {"keep": "me"},
        "finalizers": ["f"], "ownerReferences": [{"kind": "K", "name": "n", "uid": "o", "controller": true}],
    });
    assert_eq!(graph_object(json!({"metadata": metadata})).at("metadata"), metadata);
}

#[test]
fn a_partial_object_is_lifted_too() {
    let lifted = graph_object(json!({"metadata": {}}));
    assert_eq!(lifted.hub, json!({"apiVersion": "nvidia.com/v1beta1", "metadata": {}, "spec": {}}));
    assert_eq!(component_object(json!({})).at("metadata"), json!({}));
}

#[test]
fn services_become_components_in_bytewise_order_without_the_null_ones() {
    let lifted = graph(json!({"services": {"zeta": {}, "alpha": {}, "Zeta": {}, "ghost": null, "é": {}}}));
    let names: Vec<Value> = (0..5).map(|index| lifted.at(&format!("spec.components[{index}].name"))).collect();
    assert_eq!(names, [json!("Zeta"), json!("alpha"), json!("zeta"), json!("é"), Value::Null]);
}

#[test]
fn the_key_is_the_name_whatever_the_service_calls_itself() {
    assert_eq!(service(json!({"serviceName": "legacy"})).at("spec.components[0].name"), json!("w"));
}

#[test]
fn a_standalone_component_is_called_by_its_service_name_or_its_own() {
    assert_eq!(component(json!({"serviceName": "drum"})).at("spec.name"), json!("drum"));
    assert_eq!(component(json!({})).at("spec.name"), json!("otter-worker"));
    assert_eq!(component(json!({"backendFramework": "vllm"})).at("spec.backendFramework"), json!("vllm"));
}

#[test]
fn only_a_worker_takes_the_type_of_its_half() {
    let lifted = |kind: &str, half: &str| {
        service(json!({"componentType": kind, "subComponentType": half})).at("spec.components[0].type")
    };
    assert_eq!(lifted("worker", "prefill"), json!("prefill"));
    assert_eq!(lifted("worker", "decode"), json!("decode"));
    assert_eq!(lifted("worker", "draft"), json!("worker"));
    assert_eq!(lifted("frontend", "prefill"), json!("frontend"));
    assert_eq!(lifted("", "prefill"), Value::Null);
    assert_eq!(lifted("default", ""), json!("default"));
}

#[test]
fn fields_of_the_same_name_are_carried() {
    let same = json!({
        "replicas": 2,
        "minAvailable": 1,
        "globalDynamoNamespace": true,
        "runtimeVersionOverride": "1.4.0",
        "multinode": {"nodeCount": 4},
        "roles": [{"name": "leader", "replicas": 1, "podTemplate": {"spec": {"tty": 1}}}],
        "modelRef": {"name": "m", "revision": "r"},
        "topologyConstraint": {"packDomain": "rack"},
        "eppConfig": {"config": {"plugins": []}},
        "providerOverride": {"apiVersion": "v", "target": "T", "value": {}},
    });
    let mut expected = same.clone();
    expected["name"] = json!("w");
    assert_eq!(service(same).at("spec.components[0]"), expected);
}

#[test]
fn an_empty_list_of_roles_stays_one() {
    assert_eq!(service(json!({"roles": []})).at("spec.components[0].roles"), json!([]));
}

#[test]
fn fields_without_a_counterpart_stay_behind() {
    let lifted = service(json!({
        "annotations": {"a": "b"}, "labels": {"x": "y"}, "ingress": {"enabled": true}, "autoscaling": {},
        "dynamoNamespace": "old", "serviceName": "s",
    }));
    assert_eq!(lifted.at("spec.components[0]"), json!({"name": "w"}));
}

#[test]
fn shared_memory_is_a_size_and_zero_where_it_is_disabled() {
    let size = |memory: Value| service(json!({"sharedMemory": memory})).at("spec.components[0].sharedMemorySize");
    assert_eq!(size(json!({"disabled": true})), json!("0"));
    assert_eq!(size(json!({"disabled": true, "size": "4Gi"})), json!("0"));
    assert_eq!(size(json!({"size": "16Gi"})), json!("16Gi"));
    assert_eq!(size(json!({"size": 1024})), json!(1024));
    assert_eq!(size(json!({"size": "-1Gi"})), json!("-1Gi"));
    assert_eq!(size(json!({"size": "0Gi"})), Value::Null);
    assert_eq!(size(json!({})), Value::Null);
}

#[test]
fn a_scaling_adapter_is_there_only_where_it_is_enabled() {
    let adapter = |block: Value| service(json!({"scalingAdapter": block})).at("spec.components[0].scalingAdapter");
    assert_eq!(adapter(json!({"enabled": true})), json!({}));
    assert_eq!(adapter(json!({"enabled": false})), Value::Null);
    assert_eq!(adapter(json!({})), Value::Null);
}

#[test]
fn the_first_mount_that_asks_for_it_is_the_compilation_cache() {
    let lifted = service(json!({"volumeMounts": [
        {"name": "data", "mountPoint": "/data"},
        {"name": "cc", "mountPoint": "/cc", "useAsCompilationCache": true},
        {"name": "dd", "mountPoint": "/dd", "useAsCompilationCache": true},
    ]}));
    assert_eq!(lifted.at("spec.components[0].compilationCache"), json!({"pvcName": "cc", "mountPath": "/cc"}));
}

#[test]
fn only_features_in_use_are_experimental_but_a_checkpoint_always_is() {
    let experimental = |service_spec: Value| service(service_spec).at("spec.components[0].experimental");
    assert_eq!(experimental(json!({"gpuMemoryService": {"enabled": false}, "failover": {}})), Value::Null);
    assert_eq!(
        experimental(json!({
            "gpuMemoryService": {
                "enabled": true, "mode": "interPod", "deviceClassName": "d", "extraClientContainers": ["c"],
                "extraClientPods": [{"name": "p", "podTemplate": {}}],
            },
            "failover": {"enabled": true, "mode": "intraPod", "numShadows": 2},
            "checkpoint": {"enabled": false, "checkpointRef": "c", "job": {"gmsClientContainers": ["m"]}},
        })),
        json!({
            "gpuMemoryService": {
                "mode": "InterPod", "deviceClassName": "d", "extraClientContainers": ["c"],
                "extraClientPods": [{"name": "p", "podTemplate": {}}],
            },
            "failover": {"mode": "IntraPod", "numShadows": 2},
            "checkpoint": {"enabled": false, "checkpointRef": "c", "job": {"gmsClientContainers": ["m"]}},
        })
    );
    let odd = experimental(json!({"failover": {"enabled": true, "mode": "between"}}));
    assert_eq!(odd, json!({"failover": {"mode": "between"}}));
}

#[test]
fn the_status_calls_services_components() {
    let lifted = graph_object(json!({"status": {
        "state": "pending",
        "observedGeneration": 4,
        "services": {
            "a": {"componentKind": "PodClique", "componentName": "otter-a", "replicas": 1, "updatedReplicas": 1},
            "b": {"componentName": "new", "componentNames": ["old", "new"], "readyReplicas": 1},
        },
        "rollingUpdate": {"phase": "InProgress", "updatedServices": ["a"]},
        "restart": {"observedID": "1", "phase": "Completed"},
        "placement": {"state": "Reported", "score": 0.5},
        "checkpoints": {"a": {"checkpointName": "c", "ready": true}},
    }}));
    assert_eq!(
        lifted.at("status"),
        json!({
            "state": "pending",
            "observedGeneration": 4,
            "components": {
                "a": {"componentKind": "PodClique", "componentNames": ["otter-a"], "replicas": 1, "updatedReplicas": 1},
                "b": {"componentNames": ["old", "new"], "readyReplicas": 1},
            },
            "rollingUpdate": {"phase": "InProgress", "updatedComponents": ["a"]},
            "restart": {"observedID": "1", "phase": "Completed"},
            "placement": {"state": "Reported", "score": 0.5},
            "checkpoints": {"a": {"checkpointName": "c", "ready": true}},
        })
    );
}

#[test]
fn the_status_of_a_standalone_component_loses_its_pod_selector() {
    let lifted = component_object(json!({"status": {
        "conditions": [], "podSelector": {"a": "b"}, "service": {"componentName": "d", "replicas": 2},
    }}));
    assert_eq!(lifted.at("status"), json!({"component": {"componentNames": ["d"], "replicas": 2}}));
}
