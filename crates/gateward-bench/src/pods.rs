//! Pods, which the peer judges.

use serde_json::json;

use crate::reviews::{COMPONENTS, container, creation, metadata, reaching};

/// Where the peer validates Pods.
pub const VALIDATE: &str = "/validate--v1-pod";

/// The creation of a Pod of four containers, of this size.
pub fn review(bytes: usize) -> Vec<u8> {
    let kind = json!({"group": "", "version": "v1", "kind": "Pod"});
    let resource = json!({"group": "", "version": "v1", "resource": "pods"});
    reaching(bytes, |variables| {
        let containers = COMPONENTS.map(|(name, _)| {
            let mut container = container(name, variables);
            container["name"] = name.into();
            container
        });
        let pod =
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata(), "spec": {"containers": containers}});
        creation(&kind, &resource, &pod)
    })
}
