//! Lists: how many items, and which of them are the same.

use std::collections::BTreeSet;

use gateward_core::Segment;
use serde_json::{Map, Value};

use super::finding::SchemaFault;
use super::node::{ListType, Node, Unique};
use super::validate::Walk;

pub(super) fn check(node: &Node, items: &[Value], walk: &mut Walk) {
    match &node.list {
        ListType::Set => repeated(items, Value::clone, walk),
        ListType::Map(keys) => repeated(items, |item| identity(node, keys, item), walk),
        ListType::Atomic if node.values.unique == Unique::Yes => repeated(items, Value::clone, walk),
        ListType::Atomic => {}
    }
}

/// Each item whose identity stands further up already.
fn repeated(items: &[Value], identity: impl Fn(&Value) -> Value, walk: &mut Walk) {
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let value = identity(item);
        // Members are sorted, so equal values have equal texts.
        if !seen.insert(value.to_string()) {
            walk.below(Segment::Index(index), |walk| walk.add(SchemaFault::Duplicate { value }));
        }
    }
}

/// The members that tell an item of a list map from the others, with their defaults.
fn identity(node: &Node, keys: &[String], item: &Value) -> Value {
    let default = |key: &str| node.items.as_ref()?.properties.get(key)?.default.clone();
    let member = |key: &String| (key.clone(), item.get(key).cloned().or_else(|| default(key)).unwrap_or_default());
    Value::Object(keys.iter().map(member).collect::<Map<_, _>>())
}
