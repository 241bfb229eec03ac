//! Free-form JSON, read as far as it isn't nested too deeply.

use gateward::Raw;
use serde_json::{Map, Number, Value};

/// JSON that nests more deeply is preserved unread: it couldn't be read again from within another object.
const DEEPEST: usize = 96;

/// The limit of whole numbers that a double represents exactly.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The members, if the value is a map that can be read.
pub(super) fn object<T>(raw: &Raw<T>) -> Option<Map<String, Value>> {
    within(raw, DEEPEST)
}

/// The same for a value that becomes a member of such a map.
pub(super) fn object_below<T>(raw: &Raw<T>) -> Option<Map<String, Value>> {
    within(raw, DEEPEST - 1)
}

/// Whether a value that becomes a member of such a map has to be preserved unread.
pub(super) fn is_unreadable<T>(raw: &Raw<T>) -> bool {
    let value = raw.to_value();
    !is_within(&value, DEEPEST - 1) || (value.is_null() && raw.json() != "null")
}

/// Changes the map at this member, which is created if there is none.
pub(super) fn edit(parent: &mut Map<String, Value>, name: &str, change: impl FnOnce(&mut Map<String, Value>)) {
    let mut members = match parent.remove(name) {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    change(&mut members);
    parent.insert(name.to_owned(), Value::Object(members));
}

/// Text that nests more deeply, or has greater numbers, than can be read is read as null.
fn within<T>(raw: &Raw<T>, depth: usize) -> Option<Map<String, Value>> {
    match raw.to_value() {
        Value::Object(members) if members.values().all(|below| is_within(below, depth - 1)) => Some(members),
        _ => None,
    }
}

fn is_within(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(members) => depth > 0 && members.values().all(|below| is_within(below, depth - 1)),
        Value::Array(items) => depth > 0 && items.iter().all(|below| is_within(below, depth - 1)),
        _ => true,
    }
}

/// A number as JSON, without a point where it is whole.
pub(super) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "a whole number within the limit")]
        return Value::Number(Number::from(value as i64));
    }
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}
