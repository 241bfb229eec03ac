//! A typed object as JSON, with `apiVersion`, `kind` and `metadata` set apart.
//!
//! The types may or may not have these members; what the result has in them doesn't come from the types.

use std::cell::{Cell, RefCell};
use std::io::{self, Write};

use serde::Serialize;
use serde::ser::Error;
use serde_json::ser::Formatter;

use crate::conversion::ConversionError;
use crate::json::members::members_in_order;
use crate::rule::field::FieldPath;

/// What a type writes of an object.
pub(crate) struct Serialized {
    /// All other members, each with a comma in front.
    pub members: String,
    /// What the type has of the metadata; `None` where it has none.
    pub metadata: Option<String>,
}

impl Serialized {
    /// Writes an object. An error where the type doesn't write an object.
    pub fn of<T: Serialize>(object: &T) -> Result<Self, serde_json::Error> {
        let (length, members) = (Cell::new(0), RefCell::new(Vec::new()));
        let mut text = CountedText { bytes: Vec::new(), length: &length };
        let notes = MemberFormatter { depth: 0, length: &length, members: &members };
        object.serialize(&mut serde_json::Serializer::with_formatter(&mut text, notes))?;
        let text = String::from_utf8(text.bytes).map_err(serde_json::Error::custom)?;
        let members = members.take();
        // Text that the type keeps as it was read is written at once.
        if members.is_empty() || !text.starts_with('{') {
            return Self::of_text(&text);
        }
        let mut written = Self { members: String::with_capacity(text.len()), metadata: None };
        for MemberAt { name, value, end } in members {
            // What was noted lies within the text.
            let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
            written.add(part(name, value).trim_end_matches(':'), part(value, end));
        }
        Ok(written)
    }

    /// The same of an object that is written already.
    pub fn of_text(text: &str) -> Result<Self, serde_json::Error> {
        let members =
            members_in_order(text).ok_or_else(|| serde_json::Error::custom("its type writes something else"))?;
        let mut written = Self { members: String::with_capacity(text.len()), metadata: None };
        for (name, value) in members {
            written.add(&serde_json::to_string(&name)?, value.get());
        }
        Ok(written)
    }

    /// Takes a member over, by its name as JSON.
    fn add(&mut self, name: &str, value: &str) {
        match name {
            "\"metadata\"" => self.metadata = Some(value.to_owned()),
            "\"apiVersion\"" | "\"kind\"" => {}
            _ => {
                for part in [",", name, ":", value] {
                    self.members.push_str(part);
                }
            }
        }
    }
}

/// Where a member of the outermost object stands in its text: its name, its value, and where that ends.
#[derive(Default)]
struct MemberAt {
    name: usize,
    value: usize,
    end: usize,
}

/// Notes where the members of the outermost object stand while they are written, so that no search for them is needed.
struct MemberFormatter<'n> {
    depth: usize,
    length: &'n Cell<usize>,
    members: &'n RefCell<Vec<MemberAt>>,
}

impl MemberFormatter<'_> {
    fn note(&self, at: impl FnOnce(&mut MemberAt) -> &mut usize) {
        if self.depth == 1
            && let Some(member) = self.members.borrow_mut().last_mut()
        {
            *at(member) = self.length.get();
        }
    }
}

impl Formatter for MemberFormatter<'_> {
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.depth == 1 {
            self.members.borrow_mut().push(MemberAt { name: self.length.get(), ..MemberAt::default() });
        }
        Ok(())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b":")?;
        self.note(|member| &mut member.value);
        Ok(())
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.note(|member| &mut member.end);
        Ok(())
    }
}

/// Text that says how long it is.
struct CountedText<'n> {
    bytes: Vec<u8>,
    length: &'n Cell<usize>,
}

impl Write for CountedText<'_> {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.write_all(part).map(|()| part.len())
    }

    fn write_all(&mut self, part: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(part);
        self.length.set(self.bytes.len());
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a type writes is no object.
pub(crate) fn no_json(error: &serde_json::Error) -> ConversionError {
    let message = format!("what the conversion made is no object: {error}");
    ConversionError { path: FieldPath::root(), message }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
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
        assert_eq!(written.metadata.as_deref(), Some(expected));
    }

    #[test]
    fn finds_the_members_of_what_is_written_as_it_was_read() {
        let text = r#"{ "kind" : "A", "metadata":{"name" : "otter"}, "spec":{"metadata":{"a":[{"b":1}]}} }"#;
        let raw: Box<RawValue> = serde_json::from_str(text).unwrap();
        let written = Serialized::of(&raw).unwrap();
        assert_eq!(written.members, r#","spec":{"metadata":{"a":[{"b":1}]}}"#);
        assert_eq!(written.metadata.as_deref(), Some(r#"{"name" : "otter"}"#));
        let object = json!({"metadata": {"name": "otter"}, "spec": raw, "a\"b": [{}, {"kind": 1}]});
        let written = Serialized::of(&object).unwrap();
        assert_eq!(written.members, format!(r#","a\"b":[{{}},{{"kind":1}}],"spec":{}"#, object["spec"]));
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
