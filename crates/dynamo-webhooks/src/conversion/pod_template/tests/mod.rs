//! The pod of one component, there and back.

#![allow(clippy::needless_pass_by_value, reason = "tests write their objects where they use them")]

mod arbitrary;
mod moved;
mod properties;

use dynamo_api::{v1alpha1, v1beta1};
use gateward::{Resource, Webhook, Webhooks};
use serde_json::{Map, Value, json};

use crate::conversion::GraphConversion;

/// One component of a graph in one version, with the annotations of the graph.
#[derive(Debug, Clone)]
struct Stored<T> {
    spec: T,
    annotations: Map<String, Value>,
}

type Spoke = Stored<v1alpha1::ComponentSpec>;
type Hub = Stored<v1beta1::ComponentSpec>;

/// A component as a user of v1alpha1 writes it.
fn spoke(spec: Value) -> Spoke {
    Stored { spec: serde_json::from_value(spec).unwrap(), annotations: Map::new() }
}

/// A component as a user of v1beta1 writes it.
fn hub(spec: Value) -> Hub {
    Stored { spec: serde_json::from_value(spec).unwrap(), annotations: Map::new() }
}

/// Annotations that remember this of the component in the other version.
fn remembering(entry: Value) -> Map<String, Value> {
    let mut component = entry.clone();
    if let Some(members) = component.as_object_mut() {
        members.insert("name".into(), "w".into());
    }
    let kept = json!({"version": 1, "spec": {"services": {"w": entry}, "components": [component]}});
    Map::from_iter([(SPEC.to_owned(), kept.to_string().into())])
}

const SPEC: &str = "nvidia.com/dgd-spec";

/// What is looked at of an object that may nest deeper than a tree can.
#[derive(serde::Deserialize)]
struct Annotated {
    metadata: Value,
}

/// The graph with this spec, JSON text, in the other version.
fn converted<A: Resource, B: Resource>(spec: &str, annotations: &Map<String, Value>) -> (B, Map<String, Value>) {
    let kind = Webhook::<v1beta1::DynamoGraphDeployment>::new();
    let webhooks = Webhooks::new()
        .with_annotation_prefix("gateward.dev")
        .register(kind.spoke::<v1alpha1::DynamoGraphDeployment>(GraphConversion));
    let metadata = json!({"name": "otter", "annotations": annotations});
    let version = A::gvk().api_version();
    let graph =
        format!(r#"{{"apiVersion":"{version}","kind":"DynamoGraphDeployment","metadata":{metadata},"spec":{spec}}}"#);
    let json = webhooks.convert(&graph, &B::gvk().api_version()).unwrap().json;
    let annotated: Annotated = serde_json::from_str(&json).unwrap();
    let annotations = annotated.metadata["annotations"].as_object().cloned().unwrap_or_default();
    (serde_json::from_str(&json).unwrap(), annotations)
}

impl Spoke {
    fn up(&self) -> Hub {
        let service = serde_json::to_string(&self.spec).unwrap();
        let (graph, annotations) = converted::<v1alpha1::DynamoGraphDeployment, v1beta1::DynamoGraphDeployment>(
            &format!(r#"{{"services":{{"w":{service}}}}}"#),
            &self.annotations,
        );
        let spec = v1beta1::ComponentSpec { name: String::new(), ..graph.spec.components[0].clone() };
        Stored { spec, annotations }
    }

    fn json(&self) -> Value {
        serde_json::to_value(&self.spec).unwrap()
    }

    /// What is remembered of the component in v1beta1.
    fn entry(&self) -> Value {
        kept(&self.annotations)["spec"]["components"][0].clone()
    }
}

impl Hub {
    fn down(&self) -> Spoke {
        let component = v1beta1::ComponentSpec { name: "w".into(), ..self.spec.clone() };
        let component = serde_json::to_string(&component).unwrap();
        let (graph, annotations) = converted::<v1beta1::DynamoGraphDeployment, v1alpha1::DynamoGraphDeployment>(
            &format!(r#"{{"components":[{component}]}}"#),
            &self.annotations,
        );
        Stored { spec: graph.spec.services["w"].clone().unwrap(), annotations }
    }

    fn json(&self) -> Value {
        serde_json::to_value(&self.spec).unwrap()
    }

    /// What is remembered of the component in v1alpha1.
    fn entry(&self) -> Value {
        kept(&self.annotations)["spec"]["services"].get("w").cloned().unwrap_or_else(|| json!({}))
    }
}

fn kept(annotations: &Map<String, Value>) -> Value {
    annotations.get(SPEC).map(|text| serde_json::from_str(text.as_str().unwrap()).unwrap()).unwrap_or_default()
}
