//! Rules that judge the v1beta1 reading, reported in the paths of v1alpha1: through the real webhooks, so that rule and
//! provenance are tested together.

use serde_json::{Value, json};

use super::{component, created, drum, graph, on, updated, with, worker};

#[test]
fn a_graph_without_services() {
    for spec in [json!({}), json!({"services": {}}), json!({"services": {"a": null}})] {
        assert_eq!(created(graph(spec)), ["DGD-48 spec.services"]);
    }
}

#[test]
fn a_changed_set_of_services() {
    let one = graph(json!({"services": {"a": worker(json!({}))}}));
    let two = graph(json!({"services": {"a": worker(json!({})), "b": worker(json!({}))}}));
    assert_eq!(updated(one, two), ["DGD-74 spec.services"]);
}

#[test]
fn a_name_that_is_too_long() {
    let key = "d".repeat(38);
    let object = graph(json!({"services": {key.clone(): worker(json!({}))}}));
    assert_eq!(created(object), [format!("DGD-49 spec.services[{key}]")]);
}

#[test]
fn the_type_of_a_picker_where_there_are_no_pools() {
    let object = drum(super::picker("1.5.0", json!({})));
    let findings = on(json!({"inferencePoolAvailable": false}), |trial| trial.create(&object));
    assert_eq!(super::found(&findings), ["SHARED-46 spec.services[drum].componentType"]);
}

#[test]
fn features_that_are_experimental_in_v1beta1() {
    let service = worker(json!({
        "gpuMemoryService": {"enabled": true, "mode": "interPod"},
        "failover": {"enabled": true, "mode": "intraPod"},
        "checkpoint": {"enabled": true, "job": {"gmsClientContainers": ["saver"]}},
    }));
    assert_eq!(
        created(component(service)),
        [
            "GMS-02 spec.gpuMemoryService",
            "FO-02 spec.failover.mode",
            "CKPT-D3 spec.checkpoint.job.gmsClientContainers",
            "CKPT-D4 spec.checkpoint",
            "CKPT-D5 spec.checkpoint",
        ]
    );
}

#[test]
fn a_negative_size_of_shared_memory() {
    let object = component(worker(json!({"sharedMemory": {"size": "-1Gi"}})));
    assert_eq!(created(object), ["SHARED-45 spec.sharedMemory.size"]);
}

#[test]
fn the_topology_of_a_graph() {
    let spec = json!({"topologyConstraint": {"topologyProfile": "none", "packDomain": "rack"}, "services": {"drum": worker(json!({}))}});
    assert_eq!(created(graph(spec)), ["DGD-66 spec.topologyConstraint.topologyProfile"]);
}

/// A worker with a power limit on its pods and these resources.
fn limited(resources: Value) -> Value {
    let annotations = json!({"annotations": {"dynamo.nvidia.com/gpu-power-limit": "450"}});
    worker(with(json!({"extraPodMetadata": annotations}), resources))
}

#[test]
fn power_limits_of_pods() {
    let limit = "dynamo.nvidia.com/gpu-power-limit";
    let broken = |watts: &str| worker(json!({"extraPodMetadata": {"annotations": {limit: watts}}}));
    let at = format!("spec.services[drum].extraPodMetadata.annotations[{limit}]");
    assert_eq!(created(drum(broken("much"))), [format!("DGD-52 {at}")]);
    assert_eq!(created(drum(broken("0"))), [format!("DGD-53 {at}")]);
    let removed = updated(drum(limited(json!({}))), drum(worker(json!({}))));
    assert_eq!(removed, [format!("DGD-75 {at}")]);
}

#[test]
fn gpus_by_claims_where_they_were_written() {
    let claims = json!([{"name": "gpu"}]);
    let found = |service: Value| created(drum(service));
    assert_eq!(
        found(limited(json!({"resources": {"claims": claims}}))),
        ["DGD-54 spec.services[drum].resources.claims"]
    );
    let own = json!({"extraPodSpec": {"mainContainer": {"image": "engine:1.4.2", "resources": {"claims": claims}}}});
    assert_eq!(found(limited(own)), ["DGD-54 spec.services[drum].extraPodSpec.mainContainer.resources.claims"]);
    let beside = json!({"extraPodSpec": {
        "mainContainer": {"image": "engine:1.4.2"},
        "containers": [{"name": "main"}, {"name": "logs", "resources": {"claims": claims}}],
    }});
    assert_eq!(found(limited(beside)), ["DGD-54 spec.services[drum].extraPodSpec.containers[1].resources.claims"]);
}

#[test]
fn gpus_that_change_under_a_power_limit() {
    let flat = |gpus: &str| limited(json!({"resources": {"limits": {"gpu": gpus}}}));
    let own = |gpus: &str| {
        let resources = json!({"limits": {"nvidia.com/gpu": gpus}});
        limited(json!({"extraPodSpec": {"mainContainer": {"image": "engine:1.4.2", "resources": resources}}}))
    };
    let found = |old: Value, new: Value| updated(drum(old), drum(new));
    assert_eq!(found(flat("1"), flat("2")), ["DGD-76 spec.services[drum].resources.limits.gpu"]);
    assert_eq!(
        found(flat("1"), own("2")),
        ["DGD-76 spec.services[drum].extraPodSpec.mainContainer.resources.limits[nvidia.com/gpu]"]
    );
    assert_eq!(found(flat("1"), limited(json!({}))), ["DGD-76 spec.services[drum].resources"]);
    assert!(found(flat("1"), own("1")).is_empty());
}

#[test]
fn an_entry_point_that_elastic_parallelism_needs() {
    let args = json!(["--enable-elastic-ep --data-parallel-backend ray"]);
    let service = worker(json!({"extraPodSpec": {"mainContainer": {"image": "engine:1.4.2", "args": args}}}));
    let graph = graph(json!({"backendFramework": "vllm", "services": {"drum": service}}));
    assert_eq!(created(graph), ["DGD-55 spec.services[drum].extraPodSpec.mainContainer.command"]);
}

#[test]
fn members_of_the_wrong_type_in_embedded_pods() {
    let found = |pod: Value| created(component(json!({"componentType": "worker", "extraPodSpec": pod})));
    assert_eq!(found(json!("odd")), ["DECODE spec.extraPodSpec"]);
    assert_eq!(found(json!({"mainContainer": {"image": 5}})), ["DECODE spec.extraPodSpec.mainContainer.image"]);
    assert_eq!(
        found(
            json!({"mainContainer": {"image": "a:1.0.0"}, "containers": [{"name": "main"}, {"name": "b", "args": "c"}]})
        ),
        ["DECODE spec.extraPodSpec.containers[1].args"]
    );
}

#[test]
fn members_of_the_wrong_type_elsewhere() {
    assert_eq!(
        created(component(worker(json!({"volumeMounts": [{"name": 5}]})))),
        ["DECODE spec.volumeMounts[0].name"]
    );
}

#[test]
fn replicas_that_an_adapter_owns() {
    let scaled = |replicas: i32, enabled: bool| {
        drum(worker(json!({"replicas": replicas, "scalingAdapter": {"enabled": enabled}})))
    };
    assert_eq!(updated(scaled(2, true), scaled(5, false)), ["SHARED-64 spec.services[drum].replicas"]);
    assert!(updated(scaled(2, false), scaled(5, false)).is_empty());
}

#[test]
fn a_failover_that_is_dropped() {
    let mode = json!({"enabled": true, "mode": "interPod"});
    let old = worker(json!({
        "resources": {"limits": {"gpu": "1"}}, "gpuMemoryService": mode, "failover": mode,
    }));
    assert_eq!(
        updated(component(old), component(worker(json!({})))),
        ["SHARED-67 spec.gpuMemoryService.mode", "SHARED-68 spec.failover"]
    );
}

#[test]
fn roles_and_overrides_stand_where_they_stood() {
    let roles = json!([{"name": "leader", "providerOverride": {"apiVersion": "v9"}}, {"name": "captain"}]);
    let service = worker(json!({"multinode": {"nodeCount": 2}, "roles": roles}));
    let mut object = drum(service);
    object["metadata"]["annotations"] = json!({"nvidia.com/workload-provider": "grove"});
    assert_eq!(
        created(object),
        [
            "OVR-04 spec.services[drum].roles[0].providerOverride.apiVersion",
            "SHARED-42 spec.services[drum].roles[1].name",
            "SHARED-43 spec.services[drum].roles",
        ]
    );
}

#[test]
fn overrides_of_a_graph_and_the_order_of_its_restart() {
    let overlay = json!({"apiVersion": "grove.io/v1alpha1", "target": "PodCliqueSet", "value": {}});
    let roles = json!([{"name": "leader", "providerOverride": overlay}, {"name": "worker"}]);
    let mut object = graph(json!({
        "services": {"drum": worker(json!({"multinode": {"nodeCount": 2}, "roles": roles}))},
        "restart": {"id": "x", "strategy": {"order": ["b"]}},
        "providerOverride": overlay,
    }));
    object["metadata"]["annotations"] = json!({"nvidia.com/workload-provider": "grove"});
    assert_eq!(
        created(object),
        [
            "OVR-09 spec.providerOverride.value.spec",
            "OVR-06 spec.services[drum].roles[0].providerOverride.target",
            "DGD-59 spec.restart.strategy.order[0]",
        ]
    );
}
