//! Probes, and what follows from them.

use cluster_tests::{Sandbox, Test, tests};
use serde_json::{Value, json};

use crate::workloads::{deployment, gateward, pod, pods, ran, ready, ready_pods, runs, started, tell, until, wrote};

pub fn tests() -> Vec<Test> {
    tests![
        readiness_is_what_the_probe_says_and_endpoints_follow,
        a_container_that_fails_its_liveness_probe_is_started_again,
        a_slow_start_is_no_failure,
        a_start_that_takes_too_long_is_a_failure,
        a_crash_leads_to_a_new_start_in_the_same_pod,
        a_probe_may_ask_over_tls,
    ]
}

/// Is asked every second whether a file is there.
fn file(name: &str, failures: u32) -> Value {
    json!({"exec": {"command": ["test", "-e", name]}, "periodSeconds": 1, "failureThreshold": failures})
}

async fn readiness_is_what_the_probe_says_and_endpoints_follow(sandbox: Sandbox) {
    let mut spec = runs("exec sleep infinity");
    spec["containers"][0]["readinessProbe"] = file("/ready", 1);
    sandbox.accepts(&deployment("otter", 1, &spec)).await;
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "otters"},
        "spec": {"selector": {"app": "otter"}, "ports": [{"port": 80}]},
    });
    sandbox.accepts(&service).await;
    let slices = format!("/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices", sandbox.namespace());
    let endpoint = async |ready: bool| {
        let slices = sandbox.bed().client().get(&slices).await.unwrap().granted().unwrap();
        let ip = pods(&sandbox, "otter").first().and_then(cluster_tests::Pod::ip);
        let endpoint = &slices["items"][0]["endpoints"][0];
        endpoint["conditions"]["ready"] == ready && endpoint["addresses"][0] == json!(ip)
    };
    until("an endpoint that isn't ready", async || endpoint(false).await).await;
    let pod = pods(&sandbox, "otter").remove(0);
    tell(&pod, &["touch", "/ready"]).await;
    until("a ready endpoint", async || endpoint(true).await).await;
    tell(&pod, &["rm", "/ready"]).await;
    until("no ready endpoint", async || endpoint(false).await).await;
    assert_eq!(pod.restarts(), 0);
}

async fn a_container_that_fails_its_liveness_probe_is_started_again(sandbox: Sandbox) {
    let mut spec = runs("trap 'echo asked to end; exit 0' TERM; touch /alive; while :; do sleep 0.1; done");
    spec["containers"][0]["livenessProbe"] = file("/alive", 2);
    let object = pod("otter", &spec);
    let pod = ready(&sandbox, &object).await;
    until("alive", async || ran(&pod, &["rm", "/alive"]).await.status.success()).await;
    until("a new start", async || pod.restarts() == 1 && pod.is_ready()).await;
    wrote(&pod, "asked to end").await;
    until("reported", async || {
        let status = sandbox.read(&object, "v1").await["status"]["containerStatuses"][0].clone();
        status["restartCount"] == 1 && status["lastState"]["terminated"]["exitCode"] == 0
    })
    .await;
}

async fn a_slow_start_is_no_failure(sandbox: Sandbox) {
    let mut spec = runs("sleep 1.5; touch /alive; exec sleep infinity");
    spec["containers"][0]["startupProbe"] = file("/alive", 10);
    spec["containers"][0]["livenessProbe"] = file("/alive", 1);
    let pod = ready(&sandbox, &pod("otter", &spec)).await;
    assert_eq!(pod.restarts(), 0);
}

async fn a_start_that_takes_too_long_is_a_failure(sandbox: Sandbox) {
    let mut spec = runs("exec sleep infinity");
    spec["containers"][0]["startupProbe"] = file("/alive", 1);
    let pod = started(&sandbox, &pod("otter", &spec)).await;
    until("a new start", async || pod.restarts() > 0).await;
    assert!(!pod.is_ready());
}

async fn a_crash_leads_to_a_new_start_in_the_same_pod(sandbox: Sandbox) {
    sandbox.accepts(&deployment("otter", 1, &gateward())).await;
    let pod = ready_pods(&sandbox, "otter", 1).await.remove(0);
    let ip = pod.ip();
    pod.kill();
    until("not ready", async || !pod.is_ready()).await;
    until("ready again", async || pod.is_ready()).await;
    assert_eq!((pod.restarts(), pod.ip()), (1, ip));
    let path = format!("/api/v1/namespaces/{}/pods/{}", sandbox.namespace(), pod.name());
    until("reported", async || {
        let object = sandbox.bed().client().get(&path).await.unwrap().granted().unwrap();
        object["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"] == 137
    })
    .await;
}

async fn a_probe_may_ask_over_tls(sandbox: Sandbox) {
    let mut spec = runs("exec sleep infinity");
    let get = json!({"scheme": "HTTPS", "host": "10.96.0.1", "port": 443, "path": "/readyz"});
    spec["containers"][0]["readinessProbe"] = json!({"httpGet": get, "periodSeconds": 1});
    ready(&sandbox, &pod("otter", &spec)).await;
}
