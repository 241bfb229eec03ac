//! Minimal JSON Patch (RFC 6902).

use serde_json::Value;

/// Whether two JSON values mean the same: numbers are compared by value, so `1` equals `1.0`.
pub fn same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64() && !(both_integers(a, b)),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same_value(x, y)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, x)| b.get(key).is_some_and(|y| same_value(x, y)))
        }
        _ => one == other,
    }
}

/// Two integers are equal only digit by digit: beyond 2^53 doubles would call neighbours equal.
fn both_integers(a: &serde_json::Number, b: &serde_json::Number) -> bool {
    !a.is_f64() && !b.is_f64()
}
