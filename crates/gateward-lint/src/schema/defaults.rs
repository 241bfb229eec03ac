//! Structural defaulting, and what happens to nulls before it.

use serde_json::{Map, Value};

use super::node::{Nullable, SchemaNode};

/// Which nulls to take out, of those that the schema doesn't allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    All,
    WithoutDefault,
}

/// Takes out nulls where the schema allows none, those that a default replaces only on demand. The API server does so
/// before it defaults and validates; nulls in lists stay.
pub(super) fn drop_nulls(node: &SchemaNode, value: &mut Value, nulls: Nulls, depth: usize) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Object(members) => {
            let goes = |child: &SchemaNode| nulls == Nulls::All || child.default.is_none();
            members.retain(|name, member| {
                !node.member(name).is_some_and(|child| is_refused(member, child) && goes(child))
            });
            each_member(node, members, |child, member| drop_nulls(child, member, nulls, depth - 1));
        }
        Value::Array(items) => each_item(node, items, |child, item| drop_nulls(child, item, nulls, depth - 1)),
        _ => {}
    }
}

/// Puts defaults in the place of what is absent, and of nulls where the schema allows none.
pub(super) fn apply(node: &SchemaNode, value: &mut Value, depth: usize) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, property) in &node.properties {
                let absent = members.get(name).is_none_or(|member| is_refused(member, property));
                if let Some(default) = property.default.as_ref().filter(|_| absent) {
                    members.insert(name.clone(), default.clone());
                }
            }
            each_member(node, members, |child, member| fill(child, member, depth));
        }
        Value::Array(items) => each_item(node, items, |child, item| fill(child, item, depth)),
        _ => {}
    }
}

fn fill(node: &SchemaNode, value: &mut Value, depth: usize) {
    if let Some(default) = node.default.as_ref().filter(|_| is_refused(value, node)) {
        value.clone_from(default);
    }
    apply(node, value, depth - 1);
}

fn each_member(node: &SchemaNode, members: &mut Map<String, Value>, mut visit: impl FnMut(&SchemaNode, &mut Value)) {
    for (name, member) in members {
        if let Some(child) = node.member(name) {
            visit(child, member);
        }
    }
}

fn each_item(node: &SchemaNode, items: &mut [Value], mut visit: impl FnMut(&SchemaNode, &mut Value)) {
    for item in items {
        if let Some(child) = node.items.as_deref() {
            visit(child, item);
        }
    }
}

fn is_refused(value: &Value, node: &SchemaNode) -> bool {
    value.is_null() && node.nullable == Nullable::No
}
