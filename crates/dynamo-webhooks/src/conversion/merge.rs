//! Overlays one JSON value on another, as `mainContainer` on the flat fields.

use gateward::{FieldPath, Segment};
use serde_json::Value;

use super::path_mapper::MOST_RECORDED;

/// Whether Go reads the value as the zero value of its field: it then overrides nothing.
pub(super) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        other => is_blank(other),
    }
}

/// Whether the value is null or an empty list or map.
pub(super) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Whether `base` stays when `over` is overlaid. A port may be a number or a text; Go holds it in a struct of its type,
/// the number and the text, and merges these one by one. The type of a number is zero, so a text stays one.
fn stays(base: &Value, over: &Value) -> bool {
    match (base, over) {
        (Value::String(_), Value::Number(_)) => true,
        (Value::Number(_), Value::String(_)) => false,
        (_, over) => is_zero(over),
    }
}

/// Overlays `over` on `base`: objects are merged member by member, anything else of `over` wins unless the base stays.
pub(super) fn overlay(base: Value, over: Value) -> Value {
    match (base, over) {
        (Value::Object(mut base), Value::Object(over)) => {
            for (name, value) in over {
                let merged = match base.remove(&name) {
                    Some(below) => overlay(below, value),
                    None => value,
                };
                base.insert(name, merged);
            }
            Value::Object(base)
        }
        (base, over) if stays(&base, &over) => base,
        (_, over) => over,
    }
}

/// How deeply nodes are looked for; a probe has four levels.
const DEEPEST: usize = 8;

/// The topmost nodes of `base` that stay unchanged when `over` is overlaid; `None` where many are to be looked at, or deep
/// ones.
pub(super) fn unchanged_nodes(base: &Value, over: &Value) -> Option<Vec<FieldPath>> {
    let mut unchanged = Unchanged { paths: Vec::new(), left: MOST_RECORDED };
    unchanged.collect(base, over, &FieldPath::root())?;
    Some(unchanged.paths)
}

struct Unchanged {
    paths: Vec<FieldPath>,
    /// How many nodes may yet be looked at.
    left: usize,
}

impl Unchanged {
    fn collect(&mut self, base: &Value, over: &Value, at: &FieldPath) -> Option<()> {
        match (base, over) {
            (Value::Object(base), Value::Object(over)) if !over.is_empty() => {
                self.left = self.left.checked_sub(base.len())?;
                if at.segments().len() == DEEPEST {
                    return None;
                }
                for (name, below) in base {
                    let above = over.get(name).unwrap_or(&Value::Null);
                    self.collect(below, above, &at.child(Segment::Field(name.clone().into())))?;
                }
            }
            (base, over) if stays(base, over) => self.paths.push(at.clone()),
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_merged_and_the_upper_leaf_wins() {
        let base = json!({"periodSeconds": 5, "httpGet": {"path": "/live", "port": 80}});
        let over = json!({"periodSeconds": 7, "httpGet": {"path": "/health"}, "timeoutSeconds": 1});
        let merged = json!({"periodSeconds": 7, "httpGet": {"path": "/health", "port": 80}, "timeoutSeconds": 1});
        assert_eq!(overlay(base, over), merged);
    }

    #[test]
    fn zero_values_override_nothing() {
        let base = json!({"a": 1, "b": "x", "c": [1], "d": {"e": true}, "f": true});
        let zeros = json!({"a": 0, "b": "", "c": [], "d": {}, "f": false, "g": null});
        assert_eq!(overlay(base, zeros), json!({"a": 1, "b": "x", "c": [1], "d": {"e": true}, "f": true, "g": null}));
    }

    #[test]
    fn a_number_and_a_text_are_merged_as_the_struct_that_go_holds_them_in() {
        for (base, over, merged) in [
            (json!("http"), json!(8000), json!("http")),
            (json!("http"), json!(0), json!("http")),
            (json!(8000), json!("http"), json!("http")),
            (json!(8000), json!(""), json!("")),
            (json!(""), json!(8000), json!("")),
        ] {
            let (base, over) = (json!({"port": base}), json!({"port": over}));
            let stays = merged == base["port"];
            assert_eq!(unchanged_nodes(&base, &over).unwrap().is_empty(), !stays, "{base} {over}");
            assert_eq!(overlay(base, over), json!({"port": merged}));
        }
    }

    #[test]
    fn a_list_replaces_a_list() {
        assert_eq!(overlay(json!([1, 2]), json!([3])), json!([3]));
    }

    #[test]
    fn odd_types_win_like_any_other_value() {
        assert_eq!(overlay(json!({"a": 1}), json!("odd")), json!("odd"));
    }

    #[test]
    fn names_what_stays_of_the_base() {
        let base = json!({"a": 1, "b": {"c": 2, "d": 3}, "e": [1], "f": {"g": 1}});
        let over = json!({"a": 5, "b": {"c": 6}, "e": []});
        let paths: Vec<String> = unchanged_nodes(&base, &over).unwrap().iter().map(FieldPath::to_string).collect();
        assert_eq!(paths, ["b.d", "e", "f"]);
        assert_eq!(unchanged_nodes(&base, &Value::Null), Some(vec![FieldPath::root()]));
        assert_eq!(unchanged_nodes(&base, &json!("odd")), Some(Vec::new()));
    }

    #[test]
    fn names_nothing_of_what_is_deep_or_has_many_nodes() {
        let nest = |depth: usize, leaf: Value| (0..depth).fold(leaf, |inner, _| json!({"a": inner}));
        let named = |base: Value, over: Value| unchanged_nodes(&base, &over).map(|paths| paths.len());
        assert_eq!(named(nest(8, json!(1)), nest(8, Value::Null)), Some(1));
        assert_eq!(named(nest(9, json!(1)), nest(9, Value::Null)), None);
        let wide = |count: usize| -> Value { (0..count).map(|number| (format!("m{number}"), json!(1))).collect() };
        assert_eq!(named(wide(256), json!({"z": 1})), Some(256));
        assert_eq!(named(wide(257), json!({"z": 1})), None);
    }
}
