//! CEL rules: which ones stand on the nodes of an object.

use gateward_core::{FieldPath, Segment};
use serde_json::Value;

use super::node::{Asked, MAX_DEPTH, Node};

/// How an object is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Write {
    /// For the first time.
    Creation,
    /// In place of a stored one.
    Update,
}

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

pub(super) fn rules_on(root: &Node, object: &Value, write: Write) -> Vec<CelRule> {
    let mut rules = Vec::new();
    Collector { write, rules: &mut rules }.visit(root, object, &FieldPath::root(), MAX_DEPTH);
    rules
}

struct Collector<'r> {
    write: Write,
    rules: &'r mut Vec<CelRule>,
}

impl Collector<'_> {
    fn visit(&mut self, node: &Node, value: &Value, path: &FieldPath, depth: usize) {
        if depth == 0 || value.is_null() {
            return;
        }
        self.take(node, path);
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    if let Some(child) = node.member(name) {
                        self.visit(child, member, &path.child(Segment::Field(name.clone().into())), depth - 1);
                    }
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(child) = node.items.as_deref() {
                        self.visit(child, item, &path.index(index), depth - 1);
                    }
                }
            }
            _ => {}
        }
    }

    fn take(&mut self, node: &Node, path: &FieldPath) {
        let asked = node.rules.iter().filter(|rule| self.write == Write::Update || rule.asked == Asked::Always);
        self.rules.extend(asked.map(|rule| CelRule {
            path: path.clone(),
            rule: rule.expression.clone(),
            message: rule.message.clone(),
        }));
    }
}
