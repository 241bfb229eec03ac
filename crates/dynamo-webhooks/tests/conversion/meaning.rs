//! What an object says in its version, for comparing it with what came back.

use serde_json::Value;

use crate::kinds::{ADAPTER, Kind, REQUEST};

/// What changes on the way though nothing is lost.
pub fn meaning(kind: &Kind, version: &str, object: &mut Value) {
    without_empty_ones(object, false_is_absent(kind, version));
    if kind.crd.kind == REQUEST.crd.kind && version == "v1beta1" && object["spec"]["autoApply"].is_null() {
        // Absent means true (5.1).
        object["spec"]["autoApply"] = true.into();
    }
    if kind.crd.kind == REQUEST.crd.kind {
        settle(&mut object["status"]);
    }
    if kind.crd.kind == ADAPTER.crd.kind && object["status"].is_object() && object["status"]["replicas"].is_null() {
        // v1alpha1 leaves a zero out, v1beta1 demands it (7).
        object["status"]["replicas"] = 0.into();
    }
}

/// A state that is none is Pending (E-16), a phase that is none too, and the profiling of a request belongs to the phase
/// Profiling (1.2): no annotation of ours keeps what the operator's own don't.
fn settle(status: &mut Value) {
    const PHASES: [&str; 6] = ["Pending", "Profiling", "Ready", "Deploying", "Deployed", "Failed"];
    let Some(status) = status.as_object_mut() else { return };
    if status.get("state").is_none_or(|state| state == "Pending") {
        status.remove("state");
    }
    if !status.get("phase").and_then(Value::as_str).is_some_and(|phase| PHASES[1..].contains(&phase)) {
        status.remove("phase");
    }
    if status.get("phase").is_none_or(|phase| phase != "Profiling") {
        status.remove("profilingPhase");
        status.remove("profilingJobName");
    }
}

/// Members whose types know no difference between false and absence.
fn false_is_absent(kind: &Kind, version: &str) -> &'static [&'static str] {
    match (kind.crd.kind == REQUEST.crd.kind, version) {
        (true, "v1alpha1") => &["autoApply", "created", "useMocker"],
        (true, _) => &["enabled", "trustRemoteCode"],
        (false, _) => {
            &["disabled", "enabled", "globalDynamoNamespace", "ready", "useAsCompilationCache", "useVirtualService"]
        }
    }
}

/// An empty text is none, and so is false in these members.
fn without_empty_ones(value: &mut Value, flags: &[&str]) {
    match value {
        Value::Object(members) => {
            members.retain(|name, value| value != "" && (*value != false || !flags.contains(&name.as_str())));
            members.values_mut().for_each(|value| without_empty_ones(value, flags));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| without_empty_ones(item, flags)),
        _ => {}
    }
}
