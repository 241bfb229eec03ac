//! Objects of which others have written every part, read so that none makes the rest unreadable.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// An object without its managed fields: no rule asks for them, they often are half of it, and a tenant may nest them
/// deeper than a parser reads.
///
/// ```
/// use gateward_cluster::ForeignObject;
///
/// let text = r#"{"metadata":{"name":"otter","managedFields":[{}]},"spec":{"replicas":1}}"#;
/// let object = ForeignObject::read(serde_json::from_str(text)?)?;
/// assert_eq!(object.value, serde_json::json!({"metadata": {"name": "otter"}, "spec": {"replicas": 1}}));
/// assert!(object.unread.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ForeignObject {
    /// The object.
    pub value: Value,
    /// The members that nest too deeply to be read, which it lacks.
    pub unread: Vec<String>,
}

/// The members of a JSON object, each as text.
type RawMembers<'r> = BTreeMap<String, &'r RawValue>;

impl ForeignObject {
    /// Reads the text of an object.
    ///
    /// # Errors
    ///
    /// It is no object, or its metadata can't be read.
    pub fn read(text: &RawValue) -> serde_json::Result<Self> {
        let members: RawMembers<'_> = serde_json::from_str(text.get())?;
        let (mut values, mut unread) = (Map::new(), Vec::new());
        for (name, text) in members {
            let value =
                if name == "metadata" { metadata(text).map(Some)? } else { serde_json::from_str(text.get()).ok() };
            match value {
                Some(value) => drop(values.insert(name, value)),
                None => unread.push(name),
            }
        }
        Ok(Self { value: Value::Object(values), unread })
    }
}

fn metadata(text: &RawValue) -> serde_json::Result<Value> {
    let mut members: RawMembers<'_> = serde_json::from_str(text.get())?;
    members.remove("managedFields");
    let values = members.into_iter().map(|(name, text)| Ok((name, serde_json::from_str(text.get())?)));
    values.collect::<serde_json::Result<Map<String, Value>>>().map(Value::Object)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: String) -> ForeignObject {
        ForeignObject::read(&RawValue::from_string(text).unwrap()).unwrap()
    }

    fn deep(levels: usize) -> String {
        format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels))
    }

    #[test]
    fn managed_fields_are_left_out_however_deep_they_are() {
        let fields = deep(10_000);
        let object = read(format!(r#"{{"metadata":{{"name":"a","managedFields":{fields}}},"spec":{{"b":1}}}}"#));
        assert_eq!(object.value, json!({"metadata": {"name": "a"}, "spec": {"b": 1}}));
        assert!(object.unread.is_empty());
    }

    #[test]
    fn a_member_that_nests_too_deeply_is_left_out_and_named() {
        let object = read(format!(r#"{{"metadata":{{"name":"a"}},"spec":{},"status":{{}}}}"#, deep(10_000)));
        assert_eq!(
            (object.value, object.unread),
            (json!({"metadata": {"name": "a"}, "status": {}}), vec!["spec".to_owned()])
        );
    }
}
