//! The example `crontab` by the manifests and by the chart that it generates.

use cluster_tests::{Inventory, Sandbox, Test, tests};

use crate::command::{crontab, kubectl, output};
use crate::crontab::{is_judged, keeps_its_promises};

pub fn tests() -> Vec<Test> {
    tests![a_folder_of_kustomize_is_installed_and_removed, a_chart_is_installed_and_removed]
}

const NAMESPACE: &str = "crontab-system";
const RELEASE: [&str; 4] = ["--release", "crontab", "--namespace", NAMESPACE];
const IMAGE: [&str; 2] = ["--image", "registry.example.org/crontab:1.0.0"];
const CRDS: [&str; 2] = ["crontabs.stable.example.com", "cronpolicies.stable.example.com"];

async fn a_folder_of_kustomize_is_installed_and_removed(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let before = Inventory::of(bed).await.unwrap();
    let folder = bed.folder().join("config");
    let folder = folder.to_str().unwrap();
    // Without a namespace it makes its own.
    crontab(bed, &[&["generate", "kustomize", "--release", "crontab", "--out", folder][..], &IMAGE].concat());
    kubectl(bed, &["apply", "--server-side", "-k", folder]);
    let rollout = ["rollout", "status", "deployment/crontab", "-n", NAMESPACE, "--timeout=150s"];
    kubectl(bed, &rollout);
    is_judged(&sandbox).await;
    keeps_its_promises(&sandbox).await;

    // A second time nothing changes: what the Pods have written stays.
    kubectl(bed, &["apply", "--server-side", "-k", folder]);
    kubectl(bed, &rollout);
    is_judged(&sandbox).await;

    kubectl(bed, &["delete", "-k", folder]);
    before.is_restored(bed).await;
}

async fn a_chart_is_installed_and_removed(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let before = Inventory::of(bed).await.unwrap();
    let folder = bed.folder().join("chart");
    crontab(bed, &[&["generate", "chart", "--out", folder.to_str().unwrap()][..], &IMAGE].concat());
    let helm = |verb: &str, further: &[&str]| {
        output(bed.helm().args([verb, "crontab", "-n", NAMESPACE, "--wait", "--timeout", "150s"]).args(further))
    };
    helm("install", &["--create-namespace", folder.to_str().unwrap()]);
    is_judged(&sandbox).await;
    keeps_its_promises(&sandbox).await;

    crontab(bed, &[&["uninstall", "--yes"][..], &RELEASE].concat());
    helm("uninstall", &[]);
    // Helm leaves what it hasn't made.
    kubectl(bed, &[&["delete", "crd"][..], &CRDS].concat());
    kubectl(bed, &["delete", "namespace", NAMESPACE]);
    before.is_restored(bed).await;
}
