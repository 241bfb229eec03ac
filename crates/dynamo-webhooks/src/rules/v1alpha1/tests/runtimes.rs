//! RT-01, RT-02 and RT-06 in the paths of v1alpha1, and the order in which v1alpha1 objects are judged. The other rules
//! on runtimes are cases of `tests/rulebook`.

use serde_json::{Value, json};

use super::{component, created, drum, graph, image, picker, updated, with, worker};

#[test]
fn the_runtimes_of_a_changed_graph_wait_until_it_is_sound() {
    let broken = worker(json!({"extraPodSpec": image("engine:nightly"), "ingress": {"enabled": true}}));
    assert_eq!(updated(drum(worker(json!({}))), drum(broken.clone())), ["ALPHA-06 spec.services[drum].ingress.host"]);
    let old = component(picker("1.5.0", json!({})));
    let new = component(with(picker("nightly", json!({})), json!({"ingress": {"enabled": true}})));
    assert_eq!(updated(old, new), ["ALPHA-06 spec.ingress.host", "RT-07 spec.runtimeVersionOverride"]);
}

#[test]
fn findings_of_v1beta1_come_first_and_runtimes_last() {
    let broken = json!({"componentType": "frontend", "multinode": {"nodeCount": 2}, "ingress": {"enabled": true}});
    let services = json!({"b": broken, "a": broken});
    assert_eq!(
        created(graph(json!({"services": services, "pvcs": [{}]}))),
        [
            "SHARED-44 spec.services[a].multinode",
            "SHARED-44 spec.services[b].multinode",
            "ALPHA-01 spec.pvcs[0].name",
            "ALPHA-06 spec.services[a].ingress.host",
            "ALPHA-06 spec.services[b].ingress.host",
            "RT-03 spec.services[a].extraPodSpec.mainContainer.image",
            "RT-03 spec.services[b].extraPodSpec.mainContainer.image",
        ]
    );
}

#[test]
fn the_change_of_a_component_is_judged_in_the_order_of_the_book() {
    let old = worker(json!({"backendFramework": "vllm", "topologyConstraint": {"packDomain": "rack"}}));
    let new: Value = json!({
        "backendFramework": "trtllm", "componentType": "worker", "minAvailable": 1, "ingress": {"enabled": true},
        "checkpoint": {"checkpointRef": "c"},
    });
    assert_eq!(
        updated(component(old), component(new)),
        [
            "SHARED-40 spec.minAvailable",
            "DCD-13 spec.checkpoint.checkpointRef",
            "ALPHA-06 spec.ingress.host",
            "RT-06 spec.extraPodSpec.mainContainer.image",
            "DCD-16 spec.backendFramework",
            "warning DCD-16 spec.backendFramework",
            "SHARED-65 spec.topologyConstraint",
        ]
    );
}
