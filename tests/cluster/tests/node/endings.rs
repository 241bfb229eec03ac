//! How Pods end.

use std::time::{Duration, Instant};

use cluster_tests::{Pod, Sandbox, Test, tests};
use serde_json::{Value, json};

use crate::workloads::{pod, pods, ready, runs, until, wrote};

pub fn tests() -> Vec<Test> {
    tests![
        a_pod_ends_by_a_signal_and_is_not_ready_once_its_probe_says_so,
        a_pod_that_does_not_listen_is_killed_after_its_time,
        a_hook_comes_before_the_signal,
        less_time_given_later_counts,
        a_removed_pod_is_gone_without_a_warning,
        a_pod_that_has_done_its_work_stays_until_it_is_deleted,
    ]
}

async fn is_gone(sandbox: &Sandbox, object: &Value) {
    let path = sandbox.place(object, "v1");
    until("gone", async || sandbox.bed().client().get(&path).await.unwrap().status == 404).await;
    let name = object["metadata"]["name"].as_str().unwrap();
    until("forgotten", async || pods(sandbox, name).is_empty()).await;
}

/// A Pod that says what signal it gets, and goes on for a while.
fn listening(more: &str) -> Value {
    let trap = format!("trap 'echo asked to end; {more}' TERM; echo started; while :; do sleep 0.05; done");
    pod("otter", &runs(&trap))
}

async fn started(sandbox: &Sandbox, object: &Value) -> Pod {
    let pod = ready(sandbox, object).await;
    wrote(&pod, "started").await;
    pod
}

async fn a_pod_ends_by_a_signal_and_is_not_ready_once_its_probe_says_so(sandbox: Sandbox) {
    let mut object = listening("rm /ready; sleep 3; exit 0");
    let spec = &mut object["spec"];
    spec["terminationGracePeriodSeconds"] = 20.into();
    let container = &mut spec["containers"][0];
    container["command"][2] = format!("touch /ready; {}", container["command"][2].as_str().unwrap()).into();
    container["readinessProbe"] =
        json!({"exec": {"command": ["test", "-e", "/ready"]}, "periodSeconds": 1, "failureThreshold": 1});
    let pod = started(&sandbox, &object).await;
    sandbox.delete(&object).await;
    wrote(&pod, "asked to end").await;
    let is_unready = async || {
        let object = sandbox.read(&object, "v1").await;
        let conditions = object["status"]["conditions"].as_array().unwrap().clone();
        conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "False")
            && object["status"]["containerStatuses"][0]["state"].get("running").is_some()
    };
    until("it is unready while it runs", is_unready).await;
    is_gone(&sandbox, &object).await;
}

async fn a_pod_that_does_not_listen_is_killed_after_its_time(sandbox: Sandbox) {
    let object = listening("");
    let pod = started(&sandbox, &object).await;
    let begun = Instant::now();
    sandbox.delete(&object).await;
    is_gone(&sandbox, &object).await;
    assert!(begun.elapsed() > Duration::from_secs(1));
    assert_eq!(pod.log().matches("asked to end").count(), 1);
}

async fn a_hook_comes_before_the_signal(sandbox: Sandbox) {
    let mut object = listening("exit 0");
    object["spec"]["terminationGracePeriodSeconds"] = 10.into();
    let hook = json!({"exec": {"command": ["sh", "-c", "sleep 0.5; echo hook > /hook"]}});
    object["spec"]["containers"][0]["lifecycle"] = json!({"preStop": hook});
    object["spec"]["containers"][0]["command"][2] =
        "trap 'echo asked to end after $(cat /hook); exit 0' TERM; echo started; while :; do sleep 0.05; done".into();
    let pod = started(&sandbox, &object).await;
    sandbox.delete(&object).await;
    is_gone(&sandbox, &object).await;
    assert!(pod.log().ends_with("asked to end after hook\n"), "{}", pod.log());
}

async fn less_time_given_later_counts(sandbox: Sandbox) {
    let mut object = listening("");
    object["spec"]["terminationGracePeriodSeconds"] = 600.into();
    let pod = started(&sandbox, &object).await;
    sandbox.delete(&object).await;
    wrote(&pod, "asked to end").await;
    let path = format!("{}?gracePeriodSeconds=1", sandbox.place(&object, "v1"));
    sandbox.bed().client().delete(&path).await.unwrap().granted().unwrap();
    is_gone(&sandbox, &object).await;
}

async fn a_removed_pod_is_gone_without_a_warning(sandbox: Sandbox) {
    let object = listening("");
    let pod = started(&sandbox, &object).await;
    pod.remove().await.unwrap();
    is_gone(&sandbox, &object).await;
    until("no process", async || pod.command("main", &["true"]).is_none()).await;
    assert_eq!(pod.log(), "started\n");
}

async fn a_pod_that_has_done_its_work_stays_until_it_is_deleted(sandbox: Sandbox) {
    let mut object = pod("otter", &runs("echo done"));
    object["spec"]["restartPolicy"] = "Never".into();
    sandbox.accepts(&object).await;
    until("done", async || sandbox.read(&object, "v1").await["status"]["phase"] == "Succeeded").await;
    sandbox.delete(&object).await;
    is_gone(&sandbox, &object).await;
}
