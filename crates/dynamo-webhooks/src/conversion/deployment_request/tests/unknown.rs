//! Fields that no version knows, and fields that only the other one does.

use serde_json::{Value, json};

use super::{alpha, beta};

fn converted(object: &Value, version: &str) -> Value {
    let converted = crate::webhooks().convert(&object.to_string(), &format!("nvidia.com/{version}")).unwrap();
    serde_json::from_str(&converted.json).unwrap()
}

fn with_status(mut object: Value, status: Value) -> Value {
    object["status"] = status;
    object
}

#[track_caller]
fn assert_survives(object: &Value, own: &str, other: &str) {
    let there = converted(object, other);
    assert_eq!(converted(&there, own), *object, "through {there:#}");
}

#[test]
fn those_of_v1alpha1_survive() {
    let spec = json!({
        "model": "m", "novel": 1, "image": "x", "sla": {"a": 1}, "autoApply": true,
        "profilingConfig": {
            "profilerImage": "p", "novel": 2, "configMapRef": {"name": "c", "novel": 3},
            "config": {"sla": {"ttft": 7, "novel": 4, "e2eLatency": 5}, "novel": 6, "workload": {"isl": 3}},
            "resources": {"limits": {"cpu": "1"}, "novel": 7}, "tolerations": [{"key": "a", "novel": 8}],
        },
        "deploymentOverrides": {"name": "n", "novel": 9},
    });
    let status = json!({
        "state": "Ready", "novel": 1, "deployment": {"name": "g", "created": true},
        "conditions": [{"type": "A", "status": "True", "novel": 3}], "generatedDeployment": {"novel": 4},
    });
    let object = with_status(alpha(&spec), status);
    let there = converted(&object, "v1beta1");
    assert_eq!((&there["spec"]["novel"], &there["status"]["novel"]), (&json!(1), &json!(1)));
    assert_eq!(there["status"]["conditions"][0]["novel"], 3);
    assert_eq!((&there["spec"]["image"], &there["status"]["phase"]), (&json!("p"), &json!("Deployed")));
    assert_eq!(there["spec"]["sla"], json!({"ttft": 7}));
    assert_survives(&object, "v1alpha1", "v1beta1");
}

#[test]
fn those_of_v1beta1_survive() {
    let spec = json!({
        "model": "m", "novel": 1, "useMocker": true, "profilingConfig": {"profilerImage": "x"}, "autoApply": true,
        "sla": {"ttft": 1, "novel": 2}, "workload": {"isl": 1, "novel": 3}, "modelCache": {"pvcName": "p", "novel": 4},
        "hardware": {"novel": 5}, "features": {"novel": 6, "mocker": {"enabled": true, "novel": 7}},
        "overrides": {"novel": 8, "profilingJob": {"novel": 9, "template": {"novel": 10, "spec": {"containers": [
            {"name": "profiler", "novel": 11, "resources": {"limits": {"cpu": "1"}, "novel": 12}},
        ]}}}},
    });
    let status = json!({
        "phase": "Profiling", "novel": 1, "profilingResults": {"pareto": [{"config": {"a": 1}}], "selectedConfig": {"b": 1}},
    });
    let object = with_status(beta(&spec), status);
    let there = converted(&object, "v1alpha1");
    assert_eq!(there["spec"]["novel"], 1);
    assert_eq!((&there["spec"]["useMocker"], &there["status"]["state"]), (&json!(true), &json!("Profiling")));
    assert_eq!(there["spec"]["profilingConfig"]["profilerImage"], "");
    assert_survives(&object, "v1beta1", "v1alpha1");
}

#[test]
fn in_a_status_those_without_a_place_are_lost_because_no_annotation_of_ours_touches_it() {
    let status = json!({"state": "Ready", "phase": "Failed", "deployment": {"name": "g", "novel": 2, "created": true}});
    let object = with_status(alpha(&json!({"model": "m"})), status);
    let back = converted(&converted(&object, "v1beta1"), "v1alpha1");
    assert_eq!(back["status"], json!({"state": "Ready", "deployment": {"name": "g", "created": true}}));
}
