use std::time::{Duration, Instant};

use gateward_core::issue::MOST_ISSUES;
use serde_json::{Value, json};

use super::{create, denied_by, graph, update, worker};

/// Generous even for a debug build on a busy machine; what grows with the square of the input takes minutes.
const PATIENCE: Duration = Duration::from_secs(20);

fn names(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("c{index}")).collect()
}

fn many(names: &[String]) -> Value {
    names.iter().map(|name| json!({"name": name})).collect()
}

#[test]
fn lists_of_any_length_are_judged_in_time() {
    let names = names(20_000);
    let order: Vec<String> = names.iter().map(|name| format!("x{name}")).collect();
    let old = graph(many(&names), json!({}));
    let new = graph(many(&order), json!({"restart": {"id": "x", "strategy": {"order": names}}}));
    let start = Instant::now();
    assert_eq!(denied_by(&create(&new)).len(), MOST_ISSUES);
    assert_eq!(denied_by(&update(&old, &new)).len(), MOST_ISSUES);
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
}

#[test]
fn components_of_the_same_name_are_each_judged() {
    let twice = graph(json!([worker("a", &json!({})), worker("a", &json!({"minAvailable": 1}))]), json!({}));
    create(&twice).assert_allowed();
    update(&twice, &twice).assert_allowed();
}

#[test]
fn numbers_at_the_ends_of_their_range_are_judged_like_others() {
    for count in [i32::MIN, -1, 0, i32::MAX] {
        let members = json!({
            "replicas": count,
            "minAvailable": count,
            "multinode": {"nodeCount": count},
            "roles": [{"name": "leader", "replicas": count}, {"name": "worker"}],
            "experimental": {
                "gpuMemoryService": {"mode": "InterPod"},
                "failover": {"mode": "InterPod", "numShadows": count},
            },
        });
        let graph = graph(json!([worker("a", &members)]), json!({}));
        assert!(!denied_by(&create(&graph)).is_empty());
        assert!(!denied_by(&update(&graph, &graph)).is_empty());
        let registry = super::registry();
        let defaulted = gateward_core::testing::Trial::of(&registry).default(&graph);
        assert_eq!(defaulted.patched()["spec"]["components"][0]["replicas"], count);
    }
}

#[test]
fn members_of_the_wrong_type_are_findings() {
    for (pointer, value) in [
        ("/spec/components", json!("x")),
        ("/spec/components/0/replicas", json!("2")),
        ("/spec/components/0/podTemplate/metadata", json!([])),
        ("/spec/components/0/podTemplate/spec/containers", json!({})),
        ("/spec/restart", json!(3)),
        ("/spec/topologyConstraint", json!("rack")),
        ("/metadata/annotations", json!({"a": 1})),
    ] {
        let members = json!({"restart": {"id": "x"}, "topologyConstraint": {}});
        let mut graph = graph(json!([worker("a", &json!({"replicas": 1, "podTemplate": {"metadata": {}}}))]), members);
        graph["metadata"]["annotations"] = json!({});
        *graph.pointer_mut(pointer).unwrap() = value;
        let found = denied_by(&create(&graph));
        assert!(found.iter().any(|finding| finding.starts_with("DECODE ")), "{pointer}: {found:?}");
    }
}
