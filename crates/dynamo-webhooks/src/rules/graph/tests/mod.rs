//! The rules and defaults of graphs, through the kind's own webhooks.

mod by_itself;
mod defaulting;
mod hostile;
mod lookups;
mod updating;

use gateward::testing::Findings;
use serde_json::{Value, json};

use crate::testing::{annotated, create, denied_by, object, on, update};

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

fn create_in(cluster: &Value, graph: &Value) -> Findings {
    on(cluster, |request| request.create(graph))
}

/// Demands that nothing is found, not even something to remark.
#[track_caller]
fn assert_silent(findings: &Findings) {
    findings.assert_allowed();
    assert!(findings.answer().decision.issues.is_empty(), "{:?}", findings.answer().decision.issues);
}
