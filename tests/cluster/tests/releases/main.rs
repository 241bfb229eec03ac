//! Releases that come and go, one after the other on one cluster.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::process::ExitCode;
use std::time::Duration;

use cluster_tests::objects::{graph, graph_v1alpha1, model};
use cluster_tests::{Chart, Release, Sandbox, run_in_turn, tests, until};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let tests = tests![
        the_longest_names_that_helm_and_kubernetes_take_work,
        what_is_uninstalled_leaves_no_webhook_configuration,
        what_is_uninstalled_after_our_command_reads_and_deletes_as_before,
        a_forgotten_command_is_made_up_for,
        generated_manifests_are_a_release,
        a_generated_chart_is_a_release,
    ];
    run_in_turn(tests, async |bed| bed.start_node().await)
}

/// The webhook configurations of the cluster.
async fn configurations(sandbox: &Sandbox) -> Vec<Value> {
    let mut all = Vec::new();
    for kind in ["validating", "mutating"] {
        let path = format!("/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations");
        let list = sandbox.bed().client().get(&path).await.unwrap().granted().unwrap();
        all.extend(list["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].clone()));
    }
    all
}

async fn crd(sandbox: &Sandbox) -> Value {
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dynamographdeployments.nvidia.com";
    sandbox.bed().client().get(path).await.unwrap().granted().unwrap()
}

/// Installs our chart, and waits until the release converts: it takes over from a Service that is gone as from one that
/// serves.
async fn install(sandbox: &Sandbox, release: &Release) {
    release.install(Chart::Current, &json!({})).await.unwrap();
    until("the release converts", Duration::from_mins(1), async || {
        let called = &crd(sandbox).await["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
        called["namespace"] == release.namespace()
    })
    .await;
    until("the API server has heard of it", Duration::from_mins(1), async || {
        sandbox.dry().create(&graph_v1alpha1("heard")).await.status.is_success()
    })
    .await;
}

/// Asks for verdicts, defaults and conversions, and leaves two graphs of these names.
async fn works(sandbox: &Sandbox, [name, older]: [&str; 2]) {
    sandbox.rejects(&model("rail", "ftp://example.org"), &["spec.source.uri"]).await;
    sandbox.defaults_to(&graph(name), &[("/spec/components/0/replicas", json!(1))]).await;
    sandbox.survives(&graph_v1alpha1(older), "v1beta1").await;
}

async fn the_longest_names_that_helm_and_kubernetes_take_work(sandbox: Sandbox) {
    let release = Release::of(&sandbox, &"r".repeat(53), &"n".repeat(63));
    install(&sandbox, &release).await;
    works(&sandbox, ["heron", "otter"]).await;
    release.uninstall().await.unwrap();
}

async fn what_is_uninstalled_leaves_no_webhook_configuration(sandbox: Sandbox) {
    let release = Release::of(&sandbox, "otter", "river");
    install(&sandbox, &release).await;
    assert_eq!(configurations(&sandbox).await, ["otter-validating", "otter-mutating"]);
    works(&sandbox, ["heron", "otter"]).await;
    release.uninstall().await.unwrap();
    assert_eq!(configurations(&sandbox).await, Vec::<Value>::new());
}

async fn what_is_uninstalled_after_our_command_reads_and_deletes_as_before(sandbox: Sandbox) {
    let release = Release::of(&sandbox, "otter", "river");
    install(&sandbox, &release).await;
    works(&sandbox, ["heron", "otter"]).await;
    println!("{}", release.gateward(&["uninstall", "--yes"]).await.unwrap());
    release.uninstall().await.unwrap();
    neutral(&sandbox).await;
    sandbox.read(&graph_v1alpha1("otter"), "v1beta1").await;
    sandbox.delete(&graph("otter")).await;

    install(&sandbox, &release).await;
    let crd = crd(&sandbox).await;
    assert_eq!(crd["spec"]["conversion"]["strategy"], "Webhook");
    assert!(crd["spec"]["versions"].as_array().unwrap().iter().all(|version| version["served"] == true), "{crd}");
    sandbox.read(&graph("heron"), "v1alpha1").await;
    works(&sandbox, ["stork", "lynx"]).await;
    release.uninstall().await.unwrap();
}

async fn a_forgotten_command_is_made_up_for(sandbox: Sandbox) {
    let release = Release::of(&sandbox, "otter", "river");
    install(&sandbox, &release).await;
    works(&sandbox, ["heron", "otter"]).await;
    release.uninstall().await.unwrap();
    // What is stored in the version that is asked for needs no webhook.
    sandbox.read(&graph("heron"), "v1beta1").await;
    sandbox.delete(&graph("heron")).await;
    println!("{}", release.gateward(&["uninstall", "--yes"]).await.unwrap());
    neutral(&sandbox).await;
    sandbox.delete(&graph("otter")).await;
}

/// Without Helm: what `generate` prints, applied in the order of its help.
async fn generated_manifests_are_a_release(sandbox: Sandbox) {
    let release = Release::of(&sandbox, "heron", "reeds");
    let namespace = json!({"metadata": {"name": release.namespace()}});
    sandbox.bed().client().post("/api/v1/namespaces", &namespace).await.unwrap().granted().unwrap();
    let deployment = ["generate", "deployment", "--image", "registry.example.org/gateward:0.1.0"];
    let parts: [&[&str]; 4] = [
        &["generate", "crds"],
        &["generate", "rbac"],
        &deployment,
        &["generate", "webhooks", "--timeout-seconds", "20"],
    ];
    let mut files = Vec::new();
    for part in parts {
        let file = sandbox.bed().folder().join(format!("{}.yaml", part[1]));
        std::fs::write(&file, release.gateward(part).await.unwrap()).unwrap();
        let file = file.to_str().unwrap().to_owned();
        release.kubectl(&["apply", "--server-side", "--force-conflicts", "-f", &file]).await.unwrap();
        if part[1] == "deployment" {
            release.rolled_out().await.unwrap();
        }
        files.push(file);
    }
    until("the release converts", Duration::from_mins(1), async || {
        sandbox.dry().create(&graph_v1alpha1("heard")).await.status.is_success()
    })
    .await;
    works(&sandbox, ["heron", "otter"]).await;
    let pods = sandbox.bed().node().pods(release.namespace(), "app.kubernetes.io/instance=heron");
    assert_eq!(pods.len(), 2);
    assert!(pods.iter().all(|pod| pod.is_ready() && pod.restarts() == 0), "{}", pods[0].log());

    for file in files.iter().skip(1).rev() {
        release.kubectl(&["delete", "-f", file]).await.unwrap();
    }
    assert_eq!(configurations(&sandbox).await, Vec::<Value>::new());
}

/// A CronTab of the example, in its older version.
fn cron_tab(name: &str, schedule: &str) -> Value {
    let spec = json!({"cronSpec": schedule, "image": "registry.example.com/backup:1"});
    json!({"apiVersion": "stable.example.com/v1", "kind": "CronTab", "metadata": {"name": name}, "spec": spec})
}

/// An operator that has no chart but the one that is written from its declaration.
async fn a_generated_chart_is_a_release(sandbox: Sandbox) {
    let (bed, chart) = (sandbox.bed(), Chart::Made("chart-of-crontab"));
    let mut program = bed.programs().example("crontab").unwrap();
    program.args(["generate", "chart", "--image", "registry.example.org/crontab:0.1.0", "--out"]);
    assert!(program.arg(chart.folder(bed)).status().unwrap().success());
    let release = Release::of(&sandbox, "otter", "pond");
    release.install(chart, &json!({})).await.unwrap();
    until("the release judges", Duration::from_mins(1), async || {
        sandbox.dry().create(&cron_tab("heard", "daily")).await.status == 422
    })
    .await;
    sandbox.rejects(&cron_tab("daily", "daily"), &["spec.cronSpec"]).await;
    let wanted = [("/spec/schedule", json!("0 4 * * *"))];
    sandbox.converts_to(&cron_tab("nightly", "0 4 * * *"), "v2", &wanted).await;

    let values = json!({"replicas": 1, "webhook": {"objectSelector": {"matchLabels": {"judged": "yes"}}}});
    release.upgrade(chart, &values).await.unwrap();
    let passes = async || sandbox.dry().create(&cron_tab("unseen", "daily")).await.status.is_success();
    until("the release judges what it selects", Duration::from_mins(1), passes).await;
    let pods = bed.node().pods(release.namespace(), "app.kubernetes.io/instance=otter");
    assert!(pods.iter().all(|pod| pod.restarts() == 0), "{}", pods[0].log());

    let mut program = bed.programs().example("crontab").unwrap();
    program.env("KUBECONFIG", bed.folder().join("kubeconfig")).env("HOME", bed.folder());
    program.args(["uninstall", "--yes", "--release", release.name(), "--namespace", release.namespace()]);
    assert!(program.status().unwrap().success());
    release.uninstall().await.unwrap();
    assert_eq!(configurations(&sandbox).await, Vec::<Value>::new());
    let of_release = "deployments,services,configmaps,serviceaccounts,roles,rolebindings,poddisruptionbudgets,clusterroles,\
                      clusterrolebindings";
    let left = release.kubectl(&["get", of_release, "--output", "name"]).await.unwrap();
    let left: Vec<&str> = left.lines().filter(|line| line.contains("otter")).collect();
    assert_eq!(left, Vec::<&str>::new());
    let stored = sandbox.read(&cron_tab("nightly", ""), "v2").await;
    sandbox.delete(&stored).await;
    release
        .kubectl(&["delete", "crd", "crontabs.stable.example.com", "cronpolicies.stable.example.com"])
        .await
        .unwrap();
}

/// Nothing has to be converted any more, and nothing can be misread.
async fn neutral(sandbox: &Sandbox) {
    let crd = crd(sandbox).await;
    assert_eq!(crd["spec"]["conversion"]["strategy"], "None", "{crd}");
    assert_eq!(crd["status"]["storedVersions"], json!(["v1beta1"]));
    let served = crd["spec"]["versions"].as_array().unwrap().iter().filter(|version| version["served"] == true);
    let served: Vec<&Value> = served.map(|version| &version["name"]).collect();
    assert_eq!(served, ["v1beta1"]);
}
