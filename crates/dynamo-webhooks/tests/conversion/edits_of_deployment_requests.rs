//! Staged edits of section 10 on the status of a DynamoGraphDeploymentRequest.

use serde_json::{Value, json};

use crate::edits::{absent, said};
use crate::kinds::converted;

fn request(version: &str, status: Value) -> Value {
    let spec = match version {
        "v1alpha1" => {
            json!({"model": "acme/otter-7b", "backend": "vllm", "profilingConfig": {"profilerImage": "r/prof:1"}})
        }
        _ => json!({"model": "acme/otter-7b", "backend": "vllm", "autoApply": true}),
    };
    json!({
        "apiVersion": format!("nvidia.com/{version}"), "kind": "DynamoGraphDeploymentRequest",
        "metadata": {"name": "otter-req", "namespace": "tidepool"}, "spec": spec, "status": status,
    })
}

#[test]
fn e_12_a_deployed_phase_is_not_of_another_graph() {
    let mut there = converted(&request("v1beta1", json!({"phase": "Deployed", "dgdName": "otter"})), "v1alpha1");
    there["status"]["deployment"]["name"] = "gull".into();
    let back = converted(&there, "v1beta1");
    said(&back, "$.status.phase", &json!("Ready"));
    said(&back, "$.status.dgdName", &json!("gull"));
}

#[test]
fn e_13_profiling_is_over_when_the_state_is_ready() {
    let profiling = json!({"phase": "Profiling", "profilingPhase": "SweepingDecode", "profilingJobName": "otter-job"});
    let mut there = converted(&request("v1beta1", profiling), "v1alpha1");
    there["status"]["state"] = "Ready".into();
    let back = converted(&there, "v1beta1");
    said(&back, "$.status.phase", &json!("Ready"));
    absent(&back, "$.status.profilingPhase");
    absent(&back, "$.status.profilingJobName");
}

#[test]
fn e_14_replicas_of_another_graph_are_dropped() {
    let deployed =
        json!({"phase": "Deployed", "dgdName": "otter", "deploymentInfo": {"replicas": 3, "availableReplicas": 2}});
    let mut there = converted(&request("v1beta1", deployed), "v1alpha1");
    there["status"]["deployment"]["name"] = "gull".into();
    let back = converted(&there, "v1beta1");
    absent(&back, "$.status.deploymentInfo");
    said(&back, "$.status.dgdName", &json!("gull"));
}

#[test]
fn e_16_an_empty_state_counts_as_pending() {
    let there = converted(&request("v1alpha1", json!({"state": ""})), "v1beta1");
    said(&there, "$.status.phase", &json!("Pending"));
    let back = converted(&there, "v1alpha1");
    let state = back["status"]["state"].as_str().unwrap_or_default();
    assert!(matches!(state, "" | "Pending"), "{back}");
}
