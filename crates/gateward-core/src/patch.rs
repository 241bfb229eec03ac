//! Minimal JSON Patch (RFC 6902): the difference of two typed readings, applied to the raw object.
//!
//! The typed readings lack what the type doesn't know and may hold members that the raw object lacks. So paths are
//! walked in all three: what the readings agree on is left alone, whatever the raw object has there; what they differ
//! in is set in the raw object, with the parents that it lacks.

use serde::Serialize;
use serde_json::{Map, Value};

/// One operation of a patch. Paths are JSON pointers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum PatchOperation {
    /// Sets a member that isn't there, or inserts an item.
    Add {
        /// Where.
        path: String,
        /// What.
        value: Value,
    },
    /// Takes a member or an item away.
    Remove {
        /// Where.
        path: String,
    },
    /// Sets a member or an item that is there.
    Replace {
        /// Where.
        path: String,
        /// What.
        value: Value,
    },
}

impl PatchOperation {
    /// The JSON pointer of the node that changes.
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Remove { path } | Self::Replace { path, .. } => path,
        }
    }
}

/// A JSON Patch.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Patch(Vec<PatchOperation>);

impl Patch {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many operations it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The operations, in order.
    pub fn operations(&self) -> &[PatchOperation] {
        &self.0
    }

    /// Carries the patch out on `document`.
    pub fn apply(&self, document: &mut Value) -> Result<(), ApplyError> {
        self.0.iter().try_for_each(|operation| apply::operation(operation, document))
    }

    fn set(&mut self, path: String, value: Value, present: Presence) {
        self.0.push(match present {
            Presence::Present => PatchOperation::Replace { path, value },
            Presence::Missing => PatchOperation::Add { path, value },
        });
    }
}

/// A patch that doesn't fit the document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the document has no node at {path:?}")]
pub struct ApplyError {
    /// The JSON pointer of the node that isn't there.
    pub path: String,
}

/// The patch that turns `raw` into an object that reads as `after`, where it reads as `before` now.
///
/// ```
/// use gateward_core::patch;
/// use serde_json::json;
///
/// let raw = json!({"spec": {"unknown": 1}});
/// let patch = patch::diff(&json!({"spec": {}}), &json!({"spec": {"replicas": 1}}), &raw);
/// assert_eq!(serde_json::to_value(&patch).unwrap(), json!([{"op": "add", "path": "/spec/replicas", "value": 1}]));
/// ```
pub fn diff(before: &Value, after: &Value, raw: &Value) -> Patch {
    let mut patch = Patch::default();
    walk(before, after, raw, "", &mut patch);
    patch
}

/// Whether two JSON values mean the same: numbers are compared by value, so `1` equals `1.0`.
pub fn same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same_value(x, y)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, x)| b.get(key).is_some_and(|y| same_value(x, y)))
        }
        _ => one == other,
    }
}

#[derive(Clone, Copy)]
enum Presence {
    Present,
    Missing,
}

fn walk(before: &Value, after: &Value, raw: &Value, path: &str, patch: &mut Patch) {
    if same_value(before, after) {
        return;
    }
    match (before, after, raw) {
        (Value::Object(before), Value::Object(after), Value::Object(raw)) => {
            walk_members(before, after, raw, path, patch);
        }
        (Value::Array(before), Value::Array(after), Value::Array(raw)) if before.len() == raw.len() => {
            list::walk(before, after, raw, path, patch);
        }
        _ => patch.set(path.to_owned(), after.clone(), Presence::Present),
    }
}

fn walk_members(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    raw: &Map<String, Value>,
    path: &str,
    patch: &mut Patch,
) {
    for key in before.keys().filter(|key| !after.contains_key(*key) && raw.contains_key(*key)) {
        patch.0.push(PatchOperation::Remove { path: below(path, key) });
    }
    for (key, wanted) in after {
        let (was, path) = (before.get(key), below(path, key));
        match raw.get(key) {
            Some(found) => walk(was.unwrap_or(&empty_like(wanted)), wanted, found, &path, patch),
            None if was.is_some_and(|was| same_value(was, wanted)) => {}
            None => patch.set(path, wanted.clone(), Presence::Missing),
        }
    }
}

/// What a member that the typed reading didn't show counts as: an empty one of the same sort, so that what the raw
/// object has there is added to, not replaced.
fn empty_like(value: &Value) -> Value {
    match value {
        Value::Object(_) => Value::Object(Map::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        _ => Value::Null,
    }
}

fn below(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Lists: items are matched by their `name`, or else by their value, so that an item in front doesn't rewrite those
/// behind it and what the type doesn't know stays with its item.
mod list {
    use std::collections::HashMap;

    use serde_json::Value;

    use super::{Patch, PatchOperation, same_value};

    pub(super) fn walk(before: &[Value], after: &[Value], raw: &[Value], path: &str, patch: &mut Patch) {
        let origins = origins(before, after);
        if !in_order(&origins) {
            let value = Value::Array(rebuilt(before, after, raw, &origins));
            patch.0.push(PatchOperation::Replace { path: path.to_owned(), value });
            return;
        }
        let mut kept = vec![false; before.len()];
        origins.iter().flatten().for_each(|index| kept[*index] = true);
        for index in (0..before.len()).rev().filter(|index| !kept[*index]) {
            patch.0.push(PatchOperation::Remove { path: format!("{path}/{index}") });
        }
        for (index, (wanted, origin)) in after.iter().zip(&origins).enumerate() {
            let path = format!("{path}/{index}");
            match origin {
                Some(was) => super::walk(&before[*was], wanted, &raw[*was], &path, patch),
                None => patch.0.push(PatchOperation::Add { path, value: wanted.clone() }),
            }
        }
    }

    /// For each item of `after`, the item of `before` that it was.
    fn origins(before: &[Value], after: &[Value]) -> Vec<Option<usize>> {
        if let (Some(was), Some(is)) = (names(before), names(after)) {
            let positions: HashMap<&str, usize> = was.into_iter().zip(0..).collect();
            return is.into_iter().map(|name| positions.get(name).copied()).collect();
        }
        if before.len() == after.len() {
            return (0..before.len()).map(Some).collect();
        }
        by_value(before, after)
    }

    /// The items' names, if each has one of its own.
    fn names(items: &[Value]) -> Option<Vec<&str>> {
        let names: Vec<&str> = items.iter().map(|item| item.get("name")?.as_str()).collect::<Option<_>>()?;
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        (sorted.len() == names.len()).then_some(names)
    }

    /// Equal items in order; the rest is new.
    fn by_value(before: &[Value], after: &[Value]) -> Vec<Option<usize>> {
        let mut next = 0;
        let mut find = |wanted: &Value| {
            let offset = before[next..].iter().position(|item| same_value(item, wanted))?;
            next += offset + 1;
            Some(next - 1)
        };
        after.iter().map(&mut find).collect()
    }

    fn in_order(origins: &[Option<usize>]) -> bool {
        origins.iter().flatten().is_sorted()
    }

    /// The whole list anew, each item with what the raw one has beyond the type.
    fn rebuilt(before: &[Value], after: &[Value], raw: &[Value], origins: &[Option<usize>]) -> Vec<Value> {
        let patched = |(wanted, origin): (&Value, &Option<usize>)| {
            let Some(was) = *origin else { return wanted.clone() };
            let mut item = raw[was].clone();
            match super::diff(&before[was], wanted, &item).apply(&mut item) {
                Ok(()) => item,
                Err(_) => wanted.clone(),
            }
        };
        after.iter().zip(origins).map(patched).collect()
    }
}

/// Carrying operations out.
mod apply {
    use serde_json::Value;

    use super::{ApplyError, PatchOperation};

    pub(super) fn operation(operation: &PatchOperation, document: &mut Value) -> Result<(), ApplyError> {
        let done = match operation {
            PatchOperation::Add { path, value } => add(document, path, value),
            PatchOperation::Remove { path } => remove(document, path),
            PatchOperation::Replace { path, value } => replace(document, path, value),
        };
        done.ok_or_else(|| ApplyError { path: operation.path().to_owned() })
    }

    fn add(document: &mut Value, path: &str, value: &Value) -> Option<()> {
        let Some((parent, key)) = split(document, path) else {
            return replace(document, path, value);
        };
        match parent {
            Value::Object(members) => {
                members.insert(key, value.clone());
            }
            Value::Array(items) => {
                let index = if key == "-" { items.len() } else { position(&key)? };
                (index <= items.len()).then(|| items.insert(index, value.clone()))?;
            }
            _ => return None,
        }
        Some(())
    }

    fn remove(document: &mut Value, path: &str) -> Option<()> {
        let (parent, key) = split(document, path)?;
        match parent {
            Value::Object(members) => members.remove(&key).map(drop),
            Value::Array(items) => {
                let index = position(&key)?;
                (index < items.len()).then(|| drop(items.remove(index)))
            }
            _ => None,
        }
    }

    fn replace(document: &mut Value, path: &str, value: &Value) -> Option<()> {
        *document.pointer_mut(path)? = value.clone();
        Some(())
    }

    fn split<'d>(document: &'d mut Value, path: &str) -> Option<(&'d mut Value, String)> {
        let (parent, key) = path.rsplit_once('/')?;
        Some((document.pointer_mut(parent)?, key.replace("~1", "/").replace("~0", "~")))
    }

    /// An array index as RFC 6901 has it: digits without a leading zero.
    fn position(key: &str) -> Option<usize> {
        if key.len() > 1 && key.starts_with('0') || !key.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        key.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patch(before: &Value, after: &Value, raw: &Value) -> Value {
        serde_json::to_value(diff(before, after, raw)).unwrap()
    }

    #[test]
    fn numbers_that_are_equal_by_value_need_no_operation() {
        assert_eq!(patch(&json!({"a": 1.0}), &json!({"a": 1}), &json!({"a": 1.0})), json!([]));
    }

    #[test]
    fn large_integers_are_compared_digit_by_digit() {
        assert!(!same_value(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
    }

    #[test]
    fn creates_the_parents_that_the_raw_object_lacks() {
        let after = json!({"metadata": {"annotations": {"a/b": "x"}}});
        assert_eq!(
            patch(&json!({"metadata": {"annotations": {}}}), &after, &json!({"spec": {}})),
            json!([{"op": "add", "path": "/metadata", "value": {"annotations": {"a/b": "x"}}}])
        );
    }

    #[test]
    fn escapes_slashes_and_tildes_in_keys() {
        let after = json!({"annotations": {"a/b~c": "x"}});
        assert_eq!(
            patch(&json!({"annotations": {}}), &after, &json!({"annotations": {"z": ""}})),
            json!([{"op": "add", "path": "/annotations/a~1b~0c", "value": "x"}])
        );
    }

    #[test]
    fn a_null_in_the_raw_object_is_replaced() {
        assert_eq!(
            patch(&json!({}), &json!({"replicas": 1}), &json!({"replicas": null})),
            json!([{"op": "replace", "path": "/replicas", "value": 1}])
        );
    }

    #[test]
    fn a_member_that_only_the_type_shows_is_left_out() {
        assert_eq!(
            patch(&json!({"enabled": false, "n": 1}), &json!({"enabled": false, "n": 2}), &json!({"n": 1})),
            json!([{"op": "replace", "path": "/n", "value": 2}])
        );
    }

    #[test]
    fn what_the_type_does_not_know_stays_with_its_item_when_items_change_places() {
        let (a, b) = (json!({"name": "a"}), &json!({"name": "b"}));
        let mut raw = json!({"items": [{"name": "a", "unknown": 1}, {"name": "b", "unknown": 2}]});
        let patch = diff(&json!({"items": [a, b]}), &json!({"items": [b, a]}), &raw);
        patch.apply(&mut raw).unwrap();
        assert_eq!(raw, json!({"items": [{"name": "b", "unknown": 2}, {"name": "a", "unknown": 1}]}));
    }

    #[test]
    fn an_item_in_front_does_not_rewrite_those_behind_it() {
        assert_eq!(
            patch(&json!([{"name": "a"}]), &json!([{"name": "z"}, {"name": "a"}]), &json!([{"name": "a", "x": 1}])),
            json!([{"op": "add", "path": "/0", "value": {"name": "z"}}])
        );
    }

    #[test]
    fn a_patch_that_does_not_fit_names_the_node() {
        let patch = Patch(vec![PatchOperation::Remove { path: "/a/b".into() }]);
        assert_eq!(patch.apply(&mut json!({})).unwrap_err().path, "/a/b");
    }
}
