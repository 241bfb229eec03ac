//! Rules that judge the v1beta1 reading, reported in the paths of v1alpha1: through the real webhooks, so that rule and
//! provenance are tested together.

use serde_json::{Value, json};

use super::{component, created, drum, graph, updated, with, worker};

/// A worker with a power limit on its pods and these resources.
fn limited(resources: Value) -> Value {
    let annotations = json!({"annotations": {"dynamo.nvidia.com/gpu-power-limit": "450"}});
    worker(with(json!({"extraPodMetadata": annotations}), resources))
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
