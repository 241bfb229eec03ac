use dynamo_api::constants::{ENABLE_GROVE, GPU_POWER_LIMIT, GROVE_UPDATE_STRATEGY, ORIGIN_VERSION};
use serde_json::{Value, json};

use super::{annotated, assert_silent, create, denied_by, graph, worker};

fn plain() -> Value {
    graph(json!([worker("a", &json!({}))]), json!({}))
}

/// Creates a graph with one annotation.
fn with(key: &str, value: &str) -> Vec<String> {
    denied_by(&create(&annotated(plain(), key, value)))
}

#[test]
fn admits_a_graph_of_one_worker() {
    assert_silent(&create(&plain()));
}

#[test]
fn reads_the_origin_version_leniently() {
    for version in ["1.4.2", "v1", "v3.2", "1", "0.0", "1.2.3-rc.1+build.5", "1-beta", "1.2+7", "01.2.3", "1.2.3-x-y.0"]
    {
        assert_eq!(with(ORIGIN_VERSION, version), [""; 0], "{version}");
    }
    for version in [
        "",
        "v",
        "V1",
        "latest",
        "1.2.3.4",
        "1.",
        ".1",
        "1..2",
        " 1",
        "1.2.3-",
        "1.2.3+",
        "1.2.3-a..b",
        "1.2.3-01",
        "1.-2",
        "99999999999999999999",
    ] {
        let path = format!("DGD-40 metadata.annotations[{ORIGIN_VERSION}]");
        assert_eq!(with(ORIGIN_VERSION, version), [path], "{version}");
    }
}

#[test]
fn all_findings_come_in_the_order_of_the_rule_book() {
    let graph = json!({
        "apiVersion": "nvidia.com/v1beta1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "otter", "annotations": {ORIGIN_VERSION: "x", GROVE_UPDATE_STRATEGY: "y", ENABLE_GROVE: "false"}},
        "spec": {
            "providerOverride": {},
            "priorityClassName": "urgent",
            "components": [worker("a", &json!({
                "minAvailable": 1,
                "topologyConstraint": {"packDomain": "rack"},
                "podTemplate": {"metadata": {"annotations": {GPU_POWER_LIMIT: "0"}}},
            }))],
            "restart": {"strategy": {"order": ["b"]}},
            "experimental": {"kvTransferPolicy": {"clusterTopologyName": "A"}},
        },
    });
    let found = denied_by(&create(&graph));
    let rules: Vec<&str> = found.iter().map(|finding| finding.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(
        rules,
        ["DGD-40", "DGD-42", "OVR-02", "DGD-47", "DGD-53", "SHARED-40", "DGD-59", "DGD-64", "DGD-70", "DGD-71"]
    );
}
