//! A finding before it is placed in a file.

use std::borrow::Cow;

use gateward_core::{FieldPath, Issue, Severity};
use gateward_lint::schema::SchemaFinding;

/// The id of findings of the structural schema.
pub(super) const SCHEMA: &str = "SCHEMA";
/// The id of notes about CEL rules.
pub(super) const CEL: &str = "CEL";

/// What was found about an object.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub rule: &'static str,
    pub severity: Severity,
    pub path: FieldPath,
    pub message: String,
    pub help: Option<Cow<'static, str>>,
}

impl Finding {
    /// An error of the structural schema.
    pub(super) fn schema(path: FieldPath, message: String) -> Self {
        Self { rule: SCHEMA, severity: Severity::Error, path, message, help: None }
    }

    /// Something that was not evaluated.
    pub(super) fn note(rule: &'static str, path: FieldPath, message: String) -> Self {
        Self { rule, severity: Severity::Note, path, message, help: None }
    }
}

impl From<SchemaFinding> for Finding {
    fn from(found: SchemaFinding) -> Self {
        Self::schema(found.path.clone(), found.to_string())
    }
}

impl From<Issue> for Finding {
    fn from(issue: Issue) -> Self {
        let message = issue.headline();
        Self { rule: issue.rule, severity: issue.severity, path: issue.path, message, help: issue.help }
    }
}
