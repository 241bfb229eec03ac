//! Requests and facts for the tests of this folder.

use gateward::Rule;
use gateward::testing::Findings;
use serde_json::{Value, json};

use crate::testing;

/// A v1beta1 request that every rule accepts, with `changes` to its spec; `null` takes a member away.
pub(super) fn beta(changes: &Value) -> Value {
    let spec = json!({"model": "acme/otter-7b", "backend": "vllm", "image": "example.net/planner:1.4.0"});
    object("v1beta1", spec, changes)
}

/// The same in v1alpha1.
pub(super) fn alpha(changes: &Value) -> Value {
    let profiling = json!({"profilerImage": "example.net/profiler:1.4.0", "config": {"sla": {"ttft": 250.0}}});
    let spec = json!({"model": "acme/otter-7b", "backend": "vllm", "profilingConfig": profiling});
    object("v1alpha1", spec, changes)
}

/// A v1alpha1 request with this configuration for the profiler.
pub(super) fn configured(config: &Value) -> Value {
    let mut request = alpha(&json!({}));
    request["spec"]["profilingConfig"]["config"] = config.clone();
    request
}

fn object(version: &str, spec: Value, changes: &Value) -> Value {
    let metadata = json!({"name": "otter", "namespace": "river"});
    testing::object(version, "DynamoGraphDeploymentRequest", metadata, testing::with(spec, changes.clone()))
}

/// The request with this status.
pub(super) fn with_status(mut request: Value, status: Value) -> Value {
    request["status"] = status;
    request
}

/// The v1beta1 request in this phase.
pub(super) fn in_phase(request: Value, phase: &str) -> Value {
    with_status(request, json!({"phase": phase}))
}

/// What an operator that finds out about GPUs says.
pub(super) fn create(object: &Value) -> Findings {
    create_with(&json!({"clusterWide": true}), object)
}

/// What an operator that doesn't find out about GPUs says.
pub(super) fn create_blind(object: &Value) -> Findings {
    create_with(&json!({}), object)
}

pub(super) fn create_with(facts: &Value, object: &Value) -> Findings {
    testing::on(facts, |request| request.create(object))
}

pub(super) fn update(old: &Value, new: &Value) -> Findings {
    update_with(&json!({"clusterWide": true}), old, new)
}

pub(super) fn update_with(facts: &Value, old: &Value, new: &Value) -> Findings {
    testing::on(facts, |request| request.update(old, new))
}

pub(super) fn default_with(facts: &Value, object: &Value) -> Findings {
    testing::on(facts, |request| request.default(object))
}

/// Demands one denial, by this rule at this path.
#[track_caller]
pub(super) fn assert_only(findings: &Findings, rule: &Rule, path: &str) {
    findings.only(&[rule]).by(rule).at(path);
}
