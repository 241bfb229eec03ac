//! The rules and defaults of graphs, through the kind's own webhooks.

mod by_itself;
mod defaulting;
mod hostile;
mod lookups;
mod updating;

use gateward_core::Webhooks;
use gateward_core::testing::{Findings, TestRequest};
use serde_json::{Value, json};

use crate::testing::{annotated, facts, object};

/// The user that the operator is.
const OPERATOR: &str = "system:serviceaccount:dynamo-system:dynamo-operator";

fn webhooks() -> Webhooks {
    Webhooks::new().register(super::kind())
}

/// A graph with these components and further members of its spec.
fn graph(components: Value, spec: Value) -> Value {
    let mut graph = object("v1beta1", "DynamoGraphDeployment", json!({"name": "otter", "namespace": "holt"}), spec);
    graph["spec"]["components"] = components;
    graph
}

/// A worker with an image and further members.
fn worker(name: &str, members: &Value) -> Value {
    let main = json!({"name": "main", "image": "example.org/runtime:1.4.2"});
    let mut worker = json!({"name": name, "type": "worker", "podTemplate": {"spec": {"containers": [main]}}});
    merge(&mut worker, members);
    worker
}

/// Lays `over` over `base`, object by object.
fn merge(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            over.iter().for_each(|(key, value)| merge(base.entry(key).or_insert(Value::Null), value));
        }
        (base, over) => *base = over.clone(),
    }
}

/// The verdict on a new graph in a cluster of the rule book's defaults.
fn create(graph: &Value) -> Findings {
    create_in(&json!({}), graph)
}

fn create_in(cluster: &Value, graph: &Value) -> Findings {
    TestRequest::of(&webhooks()).facts(facts(cluster)).create(graph)
}

/// The verdict on a change in a cluster of the rule book's defaults.
fn update(old: &Value, new: &Value) -> Findings {
    TestRequest::of(&webhooks()).facts(facts(&json!({}))).update(old, new)
}

/// The findings that deny, as `<rule> <path>`.
fn denied_by(findings: &Findings) -> Vec<String> {
    let errors = findings.answer().decision.issues.of(gateward_core::Severity::Error);
    errors.map(|issue| format!("{} {}", issue.rule, issue.path)).collect()
}

/// Demands that nothing is found, not even something to remark.
#[track_caller]
fn assert_silent(findings: &Findings) {
    findings.assert_allowed();
    assert!(findings.answer().decision.issues.is_empty(), "{:?}", findings.answer().decision.issues);
}
