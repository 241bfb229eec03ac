//! A subtree kept as it came, with a typed view of the part that rules read.

use std::fmt;
use std::sync::OnceLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::decode::{self, DecodeError};
use crate::patch::same_value;

/// A subtree of an object as JSON, with a lean view `T` that is decoded when somebody first asks for it.
///
/// Fields that `T` doesn't know stay: what is written back is the JSON that was read, byte for byte.
///
/// ```
/// use gateward_core::Raw;
///
/// #[derive(serde::Deserialize)]
/// struct Container { image: String }
///
/// let raw: Raw<Container> = serde_json::from_str(r#"{"image":"a","tty":true}"#).unwrap();
/// assert_eq!(raw.view().unwrap().image, "a");
/// assert_eq!(serde_json::to_string(&raw).unwrap(), r#"{"image":"a","tty":true}"#);
/// ```
pub struct Raw<T> {
    json: Box<RawValue>,
    view: OnceLock<Result<T, DecodeError>>,
}

impl<T: DeserializeOwned> Raw<T> {
    /// The typed view, decoded once.
    ///
    /// The error names the node whose JSON type is wrong, by a path from this subtree's root.
    pub fn view(&self) -> Result<&T, &DecodeError> {
        self.view.get_or_init(|| decode::from_str(self.json.get())).as_ref()
    }
}

impl<T> Raw<T> {
    /// The JSON text of the subtree.
    pub fn json(&self) -> &str {
        self.json.get()
    }

    /// The subtree as a generic value.
    pub fn to_value(&self) -> Value {
        // Text that was scanned as JSON parses as JSON, up to the depth limit of the parser; beyond it nothing can
        // be read from the subtree, so it counts as null.
        serde_json::from_str(self.json.get()).unwrap_or(Value::Null)
    }
}

impl<T> From<Value> for Raw<T> {
    fn from(value: Value) -> Self {
        let json = RawValue::from_string(value.to_string()).unwrap_or_else(|_| RawValue::NULL.to_owned());
        Self { json, view: OnceLock::new() }
    }
}

impl<'de, T> Deserialize<'de> for Raw<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|json| Self { json, view: OnceLock::new() })
    }
}

impl<T> Serialize for Raw<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<T> Clone for Raw<T> {
    fn clone(&self) -> Self {
        Self { json: self.json.clone(), view: OnceLock::new() }
    }
}

impl<T> fmt::Debug for Raw<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Subtrees may hold secrets in environment variables; only their size is shown.
        write!(f, "Raw({} bytes)", self.json.get().len())
    }
}

/// Equal when the JSON means the same: member order, white space and number spelling don't count. Subtrees that nest too
/// deeply to be read are equal when their texts are.
impl<T> PartialEq for Raw<T> {
    fn eq(&self, other: &Self) -> bool {
        let tree = |raw: &Self| serde_json::from_str::<Value>(raw.json.get()).ok();
        let same = || Some(same_value(&tree(self)?, &tree(other)?));
        self.json.get() == other.json.get() || same() == Some(true)
    }
}

/// The schema of the whole subtree is that of `T`, however lean the view.
#[cfg(feature = "schemars")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Raw<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Lean {
        image: Option<String>,
    }

    #[test]
    fn names_the_node_of_the_wrong_type() {
        let raw: Raw<Lean> = serde_json::from_str(r#"{"image": 5}"#).unwrap();
        let error = raw.view().unwrap_err();
        assert_eq!(error.path.to_string(), "image");
    }

    #[test]
    fn equality_is_by_meaning() {
        let one: Raw<Lean> = serde_json::from_str(r#"{"a": 1.0, "b": 2}"#).unwrap();
        let other: Raw<Lean> = serde_json::from_str(r#"{"b":2,"a":1}"#).unwrap();
        assert_eq!(one, other);
        assert!(one.view().unwrap().image.is_none());
    }
    #[test]
    fn two_subtrees_that_nest_too_deeply_are_not_taken_for_the_same() {
        let deep = |leaf: &str| format!("{}{leaf}{}", "[".repeat(200), "]".repeat(200));
        let read = |text: &str| serde_json::from_str::<Raw<Lean>>(text).unwrap();
        assert_ne!(read(&deep("1")), read(&deep("2")));
        assert_eq!(read(&deep("1")), read(&deep("1")));
    }
}
