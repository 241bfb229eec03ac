//! CEL rules: which ones stand on the nodes of an object.

use gateward_core::{FieldPath, Segment};
use serde_json::Value;

use super::MAX_DEPTH;
use super::node::Node;

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
    if depth == 0 || value.is_null() {
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
                if let Some(child) = node.member(name) {
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
