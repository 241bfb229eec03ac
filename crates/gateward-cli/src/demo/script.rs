//! The example manifests, and the verdict that each was written for.

use anyhow::Context as _;
use gateward::yaml;
use serde_json::{Value, json};

/// One manifest.
pub struct DemoStep {
    /// The name of its file.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
    /// The verdict that it was written for.
    pub expected: Expected,
}

/// A verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Allowed,
    Denied,
}

macro_rules! step {
    ($file:literal, $expected:ident) => {
        DemoStep { file: $file, text: include_str!(concat!("manifests/", $file)), expected: Expected::$expected }
    };
}

/// The demonstration, in order. A manifest whose object was allowed before is an update of it.
pub const STEPS: &[DemoStep] = &[
    step!("01-graph.yaml", Allowed),
    step!("02-graph-scaled-by-hand.yaml", Denied),
    step!("03-graph-v1alpha1.yaml", Allowed),
    step!("04-graph-with-faults.yaml", Denied),
    step!("05-component.yaml", Allowed),
    step!("06-component-other-engine.yaml", Denied),
    step!("07-request.yaml", Allowed),
    step!("08-request-thorough.yaml", Denied),
    step!("09-model.yaml", Allowed),
    step!("10-model-from-the-web.yaml", Denied),
];

impl DemoStep {
    /// The object of the manifest.
    pub fn object(&self) -> anyhow::Result<Value> {
        let document = yaml::read(self.text).documents.into_iter().next();
        Ok(document.context("the manifest holds no object")?.value)
    }
}

/// A path and a review for a reader's own first request.
pub fn review_to_try() -> anyhow::Result<(&'static str, String)> {
    let object = STEPS.last().context("there are steps")?.object()?;
    let review = json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": {"group": "nvidia.com", "version": "v1alpha1", "kind": "DynamoModel"},
            "operation": "CREATE",
            "namespace": "zoo",
            "object": object,
        }
    });
    Ok(("/validate-nvidia-com-v1alpha1-dynamomodel", serde_json::to_string_pretty(&review)?))
}
