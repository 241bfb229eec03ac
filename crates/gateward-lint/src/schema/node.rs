//! One compiled node of a schema.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Number, Value};

use super::format::Format;

/// How deep schemas and objects may nest. Deeper nodes are not looked at; the API server's decoder stops far earlier.
pub(super) const MAX_DEPTH: usize = 200;

/// A node.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub kind: Kind,
    pub nullable: Nullable,
    pub properties: BTreeMap<String, Node>,
    pub required: Vec<String>,
    pub additional: Additional,
    pub items: Option<Box<Node>>,
    pub list: ListType,
    pub unknown: Unknown,
    pub embedded: Embedded,
    pub values: Values,
    pub default: Option<Value>,
    pub logic: Logic,
    pub rules: Vec<Rule>,
}

impl Node {
    /// What the schema says of a member.
    pub(super) fn member(&self, name: &str) -> Option<&Node> {
        self.properties.get(name).or(match &self.additional {
            Additional::Entries(entry) => Some(entry.as_ref()),
            Additional::None | Additional::Anything => None,
        })
    }
}

/// The JSON type that is asked for.
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

/// What is said of members that have no property of their own.
#[derive(Debug, Clone, Default)]
pub(super) enum Additional {
    /// They are unknown.
    #[default]
    None,
    /// They may be anything.
    Anything,
    /// They are entries of a map.
    Entries(Box<Node>),
}

/// What becomes of unknown members.
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

/// How items of a list are told apart.
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
    /// As it is written, and as it is matched.
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

/// Schemas that are combined; they only judge values.
#[derive(Debug, Clone, Default)]
pub(super) struct Logic {
    pub all_of: Vec<Node>,
    pub any_of: Vec<Node>,
    pub one_of: Vec<Node>,
    pub not: Option<Box<Node>>,
}

/// A CEL rule as it is written.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub expression: String,
    pub message: String,
    pub asked: Asked,
}

/// When a rule is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Always,
    /// Where there is an old value to compare with.
    OnUpdate,
}
