//! The CEL rules that an object may break.

use gateward_core::FieldPath;
use serde_json::Value;

use super::guard::is_guarded;
use super::node::{EvaluatedOn, MAX_DEPTH, SchemaNode};

/// The kind of write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteKind {
    /// Creates an object.
    Creation,
    /// Updates a stored object.
    Update,
}

/// A CEL rule that a node of the object may break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CelRule {
    /// The node.
    pub path: FieldPath,
    /// The expression.
    pub rule: String,
    /// The API server's message when the rule fails.
    pub message: String,
}

pub(super) fn rules_on(root: &SchemaNode, object: &Value, write: WriteKind) -> Vec<CelRule> {
    let mut rules = Vec::new();
    Collector { write, rules: &mut rules }.visit(root, object, &FieldPath::root(), MAX_DEPTH);
    rules
}

struct Collector<'r> {
    write: WriteKind,
    rules: &'r mut Vec<CelRule>,
}

impl Collector<'_> {
    fn visit(&mut self, node: &SchemaNode, value: &Value, path: &FieldPath, depth: usize) {
        if depth == 0 || value.is_null() {
            return;
        }
        self.take(node, value, path);
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    if let Some(child) = node.member(name) {
                        self.visit(child, member, &path.child(node.step(name)), depth - 1);
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

    fn take(&mut self, node: &SchemaNode, value: &Value, path: &FieldPath) {
        let evaluated = node
            .rules
            .iter()
            .filter(|rule| self.write == WriteKind::Update || rule.evaluated_on == EvaluatedOn::EveryWrite)
            .filter(|rule| !is_guarded(&rule.expression, value));
        self.rules.extend(evaluated.map(|rule| CelRule {
            path: path.clone(),
            rule: rule.expression.clone(),
            message: rule.message.clone(),
        }));
    }
}
