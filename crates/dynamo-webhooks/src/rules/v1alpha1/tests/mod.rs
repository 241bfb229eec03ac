//! What the tests of v1alpha1 objects share: requests to the real webhooks.

#![allow(clippy::needless_pass_by_value, reason = "tests write their objects where they use them")]

mod defaults;
mod fields;
mod paths;
mod preserved;
mod properties;
mod runtimes;

use gateward_core::testing::{Findings, TestRequest};
use gateward_core::{Issue, Severity};
use serde_json::{Value, json};

use crate::operator::facts::ClusterFacts;

/// `base` with these members beside or in place of its own.
pub fn with(mut base: Value, members: Value) -> Value {
    for (name, value) in members.as_object().cloned().unwrap_or_default() {
        base[name] = value;
    }
    base
}

/// A worker that nothing is wrong with, with these members.
pub fn worker(members: Value) -> Value {
    with(json!({"componentType": "worker", "extraPodSpec": image("engine:1.4.2")}), members)
}

/// An endpoint picker with this image and these members.
pub fn picker(tag: &str, members: Value) -> Value {
    with(json!({"componentType": "epp", "extraPodSpec": image(&format!("picker:{tag}"))}), members)
}

/// A pod whose main container has this image.
pub fn image(reference: &str) -> Value {
    json!({"mainContainer": {"image": reference}})
}

/// A graph with this spec.
pub fn graph(spec: Value) -> Value {
    json!({
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoGraphDeployment",
        "metadata": {"name": "sea.otter", "namespace": "tidepool", "annotations": {}},
        "spec": spec,
    })
}

/// A graph with one service, called `drum`.
pub fn drum(service: Value) -> Value {
    graph(json!({"services": {"drum": service}}))
}

/// A standalone component with this spec.
pub fn component(spec: Value) -> Value {
    json!({
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoComponentDeployment",
        "metadata": {"name": "drum", "namespace": "tidepool"},
        "spec": spec,
    })
}

/// What comes of a request on a cluster that these facts are true of.
pub fn on(facts: Value, ask: impl FnOnce(TestRequest) -> Findings) -> Findings {
    let webhooks = crate::webhooks();
    ask(TestRequest::of(&webhooks).facts(ClusterFacts::from_document(&facts).unwrap()))
}

/// The findings on a new object, as `RULE path`, in order; a warning says so.
pub fn created(object: Value) -> Vec<String> {
    listed(&on(json!({}), |trial| trial.create(&object)))
}

/// The findings on a change.
pub fn updated(old: Value, new: Value) -> Vec<String> {
    listed(&on(json!({}), |trial| trial.update(&old, &new)))
}

fn listed(findings: &Findings) -> Vec<String> {
    let line = |Issue { rule, path, severity, .. }: &Issue| match severity {
        Severity::Error => format!("{rule} {path}"),
        other => format!("{} {rule} {path}", other.as_str()),
    };
    findings.answer().decision.issues.iter().map(line).collect()
}
