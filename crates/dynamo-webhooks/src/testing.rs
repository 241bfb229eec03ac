//! Fixtures of the unit tests of this crate; requests and findings are those of `gateward_core::testing`.

#![allow(clippy::needless_pass_by_value, reason = "tests write their objects where they use them")]

use gateward_core::{Issue, Issues, Severity};
use serde_json::{Value, json};

use crate::operator::facts::ClusterFacts;

/// An object of the operator's group.
pub(crate) fn object(version: &str, kind: &str, metadata: Value, spec: Value) -> Value {
    json!({"apiVersion": format!("nvidia.com/{version}"), "kind": kind, "metadata": metadata, "spec": spec})
}

/// `base` with these members beside or in place of its own.
pub(crate) fn with(mut base: Value, members: Value) -> Value {
    for (name, value) in members.as_object().cloned().unwrap_or_default() {
        base[name] = value;
    }
    base
}

/// The object with an annotation.
pub(crate) fn annotated(mut object: Value, key: &str, text: &str) -> Value {
    object["metadata"]["annotations"][key] = text.into();
    object
}

/// The same object while it is being deleted.
pub(crate) fn terminating(mut object: Value) -> Value {
    object["metadata"]["deletionTimestamp"] = "2026-05-01T10:00:00Z".into();
    object
}

/// A cluster of the defaults of the rule books, but for what the document states.
pub(crate) fn facts(document: &Value) -> ClusterFacts {
    ClusterFacts::from_document(document).unwrap()
}

/// Each finding as `RULE path`, in order; one that doesn't deny says what it is.
pub(crate) fn listed(issues: &Issues) -> Vec<String> {
    let line = |Issue { rule, path, severity, .. }: &Issue| match severity {
        Severity::Error => format!("{rule} {path}"),
        other => format!("{} {rule} {path}", other.as_str()),
    };
    issues.iter().map(line).collect()
}
