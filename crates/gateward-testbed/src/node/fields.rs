//! Reading objects as the API server hands them out: complete with defaults, so that what is absent is empty.

use std::time::Duration;

use serde_json::Value;

/// The text at a JSON pointer.
pub(crate) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The members of the list at a JSON pointer.
pub(crate) fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    object.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The texts of the list at a JSON pointer.
pub(crate) fn texts(object: &Value, pointer: &str) -> Vec<String> {
    list(object, pointer).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The names and texts of the object at a JSON pointer.
pub(crate) fn pairs<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let pairs = object.pointer(pointer).and_then(Value::as_object).into_iter().flatten();
    pairs.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
}

/// The number of seconds at a JSON pointer.
pub(crate) fn seconds(object: &Value, pointer: &str) -> Option<Duration> {
    object.pointer(pointer).and_then(Value::as_u64).map(Duration::from_secs)
}
