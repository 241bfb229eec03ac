//! When two documents say the same.

use std::fmt;

use serde_json::{Map, Value};

/// A place where two documents don't say the same.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonDifference {
    /// The place, as `.member[item]`.
    pub path: String,
    /// What should stand there.
    pub expected: Option<Value>,
    /// What stands there.
    pub found: Option<Value>,
}

impl fmt::Display for JsonDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
        write!(f, "{}: expected {}, found {}", self.path, said(&self.expected), said(&self.found))
    }
}

/// Where `found` says something else than `expected`. Absent, null, an empty list and an empty object are the same, and
/// numbers are compared by value.
///
/// ```
/// use gateward::testing::differences;
/// use serde_json::json;
///
/// assert!(differences(&json!({"a": 1, "b": null}), &json!({"a": 1.0, "c": {}})).is_empty());
/// let found = differences(&json!({"a": [1, 2]}), &json!({"a": [1]}));
/// assert_eq!(found[0].to_string(), ".a[1]: expected 2, found nothing");
/// ```
pub fn differences(expected: &Value, found: &Value) -> Vec<JsonDifference> {
    let mut differences = Vec::new();
    compare(Some(expected), Some(found), &mut String::new(), &mut differences);
    differences
}

fn compare(expected: Option<&Value>, found: Option<&Value>, path: &mut String, differences: &mut Vec<JsonDifference>) {
    if let (Some(Value::Object(expected)), Some(Value::Object(found))) = (expected, found) {
        return members(expected, found, path, differences);
    }
    let (expected, found) = (expected.filter(|value| !is_empty(value)), found.filter(|value| !is_empty(value)));
    match (expected, found) {
        (None, None) => {}
        (Some(Value::Array(expected)), Some(Value::Array(found))) => items(expected, found, path, differences),
        (Some(expected), Some(found)) if is_same_scalar(expected, found) => {}
        (expected, found) => {
            differences.push(JsonDifference { path: path.clone(), expected: expected.cloned(), found: found.cloned() });
        }
    }
}

fn members(
    expected: &Map<String, Value>,
    found: &Map<String, Value>,
    path: &mut String,
    differences: &mut Vec<JsonDifference>,
) {
    let added = found.keys().filter(|name| !expected.contains_key(*name));
    for name in expected.keys().chain(added) {
        below(path, &format!(".{name}"), |path| compare(expected.get(name), found.get(name), path, differences));
    }
}

fn items(expected: &[Value], found: &[Value], path: &mut String, differences: &mut Vec<JsonDifference>) {
    for index in 0..expected.len().max(found.len()) {
        below(path, &format!("[{index}]"), |path| compare(expected.get(index), found.get(index), path, differences));
    }
}

fn below(path: &mut String, step: &str, visit: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push_str(step);
    visit(path);
    path.truncate(length);
}

/// Whether a value says nothing; neither does an object of members that say nothing.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.values().all(is_empty),
        _ => false,
    }
}

#[allow(clippy::float_cmp, reason = "the same number, not a near one")]
fn is_same_scalar(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() || other.is_f64() => one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}
