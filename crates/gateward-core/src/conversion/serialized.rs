//! A typed object as JSON, with `apiVersion`, `kind` and `metadata` set apart.
//!
//! The types may or may not have these members; what the result has in them doesn't come from the types.

use serde::Serialize;
use serde::de::Error;
use serde_json::value::RawValue;

use crate::conversion::ConversionError;
use crate::json::members::members_in_order;
use crate::rule::field::FieldPath;

/// What a type writes of an object.
pub(crate) struct Serialized {
    /// All other members, each with a comma in front.
    pub members: String,
    /// What the type has of the metadata; `None` where it has none.
    pub metadata: Option<Box<RawValue>>,
}

impl Serialized {
    /// Writes an object. An error where the type doesn't write an object.
    pub fn of<T: Serialize>(object: &T) -> Result<Self, serde_json::Error> {
        Self::of_text(&serde_json::to_string(object)?)
    }

    /// The same of an object that is written already.
    pub fn of_text(text: &str) -> Result<Self, serde_json::Error> {
        let members =
            members_in_order(text).ok_or_else(|| serde_json::Error::custom("its type writes something else"))?;
        let mut written = Self { members: String::with_capacity(text.len()), metadata: None };
        for (name, value) in members {
            match name.as_ref() {
                "metadata" => written.metadata = Some(value.to_owned()),
                "apiVersion" | "kind" => {}
                _ => {
                    written.members.push(',');
                    written.members.push_str(&serde_json::to_string(&name)?);
                    written.members.push(':');
                    written.members.push_str(value.get());
                }
            }
        }
        Ok(written)
    }
}

/// What a type writes is no object.
pub(crate) fn no_json(error: &serde_json::Error) -> ConversionError {
    let message = format!("what the conversion made is no object: {error}");
    ConversionError { path: FieldPath::root(), message }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[derive(Serialize)]
    struct Flat {
        spec: u32,
    }

    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Object {
        api_version: &'static str,
        metadata: Value,
        #[serde(flatten)]
        flat: Flat,
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<u32>,
    }

    #[test]
    fn sets_the_metadata_apart_also_where_members_are_flattened() {
        let metadata = json!({"name": "otter", "annotations": {"a": "1"}, "labels": {}});
        let written =
            Serialized::of(&Object { api_version: "g/v1", metadata, flat: Flat { spec: 1 }, status: None }).unwrap();
        assert_eq!(written.members, r#","spec":1"#);
        let expected = r#"{"annotations":{"a":"1"},"labels":{},"name":"otter"}"#;
        assert_eq!(written.metadata.unwrap().get(), expected);
    }

    #[test]
    fn a_type_without_metadata_has_none() {
        assert!(Serialized::of(&Flat { spec: 1 }).unwrap().metadata.is_none());
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for value in [json!(null), json!([1]), json!("x"), json!(1.5)] {
            assert!(Serialized::of(&value).is_err(), "{value}");
        }
    }
}
