//! What the tests of v1alpha1 objects share: requests to the real webhooks.

#![allow(clippy::needless_pass_by_value, reason = "tests write their objects where they use them")]

mod defaults;
mod fields;
mod paths;
mod preserved;
mod properties;
mod runtimes;

use gateward::testing::Findings;
use serde_json::{Value, json};

use crate::testing::{create, listed, object, on, update, with};

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
    let metadata = json!({"name": "sea.otter", "namespace": "tidepool", "annotations": {}});
    object("v1alpha1", "DynamoGraphDeployment", metadata, spec)
}

/// A graph with one service, called `drum`.
pub fn drum(service: Value) -> Value {
    graph(json!({"services": {"drum": service}}))
}

/// A standalone component with this spec.
pub fn component(spec: Value) -> Value {
    object("v1alpha1", "DynamoComponentDeployment", json!({"name": "drum", "namespace": "tidepool"}), spec)
}

/// The findings on a new object, as `RULE path`, in order; a warning says so.
pub fn created(object: Value) -> Vec<String> {
    found(&create(&object))
}

/// The findings on a change.
pub fn updated(old: Value, new: Value) -> Vec<String> {
    found(&update(&old, &new))
}

fn found(findings: &Findings) -> Vec<String> {
    listed(&findings.answer().decision.issues)
}
