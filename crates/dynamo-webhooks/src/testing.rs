//! Fixtures of the unit tests of this crate; requests and findings are those of `gateward::testing`.

#![allow(clippy::needless_pass_by_value, reason = "tests write their objects where they use them")]

use gateward::testing::{Findings, TestRequest};
use gateward::{Issue, Issues, Severity};
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

/// A cluster of the defaults of the rule books, but for what the document states.
pub(crate) fn facts(document: &Value) -> ClusterFacts {
    ClusterFacts::from_document(document).unwrap()
}

/// What comes of a request to the webhooks, in a cluster that these facts are true of.
pub(crate) fn on<T>(cluster: &Value, ask: impl FnOnce(TestRequest) -> T) -> T {
    let webhooks = crate::webhooks();
    ask(TestRequest::of(&webhooks).facts(facts(cluster)))
}

/// The verdict on a new object, in a cluster of the rule books' defaults.
pub(crate) fn create(object: &Value) -> Findings {
    on(&json!({}), |request| request.create(object))
}

/// The verdict on a change, in a cluster of the rule books' defaults.
pub(crate) fn update(old: &Value, new: &Value) -> Findings {
    on(&json!({}), |request| request.update(old, new))
}

/// The findings that deny, as `RULE path`, in order.
pub(crate) fn denied_by(findings: &Findings) -> Vec<String> {
    let denying = findings.answer().decision.issues.of(Severity::Error);
    denying.map(|issue| format!("{} {}", issue.rule, issue.path)).collect()
}

/// Each finding as `RULE path`, in order; one that doesn't deny says what it is.
pub(crate) fn listed(issues: &Issues) -> Vec<String> {
    let line = |Issue { rule, path, severity, .. }: &Issue| match severity {
        Severity::Error => format!("{rule} {path}"),
        other => format!("{} {rule} {path}", other.as_str()),
    };
    issues.iter().map(line).collect()
}
