//! One compiled node of a schema.

use std::collections::BTreeMap;

use gateward_core::Segment;
use regex::Regex;
use serde_json::{Number, Value};

use super::format::Format;

/// How deep schemas and objects may nest. Deeper nodes are not validated; the API server's decoder stops far earlier.
pub(super) const MAX_DEPTH: usize = 200;

/// The schema of one node of an object, with everything below it.
#[derive(Debug, Clone, Default)]
pub(super) struct SchemaNode {
    pub kind: Kind,
    pub nullable: Nullable,
    /// Behind pointers: a map has room for eleven of what it holds.
    pub properties: BTreeMap<String, Box<SchemaNode>>,
    pub required: Vec<String>,
    pub additional: Additional,
    pub items: Option<Box<SchemaNode>>,
    pub list: ListType,
    pub unknown: Unknown,
    pub embedded: Embedded,
    pub values: Values,
    pub default: Option<Value>,
    pub logic: Logic,
    pub rules: Vec<Rule>,
}

impl SchemaNode {
    /// The schema of a member.
    pub(super) fn member(&self, name: &str) -> Option<&SchemaNode> {
        self.properties.get(name).map(Box::as_ref).or(match &self.additional {
            Additional::Entries(entry) => Some(entry.as_ref()),
            Additional::None | Additional::Anything => None,
        })
    }

    /// The step to a member: the name of a property is a field, that of an entry of a map a key.
    pub(super) fn step(&self, name: &str) -> Segment {
        match &self.additional {
            Additional::Entries(_) if !self.properties.contains_key(name) => Segment::Key(name.to_owned().into()),
            _ => Segment::Field(name.to_owned().into()),
        }
    }
}

/// The expected JSON type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Any,
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    IntOrString,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Nullable {
    Yes,
    #[default]
    No,
}

/// `additionalProperties`: the schema of members without a property of their own.
#[derive(Debug, Clone, Default)]
pub(super) enum Additional {
    /// They are unknown.
    #[default]
    None,
    /// They may be anything.
    Anything,
    /// They are entries of a map.
    Entries(Box<SchemaNode>),
}

/// Whether unknown members are pruned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Unknown {
    #[default]
    Pruned,
    Preserved,
}

/// Whether the node is an object with `apiVersion`, `kind` and `metadata` of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Embedded {
    Yes,
    #[default]
    No,
}

/// `x-kubernetes-list-type`: what identifies an item of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum ListType {
    #[default]
    Atomic,
    Set,
    Map(Vec<String>),
}

/// Limits on values.
#[derive(Debug, Clone, Default)]
pub(super) struct Values {
    pub accepted: Vec<Value>,
    pub minimum: Option<Bound>,
    pub maximum: Option<Bound>,
    pub multiple_of: Option<Number>,
    pub min_length: Option<usize>,
    pub max_length: Option<usize>,
    /// The source text, and the compiled pattern.
    pub pattern: Option<(String, Regex)>,
    pub min_items: Option<usize>,
    pub max_items: Option<usize>,
    pub min_properties: Option<usize>,
    pub max_properties: Option<usize>,
    pub unique: Unique,
    pub format: Option<Format>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Unique {
    Yes,
    #[default]
    No,
}

/// A numeric bound.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub value: Number,
    pub reach: Reach,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Inclusive,
    Exclusive,
}

/// `allOf`, `anyOf`, `oneOf` and `not`: these schemas validate values and specify no members.
#[derive(Debug, Clone, Default)]
pub(super) struct Logic {
    pub all_of: Vec<SchemaNode>,
    pub any_of: Vec<SchemaNode>,
    pub one_of: Vec<SchemaNode>,
    pub not: Option<Box<SchemaNode>>,
}

/// An entry of `x-kubernetes-validations`.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub expression: String,
    pub message: String,
    pub evaluated_on: EvaluatedOn,
}

/// When a rule is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EvaluatedOn {
    EveryWrite,
    /// Where there is an old value to compare with.
    Update,
}
