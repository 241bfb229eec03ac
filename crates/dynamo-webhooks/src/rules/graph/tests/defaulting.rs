use dynamo_api::constants::{ORIGIN_VERSION, WORKLOAD_PROVIDER};
use gateward::testing::Findings;
use serde_json::{Value, json};

use super::{assert_silent, create_in, graph, on, worker};

fn plain() -> Value {
    graph(json!([worker("a", &json!({}))]), json!({}))
}

fn cluster() -> Value {
    json!({"operatorVersion": "1.4.7"})
}

fn created(graph: &Value) -> Value {
    on(&cluster(), |request| request.default(graph)).patched()
}

fn changed(graph: &Value) -> Findings {
    on(&cluster(), |request| request.default_update(graph, graph))
}

fn annotation<'g>(graph: &'g Value, key: &str) -> &'g Value {
    &graph["metadata"]["annotations"][key]
}

#[test]
fn a_new_graph_is_stamped_and_its_components_get_replicas() {
    let graph = created(&plain());
    assert_eq!(annotation(&graph, ORIGIN_VERSION), "1.4.7");
    assert_eq!(annotation(&graph, WORKLOAD_PROVIDER), "grove");
    assert_eq!(graph["spec"]["components"][0]["replicas"], 1);
    assert_eq!(graph["spec"]["components"][0]["minAvailable"], 1);
}

#[test]
fn an_update_notes_neither_provider_nor_origin() {
    let graph = changed(&plain()).patched();
    assert!(graph["metadata"].get("annotations").is_none());
    assert_eq!(graph["spec"]["components"][0]["replicas"], 1);
    assert!(graph["spec"]["components"][0].get("minAvailable").is_none());
}

fn overlay(api_version: &str, target: &Value) -> Value {
    json!({"apiVersion": api_version, "target": target, "value": {"topologyConstraint": {}}})
}

/// A graph with overrides without target at the root, a component on one node, one on three, and its roles.
fn overridden(api_version: &str) -> Value {
    let overlay = overlay(api_version, &json!(null));
    let roles =
        json!([{"name": "leader", "providerOverride": overlay}, {"name": "scout", "providerOverride": overlay}]);
    let wide = json!({"multinode": {"nodeCount": 3}, "providerOverride": overlay, "roles": roles});
    let components = json!([worker("a", &json!({"providerOverride": overlay})), worker("b", &wide)]);
    graph(components, json!({"providerOverride": overlay}))
}

fn targets(graph: &Value) -> Vec<&Value> {
    let places = ["", "/components/0", "/components/1", "/components/1/roles/0", "/components/1/roles/1"];
    places.iter().map(|place| &graph["spec"].pointer(place).unwrap()["providerOverride"]["target"]).collect()
}

#[test]
fn overrides_get_the_target_of_their_place() {
    let graph = created(&overridden("grove.io/v1alpha1"));
    let set = json!("PodCliqueSet");
    let (group, clique) = (json!("PodCliqueScalingGroupConfig"), json!("PodCliqueTemplateSpec"));
    assert_eq!(targets(&graph), [&set, &clique, &group, &clique, &Value::Null]);
}

#[test]
fn defaulting_changes_nothing_the_second_time_and_the_result_is_admitted() {
    let mut graph = overridden("grove.io/v1alpha1");
    graph["spec"]["providerOverride"]["value"] = json!({"spec": {"template": {"topologyConstraint": {}}}});
    graph["spec"]["components"][1]["roles"][1]["name"] = "worker".into();
    let once = created(&graph);
    assert_eq!(created(&once), once);
    assert_eq!(changed(&once).patched(), once);
    assert_silent(&create_in(&cluster(), &once));
}

#[test]
fn what_the_types_do_not_know_stays() {
    let mut graph = plain();
    graph["spec"]["lpx"] = json!({"buildId": "7"});
    graph["spec"]["components"][0]["podTemplate"]["spec"]["hostNetwork"] = true.into();
    graph["spec"]["components"][0]["dynamoSidecar"] = "x".into();
    let defaulted = created(&graph);
    assert_eq!(defaulted["spec"]["lpx"], graph["spec"]["lpx"]);
    assert_eq!(defaulted["spec"]["components"][0]["podTemplate"], graph["spec"]["components"][0]["podTemplate"]);
    assert_eq!(defaulted["spec"]["components"][0]["dynamoSidecar"], "x");
}
