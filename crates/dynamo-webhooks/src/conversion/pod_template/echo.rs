//! What the way there and back would change in spite of all rules, beside the members that the Go operator knows.
//!
//! A record says what the way back is to change (`set`), and for which object (`of`): it holds only while the object is
//! the one that the conversion made, so it can't contradict an edit. The Go operator ignores it.

use serde_json::{Map, Value, json};

use crate::conversion::sameness::{fingerprint, same};

/// The member of an entry that holds the record.
const MEMBER: &str = "gateward";

/// Adds a record to `entry` if the way back from `made` leads `back` to something else than what was `written`.
pub(super) fn record(entry: &mut Map<String, Value>, made: impl FnOnce() -> Value, back: &Value, written: &Value) {
    let mut changes = Vec::new();
    compare(back, written, &mut Vec::new(), &mut changes);
    if !changes.is_empty() {
        entry.insert(MEMBER.into(), json!({"of": name(&made()), "set": changes}));
    }
}

/// Whether an entry has a record, so that it is worth giving back.
pub(super) fn is_recorded(entry: &Map<String, Value>) -> bool {
    entry.contains_key(MEMBER)
}

/// Changes `back`, what `live` converts to, as the record of `entry` says if it is of `live`.
pub(super) fn give_back(entry: &Map<String, Value>, live: &Value, back: &mut Value) {
    let Some(record) = entry.get(MEMBER).filter(|record| record["of"] == name(live)) else { return };
    for change in record["set"].as_array().into_iter().flatten() {
        // The whole stays an object, whatever the record says.
        if let Some(steps) = change["at"].as_array().filter(|steps| !steps.is_empty()) {
            set(back, steps, &change["is"]);
        }
    }
}

/// Adds texts to the record: those of members that nest too deep to be a tree, by their names.
pub(super) fn record_texts(entry: &mut Map<String, Value>, made: impl FnOnce() -> Value, texts: Map<String, Value>) {
    if !texts.is_empty() {
        let record = entry.entry(MEMBER).or_insert_with(|| json!({"of": name(&made())}));
        record["texts"] = texts.into();
    }
}

/// The text of a member that nested too deep, if the record is of `live`.
pub(super) fn text<'a>(entry: &'a Map<String, Value>, live: &Value, member: &str) -> Option<&'a str> {
    let record = entry.get(MEMBER).filter(|record| record["of"] == name(live))?;
    record["texts"][member].as_str()
}

pub(super) fn name(object: &Value) -> String {
    format!("{:016x}", fingerprint(object))
}

/// Collects the topmost nodes in which `back` differs from what was `written`.
fn compare(back: &Value, written: &Value, at: &mut Vec<Value>, changes: &mut Vec<Value>) {
    match (back, written) {
        (Value::Object(left), Value::Object(right)) => {
            let added = right.keys().filter(|name| !left.contains_key(*name));
            for name in left.keys().chain(added) {
                let of = |members: &Map<String, Value>| members.get(name).cloned().unwrap_or_default();
                match (left.get(name), right.get(name)) {
                    (Some(back), Some(written)) => below(name.as_str().into(), back, written, at, changes),
                    _ => below(name.as_str().into(), &of(left), &of(right), at, changes),
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (back, written)) in left.iter().zip(right).enumerate() {
                below(index.into(), back, written, at, changes);
            }
        }
        _ if same(back, written) => {}
        _ => changes.push(json!({"at": at, "is": written})),
    }
}

fn below(step: Value, back: &Value, written: &Value, at: &mut Vec<Value>, changes: &mut Vec<Value>) {
    at.push(step);
    compare(back, written, at, changes);
    at.pop();
}

/// Sets the node, or takes the member away that is to be null.
fn set(node: &mut Value, steps: &[Value], value: &Value) {
    let parent = steps.split_last().and_then(|(last, before)| Some((last.as_str()?, before)));
    if let Some((name, before)) = parent.filter(|_| value.is_null()) {
        let members = find(node, before).and_then(Value::as_object_mut);
        members.and_then(|members| members.remove(name));
    } else if let Some(place) = find(node, steps) {
        *place = value.clone();
    }
}

/// The node that these steps lead to; members are made where they are missing.
fn find<'a>(mut node: &'a mut Value, steps: &[Value]) -> Option<&'a mut Value> {
    for step in steps {
        node = match (node, step) {
            (Value::Array(items), Value::Number(index)) => items.get_mut(usize::try_from(index.as_u64()?).ok()?)?,
            (Value::Object(members), Value::String(name)) => members.entry(name.as_str()).or_insert(Value::Null),
            _ => return None,
        };
    }
    Some(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(made: &Value, back: &Value, written: &Value) -> Map<String, Value> {
        let mut entry = Map::new();
        record(&mut entry, || made.clone(), back, written);
        entry
    }

    #[test]
    fn nothing_is_recorded_where_the_way_back_leads_home() {
        let entry = kept(&json!(1), &json!({"a": [1, {}]}), &json!({"a": [1, null], "b": {}}));
        assert!(entry.is_empty());
    }

    #[test]
    fn what_changed_on_the_way_is_given_back() {
        let (made, written) = (json!({"x": 1}), json!({"a": [{"b": 1, "c": {"d": 2}}], "e": "f"}));
        let mut back = json!({"a": [{"b": 2, "g": 3}], "e": "f"});
        let entry = kept(&made, &back, &written);
        assert_eq!(entry["gateward"]["set"].as_array().map(Vec::len), Some(3));
        give_back(&entry, &made, &mut back);
        assert!(same(&back, &written), "{back}");
    }

    #[test]
    fn a_record_of_another_object_holds_nothing() {
        let entry = kept(&json!({"x": 1}), &json!({"a": 1}), &json!({"a": 2}));
        let mut back = json!({"a": 1});
        give_back(&entry, &json!({"x": 2}), &mut back);
        assert_eq!(back, json!({"a": 1}));
    }

    #[test]
    fn a_damaged_record_changes_only_what_it_can() {
        let live = json!({"x": 1});
        for set in [json!("odd"), json!([5, {"at": ["a", "b"], "is": 1}, {"at": [0], "is": 2}])] {
            let mut back = json!({"a": 1});
            let entry = json!({"gateward": {"of": name(&live), "set": set}});
            give_back(entry.as_object().unwrap(), &live, &mut back);
            assert_eq!(back["a"], 1);
        }
    }
}
