//! What the tests of conversion share: objects of JSON, converted, and lifted with their traces. What becomes of an
//! object is shown by the cases and properties of the integration suite, `tests/conversion`.

#![allow(clippy::needless_pass_by_value, reason = "tests write their objects where they use them")]

mod adversarial;
pub(crate) mod arbitrary;
mod notes;
mod properties;
mod provenance;

use dynamo_api::{v1alpha1, v1beta1};
use gateward::{ConversionError, Convert, FieldPath, Issues, Provenance, Resource, Segment, Webhook, Webhooks};
use serde_json::{Value, json};

use super::{ComponentConversion, GraphConversion, ScalingAdapterConversion};
use crate::testing::object;

/// The object in `version` as its type reads it, with what was noted on the way.
pub fn convert(object: &Value, version: &str) -> Result<(Value, Issues), ConversionError> {
    let kind = object["kind"].as_str().unwrap();
    match kind {
        "DynamoGraphDeployment" => {
            by::<v1alpha1::DynamoGraphDeployment, v1beta1::DynamoGraphDeployment>(GraphConversion, object, version)
        }
        "DynamoComponentDeployment" => by::<v1alpha1::DynamoComponentDeployment, v1beta1::DynamoComponentDeployment>(
            ComponentConversion,
            object,
            version,
        ),
        "DynamoGraphDeploymentScalingAdapter" => by::<
            v1alpha1::DynamoGraphDeploymentScalingAdapter,
            v1beta1::DynamoGraphDeploymentScalingAdapter,
        >(ScalingAdapterConversion, object, version),
        other => panic!("no conversion of {other}"),
    }
}

fn by<S: Resource, H: Resource>(
    conversion: impl Convert<S, H>,
    object: &Value,
    version: &str,
) -> Result<(Value, Issues), ConversionError> {
    let webhooks =
        Webhooks::new().with_annotation_prefix("gateward.dev").register(Webhook::<H>::new().spoke::<S>(conversion));
    let converted = webhooks.convert(&object.to_string(), &format!("nvidia.com/{version}"))?;
    let read = if version == "v1beta1" {
        serde_json::to_value(serde_json::from_str::<H>(&converted.json).unwrap())
    } else {
        serde_json::to_value(serde_json::from_str::<S>(&converted.json).unwrap())
    };
    Ok((read.unwrap(), converted.issues))
}

/// A lifted object with what it was lifted from.
pub struct Lifted {
    pub written: Value,
    pub hub: Value,
    pub provenance: Provenance,
}

impl Lifted {
    /// Where the user wrote the node at this path of the hub's object.
    pub fn trace(&self, path: &str) -> String {
        self.provenance.trace(&parse(path)).to_string()
    }
}

/// Lifts a v1alpha1 graph with this spec.
pub fn graph(spec: Value) -> Lifted {
    graph_object(object("v1alpha1", "DynamoGraphDeployment", json!({"name": "otter", "namespace": "tidepool"}), spec))
}

/// Lifts a whole v1alpha1 graph.
pub fn graph_object(written: Value) -> Lifted {
    let graph: v1alpha1::DynamoGraphDeployment = serde_json::from_value(written.clone()).unwrap();
    let mut provenance = Provenance::recording();
    let hub: v1beta1::DynamoGraphDeployment =
        GraphConversion.to_hub(&graph, &mut provenance, &mut Issues::new()).unwrap();
    Lifted { written, hub: serde_json::to_value(hub).unwrap(), provenance }
}

/// Lifts a v1alpha1 graph with one service, called `w`, the component 0.
pub fn service(service: Value) -> Lifted {
    graph(json!({"services": {"w": service}}))
}

/// Lifts a v1alpha1 component with this spec.
pub fn component(spec: Value) -> Lifted {
    let metadata = json!({"name": "otter-worker", "namespace": "tidepool"});
    component_object(object("v1alpha1", "DynamoComponentDeployment", metadata, spec))
}

/// Lifts a whole v1alpha1 component.
pub fn component_object(written: Value) -> Lifted {
    let component: v1alpha1::DynamoComponentDeployment = serde_json::from_value(written.clone()).unwrap();
    let mut provenance = Provenance::recording();
    let hub: v1beta1::DynamoComponentDeployment =
        ComponentConversion.to_hub(&component, &mut provenance, &mut Issues::new()).unwrap();
    Lifted { written, hub: serde_json::to_value(hub).unwrap(), provenance }
}

/// Reads `spec.services[a.b].envs[3]`: what stands in brackets is a position where it is a number, else a key.
pub fn parse(path: &str) -> FieldPath {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (step, below) = inner.split_once(']').unwrap();
            steps.push(bracketed(step));
            rest = below;
        } else {
            let name = rest.trim_start_matches('.');
            let (name, below) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
            steps.push(Segment::Field(name.to_owned().into()));
            rest = below;
        }
    }
    steps.into_iter().collect()
}

fn bracketed(step: &str) -> Segment {
    step.parse().map_or_else(|_| Segment::Key(step.to_owned().into()), Segment::Index)
}
