//! A node that doesn't fit, and what stands there instead.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::members::{item_at, member_at};
use crate::rule::DECODE;
use crate::rule::field::{FieldPath, Segment};
use crate::rule::issue::{Issue, Redacted};

/// A node that doesn't fit the type of its field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {}", self.said())]
pub struct DecodeError {
    /// Where the node stands, from the root of what was read.
    pub path: FieldPath,
    /// What would fit. Holds no value of the object where the JSON type is what is wrong.
    pub message: String,
    /// What stands there instead.
    pub found: Found,
}

/// What stands at a node that doesn't fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing, and the field must be there.
    Missing,
    /// A value of this type.
    Type(JsonType),
    /// A list or a map that is far too long to be read.
    TooMany {
        /// How many items or members there are.
        actual: usize,
        /// How many there may be.
        max: usize,
    },
    /// An unknown type, in text that is no tree of JSON.
    Unknown,
}

impl DecodeError {
    /// Says that the node of `json` at `path` doesn't fit.
    pub fn at(path: FieldPath, message: String, json: &str) -> Self {
        let found = text_at(json, path.segments()).and_then(JsonType::of_text);
        Self { path, message, found: found.map_or(Found::Unknown, Found::Type) }
    }

    fn said(&self) -> Cow<'_, str> {
        match self.found {
            Found::TooMany { actual, max } => format!("too many: {actual}: must have at most {max} items").into(),
            Found::Missing | Found::Type(_) | Found::Unknown => self.message.as_str().into(),
        }
    }

    /// The finding that this error is, in an object that has the root of what was read at `at`.
    pub fn issue(&self, at: &FieldPath) -> Issue {
        let path = at.join(self.path.segments());
        let issue = match self.found {
            Found::Type(found) => DECODE.invalid(path, found.as_str()),
            Found::Missing => DECODE.required(path),
            Found::TooMany { actual, max } => DECODE.too_many(path, actual, max),
            Found::Unknown => DECODE.invalid(path, Redacted),
        };
        issue.message(self.message.clone())
    }
}

/// The types of JSON, by the names that schemas give them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonType {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// Any other number.
    Number,
    /// Text.
    String,
    /// A list.
    Array,
    /// Members by name.
    Object,
}

impl JsonType {
    /// The type of a value.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_f64() => Self::Number,
            Value::Number(_) => Self::Integer,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// The type of a JSON text.
    fn of_text(json: &str) -> Option<Self> {
        Some(match json.trim_start().bytes().next()? {
            b'n' => Self::Null,
            b't' | b'f' => Self::Boolean,
            b'"' => Self::String,
            b'[' => Self::Array,
            b'{' => Self::Object,
            _ if json.contains(['.', 'e', 'E']) => Self::Number,
            _ => Self::Integer,
        })
    }

    /// The lower-case name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// The text of the node at `path`.
pub(super) fn text_at<'t>(json: &'t str, path: &[Segment]) -> Option<&'t str> {
    path.iter().try_fold(json, |json, step| match step {
        Segment::Index(index) => item_at(json, *index),
        Segment::Field(name) | Segment::Key(name) => member_at(json, name),
    })
}
