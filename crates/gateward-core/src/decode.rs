//! Typed reading of JSON, with the path of what doesn't fit.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserializer;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::field::{FieldPath, Segment};
use crate::issue::{Issue, Redacted};
use crate::objects_only::ObjectsOnly;
use crate::rule::DECODE;

/// A node that doesn't fit the type of its field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
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
    /// Something that can't be told apart, in text that is no tree of JSON.
    Unknown,
}

impl DecodeError {
    /// Says that the node of `json` at `path` doesn't fit.
    pub fn at(path: FieldPath, message: String, json: &str) -> Self {
        let error = Self { path, message, found: Found::Unknown };
        match serde_json::from_str(json) {
            Ok(document) => error.in_document(&document),
            Err(_) => error,
        }
    }

    /// The finding that this error is, in an object that has the root of what was read at `at`.
    pub fn issue(&self, at: &FieldPath) -> Issue {
        let path = at.join(self.path.segments());
        let issue = match self.found {
            Found::Type(found) => DECODE.invalid(path, found.as_str()),
            Found::Missing => DECODE.required(path),
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

/// Reads `json` as a `T`, structs from objects only.
///
/// The fast way is tried first; only when it fails is the text read again to learn where.
pub fn from_str<T: DeserializeOwned>(json: &str) -> Result<T, DecodeError> {
    quickly(json).map_err(|_| {
        let error = first_error::<T>(json);
        if error.found == Found::Unknown { DecodeError::at(error.path, error.message, json) } else { error }
    })
}

/// The nodes of `json` that don't fit `T`, at most `limit` of them. For text that is no `T` there is at least one.
///
/// After each finding the node is taken out and the rest is read again. Positions in lists stay those of `json`.
pub fn errors<T: DeserializeOwned>(json: &str, limit: usize) -> Vec<DecodeError> {
    let Ok(document) = serde_json::from_str::<Value>(json) else { return vec![first_error::<T>(json)] };
    let found = errors_in::<T>(document, limit);
    // A tree can be sound where the text is not, for instance when a member stands there twice.
    if found.is_empty() && quickly::<T>(json).is_err() { vec![first_error::<T>(json)] } else { found }
}

fn errors_in<T: DeserializeOwned>(mut document: Value, limit: usize) -> Vec<DecodeError> {
    let mut found: Vec<DecodeError> = Vec::new();
    let mut taken_out = TakenOut::default();
    for _ in 0..limit {
        let Err(error) = read::<T, _>(&document) else { break };
        let error = error.in_document(&document);
        let (path, node) = (taken_out.written(&error.path), error.node());
        // What is missing only because it was taken out is no finding.
        if !taken_out.nodes.contains(&path) {
            found.push(DecodeError { path, ..error });
        }
        if !remove(&mut document, node.segments()) {
            break;
        }
        taken_out.add(&node);
    }
    found
}

/// The nodes that are in the document no longer, by the paths that they had in the whole one.
#[derive(Default)]
struct TakenOut {
    nodes: Vec<FieldPath>,
    /// The positions that each list lacks, in order.
    items: BTreeMap<FieldPath, Vec<usize>>,
}

impl TakenOut {
    fn add(&mut self, node: &FieldPath) {
        let node = self.written(node);
        if let (Some(list), Some(Segment::Index(index))) = (node.parent(), node.segments().last()) {
            let gaps = self.items.entry(list).or_default();
            gaps.insert(gaps.partition_point(|gap| gap < index), *index);
        }
        self.nodes.push(node);
    }

    /// Where the node at `path` stands in the whole document.
    fn written(&self, path: &FieldPath) -> FieldPath {
        path.segments().iter().fold(FieldPath::root(), |list, segment| match (segment, self.items.get(&list)) {
            (Segment::Index(index), Some(gaps)) => {
                let index = gaps.iter().fold(*index, |index, &gap| if gap <= index { index + 1 } else { index });
                list.index(index)
            }
            _ => list.child(segment.clone()),
        })
    }
}

/// Reads `json` without learning where it doesn't fit.
pub(crate) fn quickly<T: DeserializeOwned>(json: &str) -> serde_json::Result<T> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let read = T::deserialize(ObjectsOnly(&mut deserializer))?;
    deserializer.end().map(|()| read)
}

fn first_error<T: DeserializeOwned>(json: &str) -> DecodeError {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    match read::<T, _>(&mut deserializer) {
        Ok(_) => DecodeError { path: FieldPath::root(), message: "trailing characters".into(), found: Found::Unknown },
        Err(error) => error,
    }
}

fn read<'de, T, D>(from: D) -> Result<T, DecodeError>
where
    T: DeserializeOwned,
    D: Deserializer<'de, Error = serde_json::Error>,
{
    serde_path_to_error::deserialize::<_, T>(ObjectsOnly(from)).map_err(|error| {
        let path = error.path().iter().filter_map(segment).collect();
        DecodeError::new(path, &error.into_inner().to_string())
    })
}

fn segment(step: &serde_path_to_error::Segment) -> Option<Segment> {
    use serde_path_to_error::Segment as Step;
    match step {
        Step::Seq { index } => Some(Segment::Index(*index)),
        Step::Map { key } => Some(Segment::Field(Cow::Owned(key.clone()))),
        Step::Enum { .. } | Step::Unknown => None,
    }
}

impl DecodeError {
    /// From what serde says about the node at `path`.
    fn new(path: FieldPath, text: &str) -> Self {
        let text = without_position(text);
        if let Some(field) = text.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
            let path = path.child(Segment::Field(Cow::Owned(field.to_owned())));
            return Self { path, message: "the field must be there".into(), found: Found::Missing };
        }
        Self { path, message: reworded(text), found: Found::Unknown }
    }

    /// With the type of the node as `document` has it.
    fn in_document(mut self, document: &Value) -> Self {
        if self.found == Found::Unknown {
            self.found = self.path.find(document).map_or(Found::Unknown, |node| Found::Type(JsonType::of(node)));
        }
        self
    }

    /// The node that is there: the field itself, or the parent of a missing one.
    fn node(&self) -> FieldPath {
        match self.found {
            Found::Missing => self.path.parent().unwrap_or_default(),
            Found::Type(_) | Found::Unknown => self.path.clone(),
        }
    }
}

/// Line and column of a text that was read again mean nothing to the user.
fn without_position(text: &str) -> &str {
    match text.rsplit_once(" at line ") {
        Some((message, position)) if position.contains(" column ") => message,
        _ => text,
    }
}

/// What serde says, in the words of a schema.
fn reworded(text: &str) -> String {
    if let Some((_, expected)) = text.strip_prefix("invalid type: ").and_then(|rest| rest.rsplit_once(", expected ")) {
        return format!("must be {}", in_words(expected));
    }
    match text.strip_prefix("invalid value: ").and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((found, expected)) => format!("{found} is not {}", in_words(expected)),
        None => text.to_owned(),
    }
}

fn in_words(expected: &str) -> Cow<'_, str> {
    let unsigned = |bits: &str| Cow::Owned(format!("a non-negative integer of {bits} bits"));
    let signed = |bits: &str| Cow::Owned(format!("an integer of {bits} bits"));
    match expected {
        "i8" | "i16" | "i32" | "i64" => signed(&expected[1..]),
        "u8" | "u16" | "u32" | "u64" => unsigned(&expected[1..]),
        "f32" | "f64" => "a number".into(),
        "a sequence" => "an array".into(),
        "a map" => "an object".into(),
        other if other.starts_with("struct ") => "an object".into(),
        other => other.into(),
    }
}

fn remove(document: &mut Value, steps: &[Segment]) -> bool {
    let Some((last, above)) = steps.split_last() else { return false };
    let parent = above.iter().try_fold(document, |node, step| match step {
        Segment::Index(index) => node.get_mut(*index),
        Segment::Field(name) | Segment::Key(name) => node.get_mut(name.as_ref()),
    });
    match (parent, last) {
        (Some(Value::Object(members)), Segment::Field(name) | Segment::Key(name)) => {
            members.remove(name.as_ref()).is_some()
        }
        (Some(Value::Array(items)), Segment::Index(index)) if *index < items.len() => {
            items.remove(*index);
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "only read to see whether reading works")]
    struct Spec {
        replicas: Option<i32>,
        name: Option<String>,
        items: Option<Vec<i32>>,
        parts: Option<Vec<Part>>,
    }

    #[derive(Debug, serde::Deserialize)]
    #[expect(dead_code, reason = "only read to see whether reading works")]
    struct Part {
        size: u8,
        #[serde(default)]
        on: bool,
    }

    fn paths(json: &str) -> Vec<String> {
        let mut paths: Vec<String> = errors::<Spec>(json, 10).iter().map(|error| error.path.to_string()).collect();
        paths.sort();
        paths
    }

    #[test]
    fn names_every_node_of_the_wrong_type() {
        let json = r#"{"replicas": "2", "name": 3, "items": ["w", 1, "x", 2, 3, "y"]}"#;
        assert_eq!(paths(json), ["items[0]", "items[2]", "items[5]", "name", "replicas"]);
    }

    #[test]
    fn names_the_members_of_several_items_by_their_own_positions() {
        let json = r#"{"parts": [{"size": 1, "on": 1}, {"size": 1}, {"size": 2, "on": "x"}]}"#;
        assert_eq!(paths(json), ["parts[0].on", "parts[2].on"]);
    }

    #[test]
    fn a_field_that_must_be_there_is_named_itself() {
        let found = errors::<Spec>(r#"{"parts": [{}]}"#, 10);
        assert_eq!(found[0].to_string(), "parts[0].size: the field must be there");
        assert_eq!(found[0].issue(&FieldPath::field("spec")).path.to_string(), "spec.parts[0].size");
    }

    #[test]
    fn what_was_taken_out_is_not_missed() {
        let json = r#"{"parts": [{"size": "x"}, {"size": 1}, {}, {"size": null}], "name": 1}"#;
        assert_eq!(paths(json), ["name", "parts[0].size", "parts[2].size", "parts[3].size"]);
    }

    #[test]
    fn stops_at_the_limit() {
        assert_eq!(errors::<Spec>(r#"{"replicas": "2", "name": 3}"#, 1).len(), 1);
    }

    #[test]
    fn a_member_that_stands_there_twice_is_an_error() {
        let json = r#"{"replicas": 1, "replicas": 2}"#;
        assert!(serde_json::from_str::<Spec>(json).is_err());
        assert_eq!(errors::<Spec>(json, 10).len(), 1);
    }

    #[test]
    fn a_number_that_is_too_large_is_named() {
        let found = errors::<Spec>(r#"{"parts": [{"size": 300}]}"#, 10);
        assert_eq!(found[0].message, "integer `300` is not a non-negative integer of 8 bits");
    }

    #[test]
    fn text_that_nests_too_deeply_is_an_error() {
        let json = format!(r#"{{"name": {}{}}}"#, "[".repeat(200), "]".repeat(200));
        assert_eq!(errors::<Spec>(&json, 10).len(), 1);
    }

    #[test]
    fn says_what_would_fit_and_not_what_was_found() {
        let found = errors::<Spec>(r#"{"replicas": "secret"}"#, 10);
        assert_eq!(found[0].message, "must be an integer of 32 bits");
        assert_eq!(
            found[0].issue(&FieldPath::root()).to_string(),
            r#"replicas: Invalid value: "string": must be an integer of 32 bits"#
        );
    }
}
