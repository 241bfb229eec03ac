//! Structural defaulting.

use serde_json::Value;

use super::node::{Additional, Kind, Node, Nullable};

pub(super) fn apply(node: &Node, value: &mut Value, depth: usize) {
    if depth == 0 {
        return;
    }
    match value {
        Value::Object(members) => {
            for (name, property) in &node.properties {
                if property.default.is_some() && is_absent(members.get(name), property) {
                    members.insert(name.clone(), property.default.clone().unwrap_or_default());
                }
            }
            if let Additional::Entries(entry) = &node.additional {
                members.retain(|name, member| node.properties.contains_key(name) || !is_dropped(member, entry));
            }
            for (name, member) in members {
                let child = node.properties.get(name).or(match &node.additional {
                    Additional::Entries(entry) => Some(entry.as_ref()),
                    Additional::None | Additional::Anything => None,
                });
                if let Some(child) = child {
                    apply(child, member, depth - 1);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                if let Some(child) = node.items.as_deref() {
                    apply(child, item, depth - 1);
                }
            }
        }
        _ => {}
    }
}

/// A null that the schema doesn't allow counts as absent where there is a default to take its place.
fn is_absent(member: Option<&Value>, property: &Node) -> bool {
    member.is_none_or(|member| member.is_null() && property.nullable == Nullable::No)
}

/// A null entry of a map of objects is dropped.
fn is_dropped(member: &Value, entry: &Node) -> bool {
    member.is_null() && entry.kind == Kind::Object && entry.nullable == Nullable::No
}
