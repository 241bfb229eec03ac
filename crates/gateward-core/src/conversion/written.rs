//! A typed object as JSON, with `apiVersion`, `kind` and `metadata` set apart.
//!
//! The types may or may not have these members; what the result has in them doesn't come from the types.

use serde::Serialize;
use serde::ser::{Error, Impossible, SerializeMap, SerializeStruct, Serializer};
use serde_json::Value;

use crate::conversion::envelope::{Metadata, Texts};

/// What a type writes of an object.
pub(crate) struct Written {
    /// All other members, each with a comma in front.
    pub members: String,
    /// What the type has of the metadata; `None` where it has none.
    pub metadata: Option<TypedMetadata>,
}

/// The part of typed metadata that conversions may edit.
#[derive(Debug, Default)]
pub(crate) struct TypedMetadata {
    /// The name as JSON, which tells metadata that was handed over from metadata that wasn't.
    pub name: Option<String>,
    /// The labels.
    pub labels: Texts,
    /// The annotations.
    pub annotations: Texts,
}

impl Written {
    /// Writes an object. An error where the type doesn't write an object.
    pub fn of<T: Serialize>(object: &T) -> Result<Self, serde_json::Error> {
        object.serialize(Root { others: Others::Written })
    }
}

impl TypedMetadata {
    /// The metadata of an object, of which nothing else is written.
    pub fn of<T: Serialize>(object: &T) -> Option<Self> {
        object.serialize(Root { others: Others::Skipped }).ok()?.metadata
    }

    /// What isn't of the usual shape was not handed over.
    fn read(json: &str) -> Self {
        let read = serde_json::from_str(json).ok().and_then(|raw| Metadata::read(Some(raw)));
        read.map_or_else(Self::default, |metadata| {
            let name = metadata.member("name").map(|name| name.get().to_owned());
            Self { name, labels: metadata.labels, annotations: metadata.annotations }
        })
    }
}

/// What becomes of the members that are not set apart.
#[derive(Clone, Copy)]
enum Others {
    Written,
    Skipped,
}

struct Root {
    others: Others,
}

struct Members {
    others: Others,
    key: String,
    written: Written,
}

impl Root {
    fn members(self) -> Members {
        let written = Written { members: String::new(), metadata: None };
        Members { others: self.others, key: String::new(), written }
    }
}

impl Members {
    fn add<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), serde_json::Error> {
        match (name, self.others) {
            ("metadata", _) => self.written.metadata = Some(TypedMetadata::read(&serde_json::to_string(value)?)),
            ("apiVersion" | "kind", _) | (_, Others::Skipped) => {}
            (name, Others::Written) => {
                self.written.members.push(',');
                self.written.members.push_str(&serde_json::to_string(name)?);
                self.written.members.push(':');
                self.written.members.push_str(&serde_json::to_string(value)?);
            }
        }
        Ok(())
    }
}

impl SerializeStruct for Members {
    type Ok = Written;
    type Error = serde_json::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Self::Error> {
        self.add(name, value)
    }

    fn end(self) -> Result<Written, Self::Error> {
        Ok(self.written)
    }
}

impl SerializeMap for Members {
    type Ok = Written;
    type Error = serde_json::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Self::Error> {
        match serde_json::to_value(key)? {
            Value::String(key) => self.key = key,
            other => return Err(Self::Error::custom(format!("{other} is no name of a member"))),
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Self::Error> {
        let key = std::mem::take(&mut self.key);
        self.add(&key, value)
    }

    fn end(self) -> Result<Written, Self::Error> {
        Ok(self.written)
    }
}

/// Methods for what is no object.
macro_rules! no_object {
    ($($method:ident($($type:ty),*);)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<Written, serde_json::Error> {
            Err(not_an_object())
        })*
    };
}

fn not_an_object() -> serde_json::Error {
    serde_json::Error::custom("the type doesn't write an object")
}

type None = Impossible<Written, serde_json::Error>;

impl Serializer for Root {
    type Ok = Written;
    type Error = serde_json::Error;
    type SerializeSeq = None;
    type SerializeTuple = None;
    type SerializeTupleStruct = None;
    type SerializeTupleVariant = None;
    type SerializeMap = Members;
    type SerializeStruct = Members;
    type SerializeStructVariant = None;

    no_object! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Written, Self::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Written, Self::Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Written, Self::Error> {
        Err(not_an_object())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<None, Self::Error> {
        Err(not_an_object())
    }

    fn serialize_tuple(self, _: usize) -> Result<None, Self::Error> {
        Err(not_an_object())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<None, Self::Error> {
        Err(not_an_object())
    }

    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<None, Self::Error> {
        Err(not_an_object())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Members, Self::Error> {
        Ok(self.members())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Members, Self::Error> {
        Ok(self.members())
    }

    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<None, Self::Error> {
        Err(not_an_object())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

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
            Written::of(&Object { api_version: "g/v1", metadata, flat: Flat { spec: 1 }, status: None }).unwrap();
        assert_eq!(written.members, r#","spec":1"#);
        let metadata = written.metadata.unwrap();
        assert_eq!(metadata.name.as_deref(), Some("\"otter\""));
        assert_eq!(metadata.annotations, BTreeMap::from([("a".to_owned(), "1".to_owned())]));
    }

    #[test]
    fn a_type_without_metadata_has_none() {
        assert!(TypedMetadata::of(&Flat { spec: 1 }).is_none());
    }

    #[test]
    fn what_is_no_object_is_an_error() {
        for value in [json!(null), json!([1]), json!("x"), json!(1.5)] {
            assert!(Written::of(&value).is_err(), "{value}");
        }
    }
}
