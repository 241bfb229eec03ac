use gateward::MOST_ISSUES;
use serde_json::{Value, json};

use super::{create, denied_by, graph, on, update, worker};

fn names(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("c{index}")).collect()
}

fn many(names: &[String]) -> Value {
    names.iter().map(|name| json!({"name": name})).collect()
}

#[test]
fn of_a_list_of_any_length_a_bounded_number_of_findings_is_reported() {
    let (order, names) = (names(20_000), names(100));
    let old = graph(many(&names), json!({}));
    let others: Vec<String> = names.iter().map(|name| format!("x{name}")).collect();
    let new = graph(many(&others), json!({"restart": {"id": "x", "strategy": {"order": order}}}));
    assert_eq!(denied_by(&create(&new)).len(), MOST_ISSUES);
    assert_eq!(denied_by(&update(&old, &new)).len(), MOST_ISSUES);
}

#[test]
fn components_far_beyond_the_schemas_bound_are_the_only_finding() {
    let (some, many) = (graph(many(&names(100)), json!({})), graph(many(&names(101)), json!({"restart": 5})));
    assert_eq!(denied_by(&create(&many)), ["DECODE spec.components"]);
    assert!(!denied_by(&create(&some)).contains(&"DECODE spec.components".to_owned()));
    // A stored list may have any length, and is compared.
    let findings = update(&many, &graph(json!([worker("c0", &json!({}))]), json!({})));
    assert!(!findings.warnings().iter().any(|text| text.starts_with("spec.components of the stored object")));
    assert_eq!(denied_by(&findings), ["DGD-74 spec.components"]);
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
        let defaulted = on(&json!({}), |request| request.default(&graph));
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
