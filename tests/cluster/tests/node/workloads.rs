//! Deployments and Pods for tests, and waiting for what becomes of them.

use std::process::Output;
use std::time::Duration;

use cluster_tests::{Pod, Sandbox};
use serde_json::{Value, json};

/// A Deployment whose Pods have this spec.
pub fn deployment(name: &str, replicas: u32, spec: &Value) -> Value {
    let labels = json!({"app": name});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    })
}

/// A Pod of this spec, which has a second to end.
pub fn pod(name: &str, spec: &Value) -> Value {
    let mut spec = spec.clone();
    spec["terminationGracePeriodSeconds"] = 1.into();
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}}, "spec": spec})
}

/// A container that runs a shell script.
pub fn script(name: &str, script: &str) -> Value {
    json!({"name": name, "image": "local", "command": ["sh", "-c", script]})
}

/// The spec of a Pod that runs a shell script, and nothing else.
pub fn runs(text: &str) -> Value {
    json!({"containers": [script("main", text)]})
}

/// The spec of a Pod of the webhooks.
pub fn gateward() -> Value {
    let args = ["serve", "--local", "--listen", "0.0.0.0:9443", "--health-listen", "0.0.0.0:8081"];
    json!({"terminationGracePeriodSeconds": 1, "containers": [{
        "name": "main",
        "image": "local",
        "command": ["gateward"],
        "args": args,
        "ports": [{"name": "webhook-server", "containerPort": 9443}, {"name": "health", "containerPort": 8081}],
        "startupProbe": {"tcpSocket": {"port": "webhook-server"}, "periodSeconds": 1, "failureThreshold": 60},
        "readinessProbe": {"httpGet": {"path": "/readyz", "port": "health"}, "periodSeconds": 1},
        "livenessProbe": {"httpGet": {"path": "/healthz", "port": "health"}, "periodSeconds": 1},
    }]})
}

/// Waits until a question is answered with yes.
pub async fn until(what: &str, holds: impl AsyncFnMut() -> bool) {
    cluster_tests::until(what, Duration::from_mins(1), holds).await;
}

/// The Pods of this name or of this Deployment.
pub fn pods(sandbox: &Sandbox, name: &str) -> Vec<Pod> {
    sandbox.bed().node().pods(sandbox.namespace(), &format!("app={name}"))
}

/// Creates a Pod and gives it as the node has it.
pub async fn started(sandbox: &Sandbox, object: &Value) -> Pod {
    sandbox.accepts(object).await;
    let name = object["metadata"]["name"].as_str().unwrap();
    until(&format!("{name} on the node"), async || !pods(sandbox, name).is_empty()).await;
    pods(sandbox, name).remove(0)
}

/// Creates a Pod and waits until it is ready.
pub async fn ready(sandbox: &Sandbox, object: &Value) -> Pod {
    let pod = started(sandbox, object).await;
    until(&format!("{} ready", pod.name()), async || pod.is_ready()).await;
    pod
}

/// Waits until a Deployment has this many Pods, all of them ready, and gives these.
pub async fn ready_pods(sandbox: &Sandbox, name: &str, number: usize) -> Vec<Pod> {
    until(&format!("{number} ready Pods of {name}"), async || {
        let pods = pods(sandbox, name);
        pods.len() == number && pods.iter().all(|pod| pod.is_ready() && !pod.is_ending())
    })
    .await;
    pods(sandbox, name)
}

/// Waits until a Pod has written something.
pub async fn wrote(pod: &Pod, text: &str) {
    until(&format!("{text:?} in the log of {}", pod.name()), async || pod.log().contains(text)).await;
}

/// Runs a command in a Pod's container, once it runs.
pub async fn ran(pod: &Pod, words: &[&str]) -> Output {
    until(&format!("{} runs", pod.name()), async || pod.command("main", words).is_some()).await;
    pod.command("main", words).unwrap().output().unwrap()
}

/// Runs a command in a Pod's container, to its good end, and gives what it writes.
pub async fn tell(pod: &Pod, words: &[&str]) -> String {
    let output = ran(pod, words).await;
    assert!(output.status.success(), "{words:?} in {}: {output:?}", pod.name());
    String::from_utf8(output.stdout).unwrap()
}
