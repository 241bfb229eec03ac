//! Minimal JSON Patch (RFC 6902): the difference of two typed readings, applied to the raw object.
//!
//! The typed readings lack what the type doesn't know and may hold members that the raw object lacks. So paths are
//! walked in all three: what the readings agree on is left alone, whatever the raw object has there; what they differ
//! in is set in the raw object, with the parents that it lacks.

mod apply;
mod list;
mod operation;

use serde_json::{Number, Value};

use crate::json::meaning::{integer, same};
use crate::json::members::{RawMember, items, members};
use operation::Presence;

pub use operation::{ApplyError, Patch, PatchError, PatchOperation};

/// The patch that turns `raw` into an object that reads as `after`, where it reads as `before` now.
///
/// ```
/// use gateward_core::json::patch;
///
/// let patch = patch::diff(r#"{"spec": {}}"#, r#"{"spec": {"replicas": 1}}"#, r#"{"spec": {"unknown": 1}}"#)?;
/// assert_eq!(serde_json::to_string(&patch)?, r#"[{"op":"add","path":"/spec/replicas","value":1}]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Only what differs is made a tree: of the rest, no more is in memory than the texts.
pub fn diff(before: &str, after: &str, raw: &str) -> serde_json::Result<Patch> {
    let mut patch = Patch::default();
    walk(before, after, raw, "", &mut patch)?;
    Ok(patch)
}

/// Whether two JSON values mean the same: numbers are compared by value, so `1` equals `1.0`.
pub fn same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same_value(x, y)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, x)| b.get(key).is_some_and(|y| same_value(x, y)))
        }
        _ => one == other,
    }
}

fn same_number(one: &Number, other: &Number) -> bool {
    match (integer(one), integer(other)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => one.as_f64() == other.as_f64(),
        _ => false,
    }
}

fn walk(before: &str, after: &str, raw: &str, path: &str, patch: &mut Patch) -> serde_json::Result<()> {
    if before == after {
        return Ok(());
    }
    if let (Some(before), Some(after), Some(raw)) = (members(before), members(after), members(raw)) {
        return walk_members(&before, &after, &raw, path, patch);
    }
    if let (Some(before), Some(after), Some(raw)) = (items(before), items(after), items(raw))
        && before.len() == raw.len()
    {
        return list::walk(&before, &after, &raw, path, patch, walk);
    }
    if same(before, after) { Ok(()) } else { patch.set(path.to_owned(), after, Presence::Present) }
}

fn walk_members(
    before: &[RawMember<'_>],
    after: &[RawMember<'_>],
    raw: &[RawMember<'_>],
    path: &str,
    patch: &mut Patch,
) -> serde_json::Result<()> {
    for (key, _) in before.iter().filter(|(key, _)| text(after, key).is_none() && text(raw, key).is_some()) {
        patch.0.push(PatchOperation::Remove { path: below(path, key) });
    }
    for (key, wanted) in after {
        let (was, wanted, path) = (text(before, key), wanted.get(), below(path, key));
        match text(raw, key) {
            Some("null") if was.is_none() && wanted == "null" => {}
            Some("null") if was.is_none() => patch.set(path, wanted, Presence::Present)?,
            Some(found) => walk(was.unwrap_or(empty_like(wanted)), wanted, found, &path, patch)?,
            None if was.is_some_and(|was| same(was, wanted)) => {}
            None => patch.set(path, wanted, Presence::Missing)?,
        }
    }
    Ok(())
}

/// The text of a member.
fn text<'a>(members: &[RawMember<'a>], name: &str) -> Option<&'a str> {
    let position = members.binary_search_by(|(member, _)| member.as_ref().cmp(name)).ok()?;
    Some(members[position].1.get())
}

/// What a member that the typed reading didn't show counts as: an empty one of the same sort, so that what the raw
/// object has there is added to, not replaced.
fn empty_like(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'{') => "{}",
        Some(b'[') => "[]",
        _ => "null",
    }
}

fn below(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn difference(before: &Value, after: &Value, raw: &Value) -> Patch {
        diff(&before.to_string(), &after.to_string(), &raw.to_string()).unwrap()
    }

    fn patch(before: &Value, after: &Value, raw: &Value) -> Value {
        serde_json::to_value(difference(before, after, raw)).unwrap()
    }

    #[test]
    fn numbers_that_are_equal_by_value_need_no_operation() {
        assert_eq!(patch(&json!({"a": 1.0}), &json!({"a": 1}), &json!({"a": 1.0})), json!([]));
    }

    #[test]
    fn large_integers_are_compared_digit_by_digit() {
        assert!(!same_value(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
        assert!(!same_value(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992.0)));
        assert!(same_value(&json!(10_000_000_000_000_000_000_u64), &json!(1e19)));
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
        let patch = difference(&json!({"items": [a, b]}), &json!({"items": [b, a]}), &raw);
        patch.apply(&mut raw).unwrap();
        assert_eq!(raw, json!({"items": [{"name": "b", "unknown": 2}, {"name": "a", "unknown": 1}]}));
    }

    #[test]
    fn what_the_type_does_not_know_stays_with_an_item_that_has_no_name() {
        let mut raw = json!([{"port": 1, "unknown": 1}, {"port": 2, "unknown": 2}, {"port": 3, "unknown": 3}]);
        let before = json!([{"port": 1}, {"port": 2}, {"port": 3}]);
        difference(&before, &json!([{"port": 9}, {"port": 3}, {"port": 1}]), &raw).apply(&mut raw).unwrap();
        assert_eq!(raw, json!([{"port": 9}, {"port": 3, "unknown": 3}, {"port": 1, "unknown": 1}]));
    }

    #[test]
    fn a_changed_item_that_has_no_name_keeps_what_the_type_does_not_know() {
        let mut raw = json!([{"port": 1, "unknown": 1}, {"port": 2, "unknown": 2}]);
        difference(&json!([{"port": 1}, {"port": 2}]), &json!([{"port": 9}, {"port": 2}]), &raw)
            .apply(&mut raw)
            .unwrap();
        assert_eq!(raw, json!([{"port": 9, "unknown": 1}, {"port": 2, "unknown": 2}]));
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
