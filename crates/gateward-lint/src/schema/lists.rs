//! Detects duplicate items of lists, and matches items by their keys.

use std::collections::{BTreeMap, BTreeSet};

use gateward_core::Segment;
use serde_json::{Map, Value};

use super::finding::SchemaFault;
use super::node::{ListType, SchemaNode, Unique};
use super::walk::Walk;

pub(super) fn check(node: &SchemaNode, items: &[Value], walk: &mut Walk) {
    match &node.list {
        ListType::Set => repeated(items, |item| Some(item.clone()), walk),
        ListType::Map(keys) => repeated(items, |item| identity(node, keys, item), walk),
        ListType::Atomic if node.values.unique == Unique::Yes && has_repeated(items) => {
            let limit = "shouldn't contain duplicates".to_owned();
            walk.add(SchemaFault::Invalid { value: "".into(), limit });
        }
        ListType::Atomic => {}
    }
}

/// The second of each group of items with one identity; those without one are not compared.
fn repeated(items: &[Value], identity: impl Fn(&Value) -> Option<Value>, walk: &mut Walk) {
    let mut seen = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        let Some(value) = identity(item) else { continue };
        // Members are sorted, so equal values have equal texts.
        let times = seen.entry(value.to_string()).or_insert(0_usize);
        *times += 1;
        if *times == 2 {
            walk.below(Segment::Index(index), |walk| walk.add(SchemaFault::Duplicate { value }));
        }
    }
}

fn has_repeated(items: &[Value]) -> bool {
    let mut seen = BTreeSet::new();
    !items.iter().all(|item| seen.insert(item.to_string()))
}

/// The `x-kubernetes-list-map-keys` of an item, with their defaults.
fn identity(node: &SchemaNode, keys: &[String], item: &Value) -> Option<Value> {
    let members = item.as_object()?;
    let default = |key: &str| node.items.as_ref()?.properties.get(key)?.default.clone();
    let member = |key: &String| Some((key.clone(), members.get(key).cloned().or_else(|| default(key))?));
    Some(Value::Object(keys.iter().filter_map(member).collect::<Map<_, _>>()))
}

/// The items of a list by their keys.
pub(super) struct ByKeys<'v> {
    node: &'v SchemaNode,
    keys: &'v [String],
    items: BTreeMap<String, &'v Value>,
}

impl<'v> ByKeys<'v> {
    /// `None` for a list without keys.
    pub(super) fn of(node: &'v SchemaNode, items: &'v [Value]) -> Option<Self> {
        let ListType::Map(keys) = &node.list else { return None };
        let known = items.iter().filter_map(|item| Some((identity(node, keys, item)?.to_string(), item)));
        Some(Self { node, keys, items: known.collect() })
    }

    /// The item with the keys of this one.
    pub(super) fn counterpart(&self, item: &Value) -> Option<&'v Value> {
        self.items.get(&identity(self.node, self.keys, item)?.to_string()).copied()
    }

    /// How many items have keys of their own.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }
}
