//! What is wrong with a configuration, all of it at once.

use std::fmt;

use gateward_core::FieldPath;
use serde_json::Value;

/// How much of a value is shown.
const SHOWN: usize = 80;

/// Something about one key: an error that keeps the server from starting, or a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key.
    pub key: FieldPath,
    /// What is wrong and what would be right.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.text)
    }
}

/// Everything that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigurationError(pub Vec<Problem>);

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems: Vec<String> = self.0.iter().map(Problem::to_string).collect();
        f.write_str(&problems.join("\n"))
    }
}

impl std::error::Error for ConfigurationError {}

/// What was found while reading.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) errors: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

impl Findings {
    pub(super) fn error(&mut self, key: &FieldPath, text: impl Into<String>) {
        self.errors.push(Problem { key: key.clone(), text: text.into() });
    }

    pub(super) fn warning(&mut self, key: &FieldPath, text: impl Into<String>) {
        self.warnings.push(Problem { key: key.clone(), text: text.into() });
    }
}

/// A value as it is quoted in a text.
pub(super) fn shown(value: &Value) -> String {
    let text = match value {
        Value::Object(_) => "a section".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        value => value.to_string(),
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
