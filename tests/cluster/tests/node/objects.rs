//! Objects for tests, and waiting for what becomes of them.

use std::time::{Duration, Instant};

use cluster_tests::{Pod, Sandbox};
use serde_json::{Value, json};

/// A Deployment of this name, one container of which is given.
pub fn deployment(name: &str, replicas: u32, container: &Value) -> Value {
    let mut container = container.clone();
    container["name"] = "main".into();
    container["image"] = "local".into();
    let labels = json!({"app": name});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    })
}

/// The webhooks, as a container.
pub fn gateward() -> Value {
    let args = ["serve", "--local", "--listen", "0.0.0.0:9443", "--health-listen", "0.0.0.0:8081"];
    json!({
        "command": ["gateward"],
        "args": args,
        "ports": [{"name": "webhook-server", "containerPort": 9443}, {"name": "health", "containerPort": 8081}],
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "health"}, "periodSeconds": 1},
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "health"}, "periodSeconds": 1},
    })
}

/// Waits until a question is answered with yes.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !holds().await {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}: not after 20 seconds");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until a Deployment has this many Pods, all of them ready, and gives these.
pub async fn ready_pods(sandbox: &Sandbox, name: &str, number: usize) -> Vec<Pod> {
    let selector = format!("app={name}");
    let pods = || sandbox.bed().node().pods(sandbox.namespace(), &selector);
    until(&format!("{number} ready Pods of {name}"), async || {
        pods().len() == number && pods().iter().all(|pod| pod.is_ready() && !pod.is_ending())
    })
    .await;
    pods()
}
