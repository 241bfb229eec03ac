//! Detects duplicate items of lists, and matches items by their keys.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use gateward_core::Segment;
use serde_json::Value;

use super::finding::SchemaFault;
use super::node::{ListType, SchemaNode, Unique};
use super::walk::Walk;

pub(super) fn check(node: &SchemaNode, items: &[Value], walk: &mut Walk) {
    match &node.list {
        ListType::Set => repeated(items, Some, |item| (*item).clone(), walk),
        ListType::Map(keys) => repeated(items, |item| identity(node, keys, item), shown, walk),
        ListType::Atomic if node.values.unique == Unique::Yes && has_repeated(items) => {
            let limit = "shouldn't contain duplicates".to_owned();
            walk.add(SchemaFault::Invalid { value: "".into(), limit });
        }
        ListType::Atomic => {}
    }
}

/// The second of each group of items with one identity; those without one are not compared.
fn repeated<'v, I: Eq + Hash>(
    items: &'v [Value],
    identity: impl Fn(&'v Value) -> Option<I>,
    shown: impl Fn(&I) -> Value,
    walk: &mut Walk,
) {
    let mut seen = HashMap::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let Some(identity) = identity(item) else { continue };
        match seen.entry(identity) {
            Entry::Vacant(first) => {
                first.insert(1_usize);
            }
            Entry::Occupied(mut known) => {
                *known.get_mut() += 1;
                if *known.get() == 2 {
                    let value = shown(known.key());
                    walk.below(Segment::Index(index), |walk| walk.add(SchemaFault::Duplicate { value }));
                }
            }
        }
    }
}

fn has_repeated(items: &[Value]) -> bool {
    let mut seen = HashSet::new();
    !items.iter().all(|item| seen.insert(item))
}

/// The `x-kubernetes-list-map-keys` of an item, with their defaults.
type Identity<'v> = Vec<(&'v str, &'v Value)>;

/// `None` for what is no object.
fn identity<'v>(node: &'v SchemaNode, keys: &'v [String], item: &'v Value) -> Option<Identity<'v>> {
    let members = item.as_object()?;
    let default = |key: &str| node.items.as_ref()?.properties.get(key)?.default.as_ref();
    let member = |key: &'v String| Some((key.as_str(), members.get(key).or_else(|| default(key))?));
    Some(keys.iter().filter_map(member).collect())
}

fn shown(identity: &Identity<'_>) -> Value {
    identity.iter().map(|(key, value)| ((*key).to_owned(), (*value).clone())).collect()
}

/// The items of a list by their keys.
pub(super) struct ByKeys<'v> {
    node: &'v SchemaNode,
    keys: &'v [String],
    items: HashMap<Identity<'v>, &'v Value>,
}

impl<'v> ByKeys<'v> {
    /// `None` for a list without keys.
    pub(super) fn of(node: &'v SchemaNode, items: &'v [Value]) -> Option<Self> {
        let ListType::Map(keys) = &node.list else { return None };
        let known = items.iter().filter_map(|item| Some((identity(node, keys, item)?, item)));
        Some(Self { node, keys, items: known.collect() })
    }

    /// The item with the keys of this one.
    pub(super) fn counterpart<'s>(&'s self, item: &'s Value) -> Option<&'s Value> {
        self.items.get(&identity(self.node, self.keys, item)?).copied()
    }

    /// How many items have keys of their own.
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }
}
