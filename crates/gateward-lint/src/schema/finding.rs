//! What a schema finds, in the API server's words.

use std::fmt;

use gateward_core::FieldPath;
use serde_json::Value;

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
        /// The type that is asked for.
        wanted: &'static str,
        /// The value.
        value: Value,
    },
    /// The value breaks a limit.
    Invalid {
        /// The value.
        value: Value,
        /// The limit, as the end of a sentence: `should be greater than or equal to 0`.
        limit: String,
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
    /// An item of a set or list map that stands there already.
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
    /// The node. Entries of maps are steps like members: the API server prints `spec.services.worker`.
    pub path: FieldPath,
    /// What is wrong with it.
    pub fault: SchemaFault,
}

/// Values in texts are cut to this many characters.
const SHOWN: usize = 200;

fn shown(value: &Value) -> String {
    let text = match value {
        Value::Object(_) | Value::Array(_) => value.to_string(),
        scalar => scalar.to_string(),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The text without the path, as in `status.details.causes[].message`.
impl fmt::Display for SchemaFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.fault {
            SchemaFault::Required => f.write_str("Required value"),
            SchemaFault::Type { found, wanted, value } => {
                let shown = shown(value);
                write!(f, "Invalid value: \"{found}\": {path} in body must be of type {wanted}: {shown}")
            }
            SchemaFault::Invalid { value, limit } => {
                write!(f, "Invalid value: {}: {path} in body {limit}", shown(value))
            }
            SchemaFault::NotSupported { value, accepted } => {
                let accepted: Vec<String> = accepted.iter().map(shown).collect();
                write!(f, "Unsupported value: {}: supported values: {}", shown(value), accepted.join(", "))
            }
            SchemaFault::TooLong { max } => write!(f, "Too long: may not be more than {max} bytes"),
            SchemaFault::TooMany { actual, max } => {
                write!(f, "Too many: {actual}: must have at most {max} items")
            }
            SchemaFault::Duplicate { value } => write!(f, "Duplicate value: {}", shown(value)),
            SchemaFault::UnknownField => write!(f, "unknown field {:?}", path.to_string()),
        }
    }
}
