//! A finding before it is placed in a file.

use std::borrow::Cow;
use std::collections::BTreeSet;

use gateward_core::{FieldPath, Issue, Severity};
use gateward_lint::schema::{SchemaFault, SchemaFinding};

/// The id of what the API server says by itself: by the schema of the CRD, and of every object's name and labels.
pub(super) const SCHEMA: &str = "SCHEMA";
/// The id of notes about CEL rules.
pub(super) const CEL: &str = "CEL";
/// The id of what a handler says in its own words, without a rule.
const WEBHOOK: &str = "WEBHOOK";
/// The id of notes about objects that should be stored already, and aren't.
const OLD: &str = "OLD";

/// What was found about an object.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    pub rule: &'static str,
    pub severity: Severity,
    pub path: FieldPath,
    /// The node to underline, where it isn't that at `path`.
    pub anchor: Option<FieldPath>,
    pub message: String,
    pub help: Option<Cow<'static, str>>,
}

impl Finding {
    fn new(rule: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self { rule, severity, path: FieldPath::root(), anchor: None, message: message.into(), help: None }
    }

    /// What the API server says of the whole object.
    pub(super) fn refusal(path: FieldPath, message: String) -> Self {
        Self { path, ..Self::new(SCHEMA, Severity::Error, message) }
    }

    /// What a handler says of the whole object in its own words.
    pub(super) fn of_webhook(severity: Severity, message: impl Into<String>) -> Self {
        Self::new(WEBHOOK, severity, message)
    }

    /// The object may break these CEL rules, of which the messages are given.
    pub(super) fn unevaluated(rules: &BTreeSet<String>) -> Self {
        let named: Vec<&str> = rules.iter().map(String::as_str).collect();
        let message = format!("not evaluated: {}; the API server evaluates {CEL} rules", named.join("; "));
        let help = "see that the object keeps them, or ask the API server: kubectl apply --dry-run=server";
        Self { help: Some(help.into()), ..Self::new(CEL, Severity::Note, message) }
    }

    /// There is no stored object that this one could be an update of.
    pub(super) fn not_stored() -> Self {
        let message = "no stored object has this kind, namespace and name; checked as a creation";
        let help = "give the stored object with --old for the rules of updates";
        Self { help: Some(help.into()), ..Self::new(OLD, Severity::Note, message) }
    }

    /// Whether both say the same of the same node.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        self.rule == other.rule && self.message == other.message && same_node(&self.path, &other.path)
    }

    /// Whether this is what the API server's schema says of a node.
    pub(super) fn is_schema_at(&self, path: &FieldPath) -> bool {
        self.rule == SCHEMA && same_node(&self.path, path)
    }
}

/// A rule may write an entry of a map as a member, or a member as a key.
fn same_node(a: &FieldPath, b: &FieldPath) -> bool {
    a.strip_prefix(b).is_some_and(<[_]>::is_empty)
}

impl From<SchemaFinding> for Finding {
    fn from(found: SchemaFinding) -> Self {
        let mut message = found.message();
        if found.fault == SchemaFault::UnknownField {
            message += ": kubectl refuses the object (strict validation); the API server alone drops the field";
        }
        Self { help: Some(found.fault.help()), ..Self::refusal(found.path, message) }
    }
}

impl From<Issue> for Finding {
    fn from(issue: Issue) -> Self {
        let message = issue.headline();
        let Issue { rule, severity, path, anchor, help, .. } = issue;
        Self { rule, severity, path, anchor, message, help }
    }
}
