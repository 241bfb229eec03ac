//! What is wrong with a configuration, all of it at once.

use gateward::FieldPath;
use gateward::config::Problem;
use serde_json::Value;

/// How much of a value is shown.
const SHOWN: usize = 80;

/// What was found while reading.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) errors: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

impl Findings {
    pub(super) fn error(&mut self, key: &FieldPath, text: impl Into<String>) {
        self.errors.push(Problem::of_key(key.clone(), text));
    }

    pub(super) fn warning(&mut self, key: &FieldPath, text: impl Into<String>) {
        self.warnings.push(Problem::of_key(key.clone(), text));
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
