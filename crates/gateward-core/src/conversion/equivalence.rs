//! When two JSON values mean the same: absent, null and an empty list, map or struct are one to Kubernetes.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::rule::field::Segment;

/// Whether the value means no more than an absent one.
pub fn means_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(means_absent),
        _ => false,
    }
}

/// Whether both values mean the same.
///
/// ```
/// use gateward_core::conversion::equivalence::same;
/// use serde_json::json;
///
/// assert!(same(&json!({"a": 1, "b": {"c": []}}), &json!({"a": 1})));
/// assert!(!same(&json!({"a": 0}), &json!({})));
/// ```
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(left), Value::Object(right)) => same_members(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(one, other)| same(one, other))
        }
        _ => one == other || (means_absent(one) && means_absent(other)),
    }
}

/// Names mostly stand in one order, and then none is looked up.
fn same_members(left: &Map<String, Value>, right: &Map<String, Value>) -> bool {
    let (mut next, mut shared) = (right.iter().peekable(), 0);
    let is_same = left.iter().all(|(name, value)| {
        let other = next.next_if(|(other, _)| *other == name).map(|(_, value)| value).or_else(|| right.get(name));
        shared += usize::from(other.is_some());
        same(value, other.unwrap_or(&Value::Null))
    });
    is_same
        && (shared == right.len() || right.iter().all(|(name, value)| left.contains_key(name) || means_absent(value)))
}

/// How many nodes are named that stand in the way.
pub(crate) const NAMED: usize = 32;

/// The nodes of `back` that mean neither what `source` means there nor what `without` does.
pub(crate) fn astray(back: &Value, source: &Value, without: &Value) -> Vec<Vec<Segment>> {
    let mut found = Vec::new();
    collect_astray(back, [source, without], &mut Vec::new(), &mut found);
    found
}

/// A step on the way to a node, of which a path is made only for what is found.
#[derive(Clone, Copy)]
enum WayStep<'a> {
    Member(&'a str),
    Item(usize),
}

impl From<WayStep<'_>> for Segment {
    fn from(step: WayStep<'_>) -> Self {
        match step {
            WayStep::Member(name) => Self::Field(name.to_owned().into()),
            WayStep::Item(index) => Self::Index(index),
        }
    }
}

fn collect_astray<'a>(
    back: &'a Value,
    others: [&'a Value; 2],
    way: &mut Vec<WayStep<'a>>,
    found: &mut Vec<Vec<Segment>>,
) {
    if found.len() >= NAMED {
        return;
    }
    let mut below = |step: WayStep<'a>, back: &'a Value, others: [&'a Value; 2]| {
        way.push(step);
        collect_astray(back, others, way, found);
        way.pop();
    };
    match back {
        Value::Object(members) => {
            for (name, back) in members {
                below(WayStep::Member(name), back, others.map(|other| &other[name]));
            }
            let named = others.into_iter().filter_map(Value::as_object).flat_map(Map::keys);
            let gone: BTreeSet<&String> = named.filter(|name| !members.contains_key(*name)).collect();
            for name in gone {
                below(WayStep::Member(name), &Value::Null, others.map(|other| &other[name]));
            }
        }
        Value::Array(items) if others.into_iter().any(|other| other.as_array().map(Vec::len) == Some(items.len())) => {
            for (index, back) in items.iter().enumerate() {
                below(WayStep::Item(index), back, others.map(|other| &other[index]));
            }
        }
        _ if others.into_iter().any(|other| same(back, other)) => {}
        _ => found.push(way.iter().copied().map(Segment::from).collect()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rule::field::FieldPath;

    #[test]
    fn absent_null_and_empty_are_one() {
        for nothing in [json!(null), json!([]), json!({}), json!({"a": null, "b": {"c": []}})] {
            assert!(same(&nothing, &Value::Null), "{nothing}");
            assert!(same(&json!({"x": 1, "y": nothing}), &json!({"x": 1})));
        }
    }

    #[test]
    fn zero_false_and_the_empty_text_say_something() {
        for something in [json!(0), json!(false), json!(""), json!([null])] {
            assert!(!same(&something, &Value::Null), "{something}");
        }
    }

    #[test]
    fn lists_are_the_same_item_by_item() {
        assert!(same(&json!([{}, 1]), &json!([null, 1])));
        assert!(!same(&json!([1, 2]), &json!([2, 1])));
        assert!(!same(&json!([1, null]), &json!([1])));
    }

    #[test]
    fn a_node_leads_back_to_the_source_or_to_what_the_rules_alone_would_make() {
        let source = json!({"a": 1, "b": {"c": 2, "d": 3}});
        let without = json!({"a": 1, "b": {"c": 2, "d": 4}});
        for back in [&source, &without, &json!({"a": 1, "b": {"c": 2, "d": 3}, "e": {}})] {
            assert_eq!(astray(back, &source, &without), Vec::<Vec<Segment>>::new(), "{back}");
        }
    }

    #[test]
    fn each_node_that_leads_astray_is_named() {
        let source = json!({"a": 1, "b": [{"c": 2, "d": 3}]});
        let named = |back: Value| -> Vec<String> {
            let path = |node: &Vec<Segment>| FieldPath::root().join(node).to_string();
            astray(&back, &source, &source).iter().map(path).collect()
        };
        assert_eq!(named(json!({"a": 2, "b": [{"c": 2, "d": 3}]})), ["a"]);
        assert_eq!(named(json!({"a": 1})), ["b"]);
        assert_eq!(named(json!({"a": 1, "b": [{"c": 4}], "e": 1})), ["b[0].c", "b[0].d", "e"]);
        assert_eq!(named(json!({"a": 1, "b": []})), ["b"]);
    }
}
