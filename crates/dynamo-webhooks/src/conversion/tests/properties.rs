//! What holds of every object that can be decoded.

use dynamo_api::{v1alpha1, v1beta1};
use gateward::{Convert, FieldPath, Issues, Provenance, Segment};
use proptest::prelude::*;
use serde_json::Value;

use super::super::GraphConversion;
use super::{Lifted, arbitrary, component_object, graph_object};

/// The nodes below the spec, each with its path.
fn nodes(node: &Value, at: &FieldPath, found: &mut Vec<(FieldPath, Value)>) {
    found.push((at.clone(), node.clone()));
    match node {
        Value::Object(members) => {
            for (name, below) in members {
                nodes(below, &at.child(Segment::Field(name.clone().into())), found);
            }
        }
        Value::Array(items) => {
            for (index, below) in items.iter().enumerate() {
                nodes(below, &at.index(index), found);
            }
        }
        _ => {}
    }
}

/// Each node of the lifted spec is reported at a node that the user wrote, or just below one where the API has a value
/// of its own: the name of the main container, a checkpoint that isn't enabled, and a mount without a path.
fn every_node_has_an_origin(lifted: &Lifted) -> Result<(), TestCaseError> {
    let mut found = Vec::new();
    nodes(&lifted.hub["spec"], &FieldPath::field("spec"), &mut found);
    for (hub, _) in found {
        let written = lifted.provenance.trace(&hub);
        let path = hub.to_string();
        let own = ["containers[0].name", "checkpoint.enabled", "mountPath"].iter().any(|own| path.ends_with(own));
        let origin = if own { written.parent().unwrap_or_default() } else { written.clone() };
        prop_assert!(origin.find(&lifted.written).is_some(), "{hub} is reported at {written}:\n{:#}", lifted.written);
    }
    Ok(())
}

/// What was carried over is the same on both sides.
fn carried_nodes_are_equal(lifted: &Lifted) -> Result<(), TestCaseError> {
    let mut found = Vec::new();
    nodes(&lifted.hub["spec"], &FieldPath::field("spec"), &mut found);
    for (hub, value) in found.iter().filter(|(hub, value)| is_present(hub, value)) {
        let written = lifted.provenance.trace(hub);
        prop_assert_eq!(Some(value), written.find(&lifted.written), "{} is reported at {}", hub, written);
    }
    Ok(())
}

/// Scalars inside pod templates, but for those that are made: amounts, names, references to secrets and paths that
/// aren't set.
fn is_present(hub: &FieldPath, value: &Value) -> bool {
    let steps: Vec<&str> = hub.segments().iter().filter_map(Segment::name).collect();
    let made = steps.ends_with(&["containers", "name"])
        || steps.contains(&"resources")
        || steps.ends_with(&["mountPath"]) && value == ""
        || steps.windows(2).any(|pair| pair == ["envFrom", "secretRef"]);
    steps.contains(&"podTemplate") && !made && !value.is_object() && !value.is_array()
}

proptest! {
    #[test]
    fn every_graph_is_lifted_with_an_origin_for_each_node(written in arbitrary::graph()) {
        let lifted = graph_object(written);
        every_node_has_an_origin(&lifted)?;
        carried_nodes_are_equal(&lifted)?;
        let read: v1beta1::DynamoGraphDeployment = serde_json::from_value(lifted.hub.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(read).unwrap(), lifted.hub);
    }

    #[test]
    fn every_component_is_lifted_with_an_origin_for_each_node(written in arbitrary::component()) {
        let lifted = component_object(written);
        every_node_has_an_origin(&lifted)?;
        carried_nodes_are_equal(&lifted)?;
    }

    #[test]
    fn a_silent_lift_gives_the_same_object(written in arbitrary::graph()) {
        let graph: v1alpha1::DynamoGraphDeployment = serde_json::from_value(written.clone()).unwrap();
        let hub: v1beta1::DynamoGraphDeployment = GraphConversion.to_hub(&graph, &mut Provenance::silent(), &mut Issues::new()).unwrap();
        prop_assert_eq!(serde_json::to_value(hub).unwrap(), graph_object(written).hub);
    }
}
