//! The status: states, phases and what belongs to them.

use serde_json::{Value, json};

use super::{alpha, annotations, assert_returns, beta, kept_status, lifted, lowered, noted, with};

const STATUS: &str = "nvidia.com/dgdr-status";

fn spoke(status: &Value) -> Value {
    let mut object = alpha(&json!({"model": "m", "autoApply": true, "profilingConfig": {"profilerImage": "p:1"}}));
    object["status"] = status.clone();
    object
}

fn hub(status: &Value) -> Value {
    let mut object = beta(&json!({"model": "m", "autoApply": true}));
    object["status"] = status.clone();
    object
}

#[test]
fn every_state_has_a_phase() {
    for (state, phase) in [
        ("", "Pending"),
        ("Pending", "Pending"),
        ("Initializing", "Pending"),
        ("Wandering", "Pending"),
        ("Profiling", "Profiling"),
        ("Ready", "Ready"),
        ("Deploying", "Deploying"),
        ("DeploymentDeleted", "Ready"),
        ("Failed", "Failed"),
    ] {
        let object = spoke(&json!({"state": state}));
        assert_eq!(lifted(&object)["status"]["phase"], phase, "{state}");
        if !state.is_empty() {
            assert_returns(&object);
        }
    }
    let made = spoke(&json!({"state": "Ready", "deployment": {"name": "g", "created": true}}));
    assert_eq!(lifted(&made)["status"]["phase"], "Deployed");
    assert_returns(&made);
}

#[test]
fn every_phase_has_a_state() {
    for (phase, state) in [
        ("", "Pending"),
        ("Pending", "Pending"),
        ("Wandering", "Pending"),
        ("Profiling", "Profiling"),
        ("Ready", "Ready"),
        ("Deploying", "Deploying"),
        ("Deployed", "Ready"),
        ("Failed", "Failed"),
    ] {
        let object = hub(&json!({"phase": phase, "dgdName": "g"}));
        assert_eq!(lowered(&object)["status"]["state"], state, "{phase}");
        if !phase.is_empty() && phase != "Wandering" {
            assert_returns(&object);
        }
    }
}

#[test]
fn a_request_without_a_status_gets_none() {
    assert_eq!(lifted(&alpha(&json!({}))).get("status"), None);
    assert_eq!(lowered(&beta(&json!({}))).get("status"), None);
}

#[test]
fn a_deployment_that_is_only_named_was_not_made() {
    let there = lowered(&hub(&json!({"phase": "Deployed", "dgdName": "g"})));
    assert_eq!(there["status"], json!({"state": "Ready", "deployment": {"name": "g"}}));
    assert_eq!(kept_status(&there), json!({"phase": "Deployed", "dgdName": "g"}));
}

#[test]
fn what_v1beta1_cannot_say_is_kept() {
    let status = json!({
        "state": "DeploymentDeleted", "backend": "vllm", "profilingResults": "configmap/c",
        "deployment": {"name": "g", "namespace": "n", "state": "successful", "created": true},
    });
    assert_eq!(kept_status(&lifted(&spoke(&status))), status);
    assert_returns(&spoke(&status));
    let named = lifted(&spoke(&json!({"state": "Ready", "deployment": {"name": "g"}})));
    assert_eq!(annotations(&named), [""; 0]);
}

#[test]
fn an_empty_message_of_a_condition_is_not_an_absent_one() {
    let conditions = json!([{"type": "Profiling", "status": "True", "reason": "Done", "message": ""}]);
    assert_eq!(lifted(&spoke(&json!({"conditions": conditions})))["status"]["conditions"], conditions);
    assert_eq!(lowered(&hub(&json!({"conditions": conditions})))["status"]["conditions"], conditions);
}

#[test]
fn a_kept_state_stands_while_the_phase_does() {
    let initializing = lifted(&spoke(&json!({"state": "Initializing"})));
    let moved = |phase: &str| {
        let mut object = initializing.clone();
        object["status"]["phase"] = phase.into();
        lowered(&object)["status"]["state"].clone()
    };
    assert_eq!(moved("Pending"), "Initializing");
    assert_eq!(moved("Profiling"), "Profiling");
}

#[test]
fn a_deleted_deployment_is_that_of_the_same_name() {
    let mut object =
        lifted(&spoke(&json!({"state": "DeploymentDeleted", "deployment": {"name": "g", "created": true}})));
    object["status"]["dgdName"] = "h".into();
    assert_eq!(lowered(&object)["status"], json!({"state": "Ready", "deployment": {"name": "h"}}));
}

#[test]
fn a_ready_deployment_returns_when_its_graph_is_deployed() {
    let deployment = json!({"name": "g", "namespace": "n", "state": "pending"});
    let mut object = lifted(&spoke(&json!({"state": "Ready", "deployment": deployment})));
    object["status"]["phase"] = "Deployed".into();
    let there = lowered(&object);
    assert_eq!(there["status"], json!({"state": "Ready", "deployment": deployment}));
    assert_eq!(lifted(&there)["status"]["phase"], "Deployed");
}

#[test]
fn a_deployment_that_was_made_is_not_when_the_phase_says_ready() {
    let made = json!({"name": "g", "namespace": "n", "created": true});
    let mut object = lifted(&spoke(&json!({"state": "Ready", "deployment": made})));
    object["status"]["phase"] = "Ready".into();
    let there = lowered(&object);
    assert_eq!(there["status"]["deployment"], json!({"name": "g", "namespace": "n"}));
    assert_eq!(lifted(&there)["status"]["phase"], "Ready");
}

#[test]
fn results_of_the_same_name_are_not_the_same() {
    let object =
        spoke(&json!({"state": "Ready", "profilingResults": "configmap/c", "generatedDeployment": {"kind": "G"}}));
    let there = lifted(&object);
    assert_eq!(there["status"]["profilingResults"], json!({"selectedConfig": {"kind": "G"}}));
    assert_eq!(kept_status(&there), json!({"profilingResults": "configmap/c"}));
    assert_returns(&object);
}

#[test]
fn what_v1alpha1_cannot_say_is_kept() {
    let status = json!({
        "phase": "Profiling", "profilingPhase": "SweepingDecode", "profilingJobName": "j", "dgdName": "g",
        "profilingResults": {"pareto": [{"config": {"a": 1}}]}, "deploymentInfo": {"replicas": 2},
    });
    let mut kept = status.clone();
    kept.as_object_mut().unwrap().remove("phase");
    assert_eq!(kept_status(&lowered(&hub(&status))), kept);
    assert_returns(&hub(&status));
}

#[test]
fn the_profiling_of_a_request_that_is_no_longer_profiled_does_not_return() {
    let object = hub(&json!({"phase": "Ready", "profilingPhase": "Done", "profilingJobName": "j", "dgdName": "g"}));
    assert_eq!(lifted(&lowered(&object))["status"], json!({"phase": "Ready", "dgdName": "g"}));
}

#[test]
fn e_12_the_phase_of_another_graph_is_not_restored() {
    let mut there = lowered(&hub(&json!({"phase": "Deployed", "dgdName": "x"})));
    there["status"]["deployment"]["name"] = "y".into();
    assert_eq!(lifted(&there)["status"], json!({"phase": "Ready", "dgdName": "y"}));
}

#[test]
fn e_13_the_profiling_of_a_ready_request_is_not_restored() {
    let kept = r#"{"profilingPhase": "SweepingPrefill", "profilingJobName": "j"}"#;
    let back = lifted(&with(spoke(&json!({"state": "Ready"})), STATUS, kept));
    assert_eq!(back["status"], json!({"phase": "Ready"}));
}

#[test]
fn e_14_replicas_of_another_graph_are_not_restored() {
    let kept = r#"{"dgdName": "x", "deploymentInfo": {"replicas": 2}}"#;
    let of = |name: &str| {
        let object = spoke(&json!({"state": "Ready", "deployment": {"name": name}}));
        lifted(&with(object, STATUS, kept))["status"].get("deploymentInfo").cloned()
    };
    assert_eq!(of("y"), None);
    assert_eq!(of("x"), Some(json!({"replicas": 2})));
}

#[test]
fn e_16_an_empty_state_is_pending() {
    let there = lifted(&spoke(&json!({"state": "", "backend": "vllm"})));
    assert_eq!(there["status"]["phase"], "Pending");
    assert_eq!(kept_status(&there), json!({"backend": "vllm"}));
    assert_eq!(lowered(&there)["status"], json!({"state": "Pending", "backend": "vllm"}));
}

#[test]
fn a_deployed_phase_does_not_outlive_the_deletion_of_its_graph() {
    let mut there = lowered(&hub(&json!({"phase": "Deployed", "dgdName": "x"})));
    there["status"]["state"] = "DeploymentDeleted".into();
    assert_eq!(lifted(&there)["status"]["phase"], "Ready");
}

#[test]
fn an_unreadable_status_is_dropped_with_a_note() {
    for text in ["{", "[]", "5", r#"{"phase": 5}"#, r#"{"deployment": []}"#] {
        let status = json!({"state": "Ready"});
        let (there, notes) = noted(&with(spoke(&status), STATUS, text), true);
        assert_eq!((&there["status"], annotations(&there).len()), (&json!({"phase": "Ready"}), 0), "{text}");
        assert!(text.contains("deployment") || notes == ["metadata.annotations[nvidia.com/dgdr-status]"], "{text}");
        let (there, _) = noted(&with(hub(&json!({"phase": "Ready"})), STATUS, text), false);
        assert_eq!(there["status"], status, "{text}");
    }
}
