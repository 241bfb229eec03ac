//! Objects as users write them.

use serde_json::{Value, json};

/// A CronTab of v2 that keeps every rule and names no policy.
pub fn tab() -> Value {
    json!({
        "apiVersion": "stable.example.com/v2",
        "kind": "CronTab",
        "metadata": {"name": "nightly", "namespace": "default"},
        "spec": {"schedule": "0 4 * * *", "image": "registry.example.com/backup:1", "replicas": 2},
    })
}

/// The same as v1 has it.
pub fn old_tab() -> Value {
    json!({
        "apiVersion": "stable.example.com/v1",
        "kind": "CronTab",
        "metadata": {"name": "nightly", "namespace": "default"},
        "spec": {"cronSpec": "0 4 * * *", "image": "registry.example.com/backup:1", "replicas": 2},
    })
}

/// A policy of three replicas and one image.
pub fn policy() -> Value {
    json!({
        "apiVersion": "stable.example.com/v1",
        "kind": "CronPolicy",
        "metadata": {"name": "small"},
        "spec": {"maxReplicas": 3, "allowedImages": ["registry.example.com/backup:1"]},
    })
}

/// `object` with another value at a JSON pointer's place, whose parent is there.
pub fn with(mut object: Value, pointer: &str, value: impl Into<Value>) -> Value {
    let (parent, member) = pointer.rsplit_once('/').expect("a pointer begins with a slash");
    object.pointer_mut(parent).expect("the parent is there")[member] = value.into();
    object
}
