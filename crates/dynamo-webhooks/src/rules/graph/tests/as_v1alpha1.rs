use dynamo_api::constants::{GPU_POWER_LIMIT, WORKLOAD_PROVIDER};
use serde_json::{Value, json};

use super::{annotated, create, create_in, denied_by, merge, update};

/// A v1alpha1 graph with these services and further members of its spec.
fn graph(services: Value, spec: Value) -> Value {
    let mut graph = super::graph(Value::Null, spec);
    graph["apiVersion"] = "nvidia.com/v1alpha1".into();
    let spec = graph["spec"].as_object_mut().unwrap();
    spec.remove("components");
    spec.insert("services".into(), services);
    graph
}

/// A worker with an image and further members.
fn worker(members: &Value) -> Value {
    let main = json!({"image": "example.org/runtime:1.4.2"});
    let mut worker = json!({"componentType": "worker", "extraPodSpec": {"mainContainer": main}});
    merge(&mut worker, members);
    worker
}

/// Creates a graph of the services `a`, a plain one, and `b` with these members.
fn beside(members: &Value, spec: Value) -> Vec<String> {
    denied_by(&create(&graph(json!({"b": worker(members), "a": worker(&json!({}))}), spec)))
}

#[test]
fn a_graph_without_services_lacks_services() {
    assert_eq!(denied_by(&create(&graph(json!({}), json!({})))), ["DGD-48 spec.services"]);
    assert_eq!(denied_by(&create(&graph(json!(null), json!({})))), ["DGD-48 spec.services"]);
    assert_eq!(denied_by(&create(&graph(json!({"a": null}), json!({})))), ["DGD-48 spec.services"]);
}

#[test]
fn a_name_is_the_key_of_its_service() {
    let name = "a".repeat(41);
    let found = denied_by(&create(&graph(json!({name.as_str(): worker(&json!({}))}), json!({}))));
    assert_eq!(found, [format!("DGD-49 spec.services[{name}]")]);
}

#[test]
fn previews_stand_directly_in_the_service() {
    let sharing =
        json!({"gpuMemoryService": {"enabled": true, "mode": "interPod"}, "resources": {"limits": {"gpu": "1"}}});
    assert_eq!(beside(&sharing, json!({})), ["DGD-51 spec.services[b].gpuMemoryService.mode"]);
}

#[test]
fn pods_are_made_of_several_members() {
    let limited = json!({"extraPodMetadata": {"annotations": {GPU_POWER_LIMIT: "0"}}});
    let limit = format!("DGD-53 spec.services[b].extraPodMetadata.annotations[{GPU_POWER_LIMIT}]");
    assert_eq!(beside(&limited, json!({})), [&*limit]);
    let claims = json!({"claims": [{"name": "g"}]});
    let mut in_main = limited.clone();
    merge(&mut in_main, &json!({"extraPodSpec": {"mainContainer": {"resources": claims}}}));
    assert_eq!(
        beside(&in_main, json!({})),
        [&*limit, "DGD-54 spec.services[b].extraPodSpec.mainContainer.resources.claims"]
    );
    let mut in_another = limited;
    merge(&mut in_another, &json!({"extraPodSpec": {"containers": [{"name": "c", "resources": claims}]}}));
    assert_eq!(
        beside(&in_another, json!({})),
        [&*limit, "DGD-54 spec.services[b].extraPodSpec.containers[0].resources.claims"]
    );
    let elastic = json!({"extraPodSpec": {"mainContainer": {"args": ["--enable-elastic-ep", "-dpb", "ray"]}}});
    assert_eq!(
        beside(&elastic, json!({"backendFramework": "vllm"})),
        ["DGD-55 spec.services[b].extraPodSpec.mainContainer.command"]
    );
}

#[test]
fn a_topology_is_a_profile() {
    let fabric = json!({"clusterTopologies": [{"name": "fabric", "levels": ["zone", "rack"]}]});
    let packed = |own: Value, domain: &str| {
        let services = json!({"a": worker(&json!({"topologyConstraint": {"packDomain": domain}}))});
        graph(services, json!({"topologyConstraint": own}))
    };
    let zone = json!({"topologyProfile": "fabric", "packDomain": "zone"});
    assert_eq!(denied_by(&create(&packed(zone.clone(), "rack"))), ["DGD-66 spec.topologyConstraint.topologyProfile"]);
    assert_eq!(denied_by(&create_in(&fabric, &packed(json!(null), "rack"))), ["DGD-64 spec.topologyConstraint"]);
    assert_eq!(
        denied_by(&create_in(&fabric, &packed(zone, "host"))),
        ["DGD-68 spec.services[a].topologyConstraint.packDomain"]
    );
}

#[test]
fn overrides_and_restarts_stand_where_they_stand_in_v1beta1() {
    let overlay = json!({"apiVersion": "grove.io/v1alpha1", "target": "PodCliqueSet", "value": {}});
    let roles = json!([{"name": "leader", "providerOverride": overlay}, {"name": "worker"}]);
    let services = json!({"a": worker(&json!({"multinode": {"nodeCount": 2}, "roles": roles}))});
    let restart = json!({"restart": {"id": "x", "strategy": {"order": ["b"]}}, "providerOverride": overlay});
    let graph = annotated(graph(services, restart), WORKLOAD_PROVIDER, "grove");
    assert_eq!(
        denied_by(&create(&graph)),
        [
            "OVR-09 spec.providerOverride.value.spec",
            "OVR-06 spec.services[a].roles[0].providerOverride.target",
            "DGD-59 spec.restart.strategy.order[0]"
        ]
    );
}

#[test]
fn changes_are_found_in_the_services() {
    let of = |services: Value| graph(services, json!({}));
    let powered = |limit: Value, gpus: &str| {
        let annotations = json!({GPU_POWER_LIMIT: limit});
        worker(&json!({"extraPodMetadata": {"annotations": annotations}, "resources": {"limits": {"gpu": gpus}}}))
    };
    let old = of(json!({"a": powered(json!("450"), "1")}));
    assert_eq!(denied_by(&update(&old, &of(json!({"b": powered(json!("450"), "1")})))), ["DGD-74 spec.services"]);
    assert_eq!(
        denied_by(&update(&old, &of(json!({"a": powered(json!("500"), "2")})))),
        [
            format!("DGD-75 spec.services[a].extraPodMetadata.annotations[{GPU_POWER_LIMIT}]").as_str(),
            "DGD-76 spec.services[a].resources.limits.gpu"
        ]
    );
}
