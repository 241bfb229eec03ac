//! CEL rules: which ones stand on the nodes of an object.

use gateward_core::{FieldPath, Segment};
use serde_json::Value;

use super::MAX_DEPTH;
use super::node::{Additional, Node};

/// A CEL rule that the API server would evaluate on a node of the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CelRule {
    /// The node.
    pub path: FieldPath,
    /// The expression.
    pub rule: String,
    /// What the API server says where the rule fails.
    pub message: String,
}

pub(super) fn rules_on(root: &Node, object: &Value) -> Vec<CelRule> {
    let mut rules = Vec::new();
    collect(root, object, &FieldPath::root(), MAX_DEPTH, &mut rules);
    rules
}

fn collect(node: &Node, value: &Value, path: &FieldPath, depth: usize, rules: &mut Vec<CelRule>) {
    if depth == 0 {
        return;
    }
    rules.extend(node.rules.iter().map(|rule| CelRule {
        path: path.clone(),
        rule: rule.expression.clone(),
        message: rule.message.clone(),
    }));
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let child = node.properties.get(name).or(match &node.additional {
                    Additional::Entries(entry) => Some(entry.as_ref()),
                    Additional::None | Additional::Anything => None,
                });
                if let Some(child) = child {
                    collect(child, member, &path.child(Segment::Field(name.clone().into())), depth - 1, rules);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if let Some(child) = node.items.as_deref() {
                    collect(child, item, &path.index(index), depth - 1, rules);
                }
            }
        }
        _ => {}
    }
}
