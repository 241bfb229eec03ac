//! Requests there and back.

mod arbitrary;
mod notes;
mod properties;
mod provenance;

use dynamo_api::{v1alpha1, v1beta1};
use gateward::json::patch::same_value;
use gateward::{Webhook, Webhooks};
use serde_json::{Map, Value, json};

use super::DeploymentRequestConversion;
use crate::testing;

/// The object in v1beta1.
fn lifted(object: &Value) -> Value {
    noted(object, true).0
}

/// The object in v1alpha1.
fn lowered(object: &Value) -> Value {
    noted(object, false).0
}

/// The converted object and the paths of what was noted.
fn noted(object: &Value, up: bool) -> (Value, Vec<String>) {
    let (from, to) = if up { ("v1alpha1", "v1beta1") } else { ("v1beta1", "v1alpha1") };
    let mut object = object.clone();
    object["apiVersion"] = format!("nvidia.com/{from}").into();
    object["kind"] = "DynamoGraphDeploymentRequest".into();
    let kind = Webhook::<v1beta1::DynamoGraphDeploymentRequest>::new();
    let webhooks = Webhooks::new()
        .with_annotation_prefix("gateward.dev")
        .register(kind.spoke::<v1alpha1::DynamoGraphDeploymentRequest>(DeploymentRequestConversion));
    let converted = webhooks.convert(&object.to_string(), &format!("nvidia.com/{to}")).unwrap();
    let paths = converted.issues.iter().map(|issue| issue.path.to_string()).collect();
    (serde_json::from_str(&converted.json).unwrap(), paths)
}

fn alpha(spec: &Value) -> Value {
    object("v1alpha1", spec)
}

fn beta(spec: &Value) -> Value {
    object("v1beta1", spec)
}

fn object(version: &str, spec: &Value) -> Value {
    let metadata = json!({"name": "otter", "namespace": "tidepool"});
    testing::object(version, "DynamoGraphDeploymentRequest", metadata, spec.clone())
}

/// A v1alpha1 request with this configuration.
fn configured(config: &Value) -> Value {
    alpha(&json!({"model": "m", "profilingConfig": {"profilerImage": "p:1", "config": config}}))
}

/// What the operator's annotation of the spec holds.
fn kept_spec(object: &Value) -> Value {
    kept(object, "nvidia.com/dgdr-spec").get("spec").cloned().unwrap_or_default()
}

fn kept(object: &Value, annotation: &str) -> Value {
    let text = object["metadata"]["annotations"][annotation].as_str();
    text.map(|text| serde_json::from_str(text).unwrap()).unwrap_or_default()
}

fn annotations(object: &Value) -> Vec<&str> {
    object["metadata"]["annotations"]
        .as_object()
        .map(|all| all.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

/// The object as conversions compare it: numbers by value, and what is empty like what is absent.
fn meaning(object: &Value) -> Value {
    match object {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(meaning).collect(),
        Value::Object(members) => {
            let said = members.iter().map(|(name, value)| (name.clone(), meaning(value)));
            Value::Object(said.filter(|(_, value)| !is_empty(value)).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    [json!(null), json!([]), json!({}), json!(""), json!(false)].contains(value)
}

#[track_caller]
fn assert_returns(object: &Value) {
    let up = object["apiVersion"] == "nvidia.com/v1alpha1";
    let there = noted(object, up).0;
    let (back, notes) = noted(&there, !up);
    for part in ["spec", "status"] {
        let (back, was) = (&back[part], exact(object, part));
        assert!(same_value(back, &was), "{back:#} was {was:#}, through {there:#}");
    }
    assert_eq!(notes, [""; 0]);
}

/// What the types read of the object and write again.
fn exact(object: &Value, part: &str) -> Value {
    let text = object.to_string();
    let read = if object["apiVersion"] == "nvidia.com/v1alpha1" {
        serde_json::from_str(&text)
            .and_then(|read: v1alpha1::DynamoGraphDeploymentRequest| serde_json::to_string(&read))
    } else {
        serde_json::from_str(&text).and_then(|read: v1beta1::DynamoGraphDeploymentRequest| serde_json::to_string(&read))
    };
    serde_json::from_str::<Value>(&read.unwrap()).unwrap()[part].clone()
}
