use dynamo_api::constants::{ENABLE_GROVE, ORIGIN_VERSION, WORKLOAD_PROVIDER};
use gateward_core::testing::{Findings, TestRequest};
use serde_json::{Value, json};

use super::{annotated, assert_silent, create_in, facts, graph, webhooks, worker};

fn plain() -> Value {
    graph(json!([worker("a", &json!({}))]), json!({}))
}

fn cluster(grove: bool) -> Value {
    json!({"groveEnabled": grove, "operatorVersion": "1.4.7"})
}

fn created_in(cluster: &Value, graph: &Value) -> Value {
    TestRequest::of(&webhooks()).facts(facts(cluster)).default(graph).patched()
}

fn created(graph: &Value) -> Value {
    created_in(&cluster(true), graph)
}

fn changed(graph: &Value) -> Findings {
    TestRequest::of(&webhooks()).facts(facts(&cluster(true))).default_update(graph, graph)
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
fn the_provider_follows_the_gate_and_the_opt_out_whatever_the_user_sent() {
    let provider =
        |grove: bool, graph: &Value| annotation(&created_in(&cluster(grove), graph), WORKLOAD_PROVIDER).clone();
    assert_eq!(provider(true, &annotated(plain(), WORKLOAD_PROVIDER, "component")), "grove");
    assert_eq!(provider(false, &annotated(plain(), WORKLOAD_PROVIDER, "grove")), "component");
    assert_eq!(provider(true, &annotated(plain(), WORKLOAD_PROVIDER, "nonsense")), "grove");
    assert_eq!(provider(true, &annotated(plain(), ENABLE_GROVE, "False")), "component");
    assert_eq!(provider(true, &annotated(plain(), ENABLE_GROVE, "no")), "grove");
}

#[test]
fn without_grove_nothing_must_be_available() {
    let graph = created_in(&cluster(false), &plain());
    assert_eq!(graph["spec"]["components"][0]["replicas"], 1);
    assert!(graph["spec"]["components"][0].get("minAvailable").is_none());
}

#[test]
fn what_the_user_said_stays() {
    let stated = json!({"replicas": 0, "minAvailable": 0});
    let graph = annotated(graph(json!([worker("a", &stated)]), json!({})), ORIGIN_VERSION, "");
    let graph = created(&graph);
    assert_eq!(annotation(&graph, ORIGIN_VERSION), "");
    assert_eq!(graph["spec"]["components"][0]["replicas"], 0);
    assert_eq!(graph["spec"]["components"][0]["minAvailable"], 0);
}

#[test]
fn zero_replicas_still_get_a_minimum() {
    let graph = created(&graph(json!([worker("a", &json!({"replicas": 0}))]), json!({})));
    assert_eq!(graph["spec"]["components"][0]["replicas"], 0);
    assert_eq!(graph["spec"]["components"][0]["minAvailable"], 1);
}

#[test]
fn an_update_notes_neither_provider_nor_origin() {
    let graph = changed(&plain()).patched();
    assert!(graph["metadata"].get("annotations").is_none());
    assert_eq!(graph["spec"]["components"][0]["replicas"], 1);
    assert!(graph["spec"]["components"][0].get("minAvailable").is_none());
}

#[test]
fn an_update_asks_the_noted_provider_not_the_gate() {
    let on_grove = annotated(plain(), WORKLOAD_PROVIDER, "grove");
    let findings = TestRequest::of(&webhooks()).facts(facts(&cluster(false))).default_update(&on_grove, &on_grove);
    assert_eq!(findings.patched()["spec"]["components"][0]["minAvailable"], 1);
    let plainly = annotated(plain(), WORKLOAD_PROVIDER, "component");
    assert!(changed(&plainly).patched()["spec"]["components"][0].get("minAvailable").is_none());
}

#[test]
fn a_terminating_graph_is_left_as_it_is_on_updates_only() {
    let mut graph = annotated(plain(), WORKLOAD_PROVIDER, "grove");
    graph["metadata"]["deletionTimestamp"] = "2026-05-01T10:00:00Z".into();
    assert_eq!(changed(&graph).patched(), graph);
    assert_eq!(created(&graph)["spec"]["components"][0]["replicas"], 1);
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
fn an_override_that_grove_will_not_take_gets_no_target() {
    let untouched = vec![&Value::Null; 5];
    assert_eq!(targets(&created(&overridden("grove.io/v2"))), untouched);
    assert_eq!(targets(&created_in(&cluster(false), &overridden("grove.io/v1alpha1"))), untouched);
    assert_eq!(targets(&changed(&overridden("grove.io/v1alpha1")).patched()), untouched);
}

#[test]
fn a_target_that_is_there_stays() {
    let graph =
        graph(json!([worker("a", &json!({}))]), json!({"providerOverride": overlay("grove.io/v1alpha1", &json!("x"))}));
    assert_eq!(created(&graph)["spec"]["providerOverride"]["target"], "x");
}

#[test]
fn roles_get_the_replicas_that_their_nodes_give() {
    let roles = json!([{"name": "worker"}, {"name": "leader"}, {"name": "scout"}, {"name": "worker", "replicas": 9}]);
    let wide = worker("a", &json!({"multinode": {"nodeCount": 4}, "roles": roles}));
    let narrow = worker("b", &json!({"roles": [{"name": "leader"}]}));
    let graph = changed(&graph(json!([wide, narrow]), json!({}))).patched();
    let replicas = |pointer: &str| graph.pointer(pointer).cloned();
    assert_eq!(replicas("/spec/components/0/roles/0/replicas"), Some(json!(3)));
    assert_eq!(replicas("/spec/components/0/roles/1/replicas"), Some(json!(1)));
    assert_eq!(replicas("/spec/components/0/roles/2/replicas"), None);
    assert_eq!(replicas("/spec/components/0/roles/3/replicas"), Some(json!(9)));
    assert_eq!(replicas("/spec/components/1/roles/0/replicas"), None);
}

#[test]
fn defaulting_changes_nothing_the_second_time_and_the_result_is_admitted() {
    let mut graph = overridden("grove.io/v1alpha1");
    graph["spec"]["providerOverride"]["value"] = json!({"spec": {"template": {"topologyConstraint": {}}}});
    graph["spec"]["components"][1]["roles"][1]["name"] = "worker".into();
    let once = created(&graph);
    assert_eq!(created(&once), once);
    assert_eq!(changed(&once).patched(), once);
    assert_silent(&create_in(&cluster(true), &once));
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
