//! What the example `crontab` promises, asked of an API server.

use std::time::Duration;

use cluster_tests::{Response, Sandbox, refused, until};
use serde_json::{Value, json};

/// Where policies are.
const POLICIES: &str = "/apis/stable.example.com/v1/cronpolicies";

/// A `CronTab` that is admitted beside others.
pub fn tab(name: &str) -> Value {
    json!({
        "apiVersion": "stable.example.com/v2",
        "kind": "CronTab",
        "metadata": {"name": name},
        "spec": {"schedule": "0 4 * * *", "timeZone": "Europe/Berlin", "image": format!("registry.example.com/{name}:1")},
    })
}

/// One that runs what the `CronTab` of that name runs.
fn twin_of(name: &str) -> Value {
    let mut twin = tab("twin");
    twin["spec"]["image"] = tab(name)["spec"]["image"].take();
    twin
}

/// One in the other version, with three faults.
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

/// Waits until the webhooks are asked and answer: API servers hear of Pods and of configurations a moment later.
pub async fn is_judged(sandbox: &Sandbox) {
    let denied = |answer: Response| answer.body["message"].as_str().is_some_and(|it| it.contains("denied the request"));
    until("CronTabs are judged", Duration::from_mins(1), async || {
        denied(sandbox.dry().create(&broken()).await) && sandbox.dry().create(&tab("probe")).await.status.is_success()
    })
    .await;
}

/// Every webhook does what it is there for, with the rights that the installation grants.
pub async fn keeps_its_promises(sandbox: &Sandbox) {
    sandbox.rejects(&broken(), &["spec.cronSpec", "spec.image", "spec.replicas"]).await;
    sandbox.defaults_to(&tab("otter"), &[("/spec/replicas", json!(1))]).await;
    let read = sandbox.read(&tab("otter"), "v1").await;
    assert_eq!((&read["spec"]["cronSpec"], read["spec"].get("timeZone")), (&json!("0 4 * * *"), None), "{read}");
    sandbox.survives(&tab("badger"), "v1").await;
    // Each replica hears of the others a moment later, and which of them is asked is chance.
    let mut refusals = 0;
    until("a second CronTab for one job is refused", Duration::from_secs(10), async || {
        let answer = sandbox.dry().create(&twin_of("otter")).await;
        refusals = if answer.status.is_success() { 0 } else { refusals + 1 };
        refusals == 10
    })
    .await;
    sandbox.rejects(&twin_of("otter"), &["spec.schedule"]).await;

    let client = sandbox.client();
    // The webhook reads the object itself: what is sent has the number alone.
    let scale = format!("{}/scale", sandbox.place(&tab("otter"), "v2"));
    assert_eq!(
        refused(client.merge(&scale, &json!({"spec": {"replicas": 11}})).await.unwrap()).fields(),
        ["spec.replicas"]
    );
    assert_eq!(refused(client.post(POLICIES, &policy(11)).await.unwrap()).fields(), ["spec.maxReplicas"]);
    client.post(POLICIES, &policy(2)).await.unwrap().granted().unwrap();
    // Where the policy can't be read, the object passes.
    let mut limited = tab("heron");
    limited["spec"]["policy"] = "small".into();
    limited["spec"]["replicas"] = 3.into();
    sandbox.rejects(&limited, &["spec.replicas"]).await;

    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "backup", "labels": {"stable.example.com/crontab": "backup"}},
        "spec": {"containers": [{"name": "main", "image": "docker.io/backup:1"}]},
    });
    sandbox.rejects(&pod, &["spec.containers[0].image"]).await;

    client.delete(&format!("{POLICIES}/small")).await.unwrap().granted().unwrap();
    for name in ["otter", "badger"] {
        sandbox.delete(&tab(name)).await;
    }
}
