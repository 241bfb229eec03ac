//! When two JSON values mean the same: absent, null and an empty list, map or struct are one to Kubernetes.

pub(super) use gateward_core::conversion::equivalence::{same, says_nothing};
use serde_json::Value;

/// A number that two values share when they mean the same, and hardly ever otherwise. It is written down, so it may
/// never change.
pub(super) fn fingerprint(value: &Value) -> u64 {
    match value {
        value if says_nothing(value) => 0,
        Value::Object(members) => {
            let said = members.iter().filter(|(_, value)| !says_nothing(value));
            said.fold(1, |sum, (name, value)| {
                sum.wrapping_add(hash(hash(OBJECT, name), fingerprint(value).to_le_bytes()))
            })
        }
        Value::Array(items) => items.iter().fold(ARRAY, |hashed, item| hash(hashed, fingerprint(item).to_le_bytes())),
        Value::String(text) => hash(TEXT, text),
        scalar => hash(SCALAR, scalar.to_string()),
    }
}

/// Where the hash of each JSON type starts; the first is FNV's own.
const TEXT: u64 = 0xcbf2_9ce4_8422_2325;
const SCALAR: u64 = TEXT ^ 1;
const ARRAY: u64 = TEXT ^ 2;
const OBJECT: u64 = TEXT ^ 3;

/// FNV-1a in 64 bits.
fn hash(start: u64, bytes: impl AsRef<[u8]>) -> u64 {
    let bytes = bytes.as_ref().iter();
    bytes.fold(start, |hashed, byte| (hashed ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn alike(one: &Value, other: &Value) -> bool {
        assert_eq!(same(one, other), same(other, one));
        assert_eq!(same(one, other), fingerprint(one) == fingerprint(other), "{one} {other}");
        same(one, other)
    }

    #[test]
    fn absent_null_and_empty_are_one() {
        for nothing in [json!(null), json!([]), json!({}), json!({"a": null, "b": {"c": []}})] {
            assert!(alike(&nothing, &Value::Null), "{nothing}");
            assert!(alike(&json!({"x": 1, "y": nothing}), &json!({"x": 1})));
        }
    }

    #[test]
    fn zero_false_and_the_empty_text_say_something() {
        for something in [json!(0), json!(false), json!(""), json!([null])] {
            assert!(!alike(&something, &Value::Null), "{something}");
        }
    }

    #[test]
    fn lists_are_the_same_item_by_item() {
        assert!(alike(&json!([{}, 1]), &json!([null, 1])));
        assert!(!alike(&json!([1, 2]), &json!([2, 1])));
        assert!(!alike(&json!([1, null]), &json!([1])));
    }

    #[test]
    fn types_are_told_apart() {
        assert!(!alike(&json!("1"), &json!(1)));
        assert!(!alike(&json!({"a": 1}), &json!([1])));
        assert!(!alike(&json!({"a": {"b": 1}}), &json!({"b": {"a": 1}})));
    }
}
