//! The operator behind a real API server, its webhooks on this machine instead of in a Pod.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use gateward_testbed::{LocalWebhooks, Sandbox, run, tests, until};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let tests = tests![
        rejects_each_fault_in_the_fields_that_its_author_wrote,
        defaults_the_replicas,
        converts_to_v1_and_keeps_the_time_zone,
        rejects_a_second_tab_for_one_job,
        rejects_what_the_policy_forbids,
    ];
    run(tests, async |bed| LocalWebhooks::install(&bed, Path::new(env!("CARGO_BIN_EXE_crontab")), &broken()).await)
}

fn tab(name: &str) -> Value {
    json!({
        "apiVersion": "stable.example.com/v2",
        "kind": "CronTab",
        "metadata": {"name": name},
        "spec": {"schedule": "0 4 * * *", "timeZone": "Europe/Berlin", "image": format!("registry.example.com/{name}:1")},
    })
}

fn broken() -> Value {
    json!({
        "apiVersion": "stable.example.com/v1",
        "kind": "CronTab",
        "metadata": {"name": "broken"},
        "spec": {"cronSpec": "daily", "image": "docker.io/backup:1", "replicas": 11},
    })
}

fn policy(most: u32) -> Value {
    json!({
        "apiVersion": "stable.example.com/v1",
        "kind": "CronPolicy",
        "metadata": {"name": "small"},
        "spec": {"maxReplicas": most},
    })
}

async fn rejects_each_fault_in_the_fields_that_its_author_wrote(sandbox: Sandbox) {
    sandbox.rejects(&broken(), &["spec.cronSpec", "spec.image", "spec.replicas"]).await;
}

async fn defaults_the_replicas(sandbox: Sandbox) {
    sandbox.defaults_to(&tab("otter"), &[("/spec/replicas", json!(1))]).await;
}

async fn converts_to_v1_and_keeps_the_time_zone(sandbox: Sandbox) {
    let converted = sandbox.converts_to(&tab("otter"), "v1", &[("/spec/cronSpec", json!("0 4 * * *"))]).await;
    assert_eq!(converted["spec"].get("timeZone"), None);
    sandbox.survives(&tab("badger"), "v1").await;
}

/// The rule reads a store, which `serve --local --kubeconfig` watches in the cluster.
async fn rejects_a_second_tab_for_one_job(sandbox: Sandbox) {
    sandbox.accepts(&tab("otter")).await;
    let mut twin = tab("twin");
    twin["spec"]["image"] = tab("otter")["spec"]["image"].take();
    until("the store has the first", Duration::from_secs(20), async || {
        !sandbox.dry().create(&twin).await.status.is_success()
    })
    .await;
    sandbox.rejects(&twin, &["spec.schedule"]).await;
}

/// The rule looks the policy up; it is of a kind without namespaces.
async fn rejects_what_the_policy_forbids(sandbox: Sandbox) {
    sandbox.rejects(&policy(11), &["spec.maxReplicas"]).await;
    sandbox.accepts(&policy(2)).await;
    let mut many = tab("otter");
    many["spec"]["policy"] = json!("small");
    many["spec"]["replicas"] = json!(3);
    sandbox.rejects(&many, &["spec.replicas"]).await;
}
