//! Validation errors, in the wording of the API server.

use std::fmt;

use gateward_core::{FieldPath, Segment};
use serde_json::{Number, Value};

/// What is wrong with a node.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SchemaFault {
    /// A member that must be there isn't.
    Required,
    /// The value has another JSON type.
    Type {
        /// The JSON type that was found.
        found: &'static str,
        /// The expected type.
        wanted: &'static str,
    },
    /// The value breaks a limit.
    Invalid {
        /// The value.
        value: Value,
        /// The limit, as the end of a sentence: `should be greater than or equal to 0`.
        limit: String,
    },
    /// The value breaks a rule of Kubernetes that no schema states.
    Malformed {
        /// The value.
        value: Value,
        /// The rule.
        why: String,
    },
    /// The value fits none of the alternatives that the schema offers, or too many.
    Unmatched {
        /// What it should do, as the end of a sentence.
        why: String,
    },
    /// The value is none of the accepted ones.
    NotSupported {
        /// The value.
        value: Value,
        /// What is accepted.
        accepted: Vec<Value>,
    },
    /// Text with too many characters.
    TooLong {
        /// The limit.
        max: usize,
    },
    /// A list or map with too many entries.
    TooMany {
        /// How many there are.
        actual: usize,
        /// The limit.
        max: usize,
    },
    /// A duplicate item of a set or list map.
    Duplicate {
        /// The item, or its keys.
        value: Value,
    },
    /// A member that the schema doesn't know. The API server drops it; kubectl refuses it.
    UnknownField,
}

/// A node that breaks the schema.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaFinding {
    /// The node. An entry of a map is a key: `spec.services[worker]`, where the API server prints `spec.services.worker`.
    pub path: FieldPath,
    /// What is wrong with it.
    pub fault: SchemaFault,
}

impl SchemaFinding {
    /// The path as the API server writes it: an entry of a map is a step like a member.
    pub fn api_path(&self) -> FieldPath {
        let member = |segment: &Segment| match segment {
            Segment::Key(name) => Segment::Field(name.clone()),
            other => other.clone(),
        };
        self.path.segments().iter().map(member).collect()
    }

    /// The text with the path as rules write it: `spec.services[worker]`.
    pub fn message(&self) -> String {
        self.fault.said_of(&self.path)
    }

    /// Whether it reports a duplicate item.
    pub(super) fn is_repetition(&self) -> bool {
        matches!(self.fault, SchemaFault::Duplicate { .. })
    }
}

/// Values in texts are cut to this many characters.
const SHOWN: usize = 200;

/// A value as the API server lists it among others.
fn quoted(value: &Value) -> String {
    if value.is_string() { shown(value) } else { format!("{:?}", shown(value)) }
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::Number(number) => go_number(number),
        other => other.to_string(),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Go writes no fraction of zero, and an exponent's sign.
fn go_number(number: &Number) -> String {
    let text = number.to_string();
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// The API server's text without the field, as in `status.details.causes[].message`.
impl fmt::Display for SchemaFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fault.said_of(&self.api_path()))
    }
}

impl SchemaFault {
    /// The text of a finding at `path`.
    fn said_of(&self, path: &FieldPath) -> String {
        match self {
            Self::Required => "Required value".to_owned(),
            Self::Type { found, wanted } => {
                format!("Invalid value: \"{found}\": {path} in body must be of type {wanted}: \"{found}\"")
            }
            Self::Invalid { value, limit } => {
                format!("Invalid value: {}: {path} in body {limit}", shown(value))
            }
            Self::Malformed { value, why } => format!("Invalid value: {}: {why}", shown(value)),
            Self::Unmatched { why } => format!("Invalid value: \"\": \"{path}\" {why}"),
            Self::NotSupported { value, accepted } => {
                let accepted: Vec<String> = accepted.iter().map(quoted).collect();
                format!("Unsupported value: {}: supported values: {}", shown(value), accepted.join(", "))
            }
            Self::TooLong { max } => format!("Too long: may not be more than {max} bytes"),
            Self::TooMany { actual, max } => {
                let items = if *max == 1 { "item" } else { "items" };
                format!("Too many: {actual}: must have at most {max} {items}")
            }
            Self::Duplicate { value } => format!("Duplicate value: {}", shown(value)),
            Self::UnknownField => format!("unknown field {:?}", path.to_string()),
        }
    }
}
