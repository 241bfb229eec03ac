//! The example whose webhooks are served beside a kube `Controller`, in one process that is no command of ours.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use cluster_tests::{Bed, Inventory, Sandbox, Signal, Test, tests, until};
use serde_json::json;

use crate::command::{crontab, kubectl};
use crate::crontab::{is_judged, tab};

pub fn tests() -> Vec<Test> {
    tests![webhooks_beside_a_controller_are_installed_judge_and_end_by_sigterm]
}

/// What a container of the example runs.
pub const PROGRAM: &str = "controller";

/// Where that is built.
pub fn program(bed: &Bed) -> anyhow::Result<PathBuf> {
    Ok(bed.programs().example(PROGRAM).context("the controller is not built")?.get_program().into())
}

const NAMESPACE: &str = "crontab-system";

/// One replica that runs the program instead of the command line.
const OVERLAY: &str = "
resources: [../generated]
patches:
- target: {kind: Deployment}
  patch: |-
    - {op: replace, path: /spec/replicas, value: 1}
    - {op: replace, path: /spec/template/spec/containers/0/command, value: [controller]}
    - {op: remove, path: /spec/template/spec/containers/0/args}
";

async fn webhooks_beside_a_controller_are_installed_judge_and_end_by_sigterm(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let before = Inventory::of(bed).await.unwrap();
    let [generated, overlay] =
        ["generated", "beside"].map(|name| bed.folder().join("controller").join(name).display().to_string());
    let image = ["--image", "registry.example.org/controller:1.0.0"];
    crontab(bed, &[&["generate", "kustomize", "--release", "crontab", "--out", &generated][..], &image].concat());
    std::fs::create_dir_all(&overlay).unwrap();
    std::fs::write(format!("{overlay}/kustomization.yaml"), OVERLAY).unwrap();
    kubectl(bed, &["apply", "--server-side", "-k", &overlay]);
    kubectl(bed, &["rollout", "status", "deployment/crontab", "-n", NAMESPACE, "--timeout=150s"]);
    is_judged(&sandbox).await;

    sandbox.accepts(&tab("otter")).await;
    let mut wide = tab("badger");
    wide["spec"]["replicas"] = json!(11);
    sandbox.rejects(&wide, &["spec.replicas"]).await;
    let pods = bed.node().pods(NAMESPACE, "app.kubernetes.io/instance=crontab");
    let [pod] = pods.as_slice() else { panic!("one Pod: {}", pods.len()) };
    until("the controller has seen it", Duration::from_mins(1), async || pod.log().contains("reconciled otter")).await;

    pod.signal(Signal::Term);
    until("both have ended", Duration::from_mins(1), async || pod.log().contains("stopped")).await;
    // It is started again; how it ended before stands in the status.
    let ended = "/status/containerStatuses/0/lastState/terminated/exitCode";
    until("it ended well", Duration::from_mins(1), async || pod.object().pointer(ended) == Some(&json!(0))).await;

    sandbox.delete(&tab("otter")).await;
    kubectl(bed, &["delete", "-k", &overlay]);
    before.is_restored(bed).await;
}
