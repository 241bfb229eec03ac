//! Where two objects of one schema differ in meaning.

use std::collections::BTreeSet;

use gateward_core::json::patch::same_value;
use gateward_core::{FieldPath, Segment};
use serde_json::{Map, Value};

use super::Schema;
use super::lists::ByKeys;
use super::node::{MAX_DEPTH, SchemaNode};

/// A node that means something else in the one object than in the other.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaDifference {
    /// Where it is in the object that has it; in the first one, where both do.
    pub path: FieldPath,
    /// What it is in the first object, where that has it.
    pub before: Option<Value>,
    /// The same of the second.
    pub after: Option<Value>,
}

impl Schema {
    /// Where `after` doesn't mean what `before` does. An absent node, null, an empty list, map or text, and the default
    /// mean the same; items of a list that has keys are compared by them, whatever their order.
    ///
    /// ```
    /// use gateward_lint::schema::Schema;
    /// use serde_json::json;
    ///
    /// let schema = Schema::compile(&json!({
    ///     "type": "object",
    ///     "properties": {"replicas": {"type": "integer", "default": 1}, "labels": {"type": "object"}},
    /// })).unwrap();
    /// assert!(schema.differences(&json!({"replicas": 1, "labels": {}}), &json!({})).is_empty());
    /// let found = schema.differences(&json!({"replicas": 2}), &json!({}));
    /// assert_eq!((found[0].path.to_string(), found[0].after.clone()), ("replicas".into(), Some(1.into())));
    /// ```
    pub fn differences(&self, before: &Value, after: &Value) -> Vec<SchemaDifference> {
        let [mut before, mut after] = [before.clone(), after.clone()];
        self.apply_defaults(&mut before);
        self.apply_defaults(&mut after);
        let mut comparison = Comparison::default();
        comparison.values(&FieldPath::root(), Some(&self.root), &before, &after, MAX_DEPTH);
        comparison.found
    }
}

#[derive(Default)]
struct Comparison {
    found: Vec<SchemaDifference>,
}

impl Comparison {
    fn values(&mut self, path: &FieldPath, node: Option<&SchemaNode>, before: &Value, after: &Value, depth: usize) {
        match (before, after) {
            (Value::Object(before), Value::Object(after)) if depth > 0 => {
                self.members(path, node, before, after, depth - 1);
            }
            (Value::Array(before), Value::Array(after)) if depth > 0 => {
                self.items(path, node, before, after, depth - 1);
            }
            _ if same_value(before, after) => {}
            _ => self.push(path.clone(), Some(before), Some(after)),
        }
    }

    fn members(
        &mut self,
        path: &FieldPath,
        node: Option<&SchemaNode>,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        depth: usize,
    ) {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            let path = path.child(step(node, name));
            let child = node.and_then(|node| node.member(name));
            self.pair(path, child, before.get(name), after.get(name), depth);
        }
    }

    fn items(&mut self, path: &FieldPath, node: Option<&SchemaNode>, before: &[Value], after: &[Value], depth: usize) {
        let child = node.and_then(|node| node.items.as_deref());
        let keyed = node.and_then(|node| Some((ByKeys::of(node, before)?, ByKeys::of(node, after)?)));
        let all = |(old, new): &(ByKeys<'_>, ByKeys<'_>)| (old.len(), new.len()) == (before.len(), after.len());
        let Some((old, new)) = keyed.filter(all) else {
            for index in 0..before.len().max(after.len()) {
                self.pair(path.index(index), child, before.get(index), after.get(index), depth);
            }
            return;
        };
        for (index, item) in before.iter().enumerate() {
            self.pair(path.index(index), child, Some(item), new.counterpart(item), depth);
        }
        for (index, item) in after.iter().enumerate().filter(|(_, item)| old.counterpart(item).is_none()) {
            self.pair(path.index(index), child, None, Some(item), depth);
        }
    }

    fn pair(
        &mut self,
        path: FieldPath,
        node: Option<&SchemaNode>,
        before: Option<&Value>,
        after: Option<&Value>,
        depth: usize,
    ) {
        let [before, after] = [before, after].map(|value| value.filter(|value| !is_empty(node, value)));
        match (before, after) {
            (Some(before), Some(after)) => self.values(&path, node, before, after, depth),
            (None, None) => {}
            _ => self.push(path, before, after),
        }
    }

    fn push(&mut self, path: FieldPath, before: Option<&Value>, after: Option<&Value>) {
        self.found.push(SchemaDifference { path, before: before.cloned(), after: after.cloned() });
    }
}

/// An entry of a map is there whatever it holds.
fn is_empty(node: Option<&SchemaNode>, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.iter().all(|(name, member)| {
            let child = node.and_then(|node| node.member(name));
            node.is_none_or(|node| matches!(node.step(name), Segment::Field(_))) && is_empty(child, member)
        }),
        _ => false,
    }
}

/// Where the schema doesn't reach, a name that could not stand in a path as it is becomes a key in brackets.
fn step(node: Option<&SchemaNode>, name: &str) -> Segment {
    let plain = !name.is_empty() && name.chars().all(|each| each.is_ascii_alphanumeric() || "_-".contains(each));
    match node.filter(|node| node.member(name).is_some()) {
        Some(node) => node.step(name),
        None if plain => Segment::Field(name.to_owned().into()),
        None => Segment::Key(name.to_owned().into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn differences(before: &Value, after: &Value) -> Vec<String> {
        let named =
            json!({"type": "object", "properties": {"name": {"type": "string"}, "replicas": {"type": "integer"}}});
        let schema = Schema::compile(&json!({"type": "object", "properties": {
            "auto": {"type": "boolean", "default": true},
            "list": {"type": "array", "items": named, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
            "plain": {"type": "array", "items": {"type": "string"}},
            "map": {"type": "object", "additionalProperties": named},
            "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        }}));
        let shown = |value: Option<Value>| value.map_or("-".to_owned(), |value| value.to_string());
        let found = schema.unwrap().differences(before, after).into_iter();
        found.map(|found| format!("{}: {} {}", found.path, shown(found.before), shown(found.after))).collect()
    }

    #[test]
    fn absent_null_empty_and_the_default_are_alike() {
        let written = json!({"auto": true, "list": [], "plain": null, "map": {}, "raw": {"x": [{}], "y": {"z": ""}}});
        assert_eq!(differences(&written, &json!({"raw": {"x": [null]}})), Vec::<String>::new());
    }

    #[test]
    fn an_empty_entry_of_a_map_is_there() {
        let one = json!({"map": {"a": {"name": ""}}});
        assert_eq!(differences(&one, &json!({})), [r#"map: {"a":{"name":""}} -"#]);
        assert_eq!(differences(&json!({"map": {}}), &one).len(), 1);
    }

    #[test]
    fn a_value_that_is_not_the_default_differs_from_absence() {
        assert_eq!(differences(&json!({"auto": false}), &json!({})), ["auto: false true"]);
        assert_eq!(differences(&json!({"raw": {"a": 0}}), &json!({})), [r#"raw: {"a":0} -"#]);
    }

    #[test]
    fn items_with_keys_have_no_order() {
        let (before, after) =
            (json!([{"name": "a", "replicas": 1}, {"name": "b"}]), json!([{"name": "c"}, {"name": "a"}]));
        let found = differences(&json!({"list": before}), &json!({"list": after}));
        assert_eq!(found, ["list[0].replicas: 1 -", r#"list[1]: {"name":"b"} -"#, r#"list[0]: - {"name":"c"}"#]);
    }

    #[test]
    fn items_without_keys_and_items_of_one_key_are_compared_by_their_place() {
        assert_eq!(
            differences(&json!({"plain": ["a", "b"]}), &json!({"plain": ["b"]})),
            [r#"plain[0]: "a" "b""#, r#"plain[1]: "b" -"#]
        );
        let twice = json!([{"name": "a", "replicas": 1}, {"name": "a", "replicas": 2}]);
        let turned = json!([{"name": "a", "replicas": 2}, {"name": "a", "replicas": 1}]);
        assert_eq!(differences(&json!({"list": twice}), &json!({"list": turned})).len(), 2);
    }

    #[test]
    fn entries_of_maps_and_odd_names_are_keys() {
        let found = differences(&json!({"map": {"a": {"replicas": 1}}}), &json!({"map": {"a": {"replicas": 2}}}));
        assert_eq!(found, ["map[a].replicas: 1 2"]);
        let found = differences(&json!({"raw": {"a.b": 1, "c": 2}}), &json!({"raw": {"c": 2}}));
        assert_eq!(found, ["raw[a.b]: 1 -"]);
    }
}
