//! A manifest, and its nodes with the way to them.

use std::borrow::Cow;

use gateward_core::{FieldPath, Segment};
use serde_json::Value;

use crate::yaml::Document;

static NOTHING: Value = Value::Null;

/// No name, address or path is longer, in bytes. What is longer would stand in each finding about it.
const LONGEST: usize = 1024;

/// How much of a value a message shows, in bytes.
const SHOWN: usize = 100;

/// A document of a file.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) file: String,
    pub(super) document: Document,
}

impl Manifest {
    pub(super) fn kind(&self) -> &str {
        Field::root(self).at("kind").text()
    }

    pub(super) fn api_version(&self) -> &str {
        Field::root(self).at("apiVersion").text()
    }

    pub(super) fn name(&self) -> &str {
        Field::root(self).below(&["metadata", "name"]).text()
    }
}

/// A node of a manifest, there or not.
#[derive(Debug, Clone)]
pub(super) struct Field<'b> {
    pub(super) manifest: &'b Manifest,
    pub(super) path: FieldPath,
    pub(super) value: &'b Value,
}

impl<'b> Field<'b> {
    /// The whole object.
    pub(super) fn root(manifest: &'b Manifest) -> Self {
        Self { manifest, path: FieldPath::root(), value: &manifest.document.value }
    }

    /// A member.
    pub(super) fn at(&self, name: &'static str) -> Self {
        Self { manifest: self.manifest, path: &self.path / name, value: self.value.get(name).unwrap_or(&NOTHING) }
    }

    /// A member of a member, and so on.
    pub(super) fn below(&self, names: &[&'static str]) -> Self {
        names.iter().fold(self.clone(), |field, name| field.at(name))
    }

    /// An entry of a map.
    pub(super) fn entry(&self, key: &str) -> Self {
        let path = self.path.child(Segment::Key(Cow::Owned(key.to_owned())));
        Self { manifest: self.manifest, path, value: self.value.get(key).unwrap_or(&NOTHING) }
    }

    /// What is found by a path from the root.
    pub(super) fn find(&self, path: FieldPath) -> Self {
        let value = path.find(&self.manifest.document.value).unwrap_or(&NOTHING);
        Self { manifest: self.manifest, path, value }
    }

    /// The items of a list; none of anything else.
    pub(super) fn items(&self) -> impl Iterator<Item = Field<'b>> + use<'b> {
        let (manifest, path) = (self.manifest, self.path.clone());
        let items = self.value.as_array().map_or(&[][..], Vec::as_slice);
        items.iter().enumerate().map(move |(index, value)| Field { manifest, path: path.index(index), value })
    }

    /// The keys of a mapping, with their values.
    pub(super) fn members(&self) -> impl Iterator<Item = (&'b str, Field<'b>)> + use<'b> {
        let (manifest, path) = (self.manifest, self.path.clone());
        self.value.as_object().into_iter().flatten().map(move |(key, value)| {
            let path = path.child(Segment::Field(Cow::Owned(key.clone())));
            (key.as_str(), Field { manifest, path, value })
        })
    }

    /// The text, as far as a name or an address may reach; empty where it is none.
    pub(super) fn text(&self) -> &'b str {
        let text = self.whole_text();
        text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default()
    }

    /// The whole text, however long.
    pub(super) fn whole_text(&self) -> &'b str {
        self.value.as_str().unwrap_or_default()
    }

    /// The value as a message shows it.
    pub(super) fn shown(&self) -> String {
        if self.is_absent() {
            return "nothing".to_owned();
        }
        let mut text = self.value.to_string();
        if text.len() > SHOWN {
            text.truncate(text.floor_char_boundary(SHOWN));
            text.push('…');
        }
        text
    }

    /// The texts of a list.
    pub(super) fn texts(&self) -> impl Iterator<Item = &'b str> + use<'b> {
        self.value.as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    /// Whether there is nothing.
    pub(super) fn is_absent(&self) -> bool {
        self.value.is_null()
    }

    /// Whether there is nothing, or nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        match self.value {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Whether it is `true`.
    pub(super) fn is_true(&self) -> bool {
        self.value == &Value::Bool(true)
    }

    /// Whether it is `false`, which an absent field isn't.
    pub(super) fn is_false(&self) -> bool {
        self.value == &Value::Bool(false)
    }
}
