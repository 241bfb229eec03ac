//! The bundle of the Dynamo Operator: installed, rotated under a load, removed.

use std::time::{Duration, Instant};

use cluster_tests::objects::{graph, graph_v1alpha1, model};
use cluster_tests::{Bed, Inventory, Load, Pod, Sandbox, Tally, Test, shown_certificate, tests, until};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::json;

use crate::bundles;
use crate::olm::{Installed, Olm};

pub fn tests() -> Vec<Test> {
    tests![the_dynamo_bundle_is_installed_rotated_and_removed]
}

const NAMESPACE: &str = "dynamo-system";

async fn the_dynamo_bundle_is_installed_rotated_and_removed(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let before = Inventory::of(bed).await.unwrap();
    let olm = Olm::in_namespace(&sandbox, NAMESPACE).await;
    let mut installed = olm.install(bundles::dynamo()).await;
    is_judged(&sandbox).await;
    for (object, other) in [(graph_v1alpha1("heron"), "v1beta1"), (graph("badger"), "v1alpha1")] {
        sandbox.survives(&object, other).await;
        sandbox.delete(&object).await;
    }
    rotation(&sandbox, &olm, &mut installed).await;

    let bundle = installed.bundle.clone();
    olm.remove(installed, None).await;
    olm.forget(&bundle);
    before.is_restored(bed).await;
}

async fn is_judged(sandbox: &Sandbox) {
    until("graphs are judged", Duration::from_mins(1), async || {
        sandbox.dry().create(&model("rail", "ftp://example.org")).await.status.as_u16() == 422
            && sandbox.dry().create(&graph("otter")).await.status.is_success()
    })
    .await;
    sandbox.rejects(&model("rail", "ftp://example.org"), &["spec.source.uri"]).await;
    sandbox.defaults_to(&graph("otter"), &[("/spec/components/0/replicas", json!(1))]).await;
    sandbox.delete(&graph("otter")).await;
}

/// OLM swaps the CA: Secret, Deployment, configurations and stanzas, without a moment in which both CAs are trusted.
async fn rotation(sandbox: &Sandbox, olm: &Olm<'_>, installed: &mut Installed) {
    let (before, old) = (pods(sandbox.bed()), certificate(installed));
    let mut served = Duration::ZERO;
    let tally = Load::during(sandbox, async |load| {
        let shown = tokio::spawn(another_is_shown(before, old));
        olm.rotate(installed).await;
        println!("a Pod that ran before shows the new pair {:.1?} after the swap began", shown.await.unwrap());
        olm.rolled_out(installed);
        let new = certificate(installed);
        for pod in pods(sandbox.bed()).iter().filter(|pod| !pod.is_ending()) {
            assert_eq!(shown_certificate(pod.ip().unwrap()).await.unwrap(), new);
        }
        served = load.elapsed();
    })
    .await;
    the_swap_alone_costs(&tally, served);
}

fn certificate(installed: &Installed) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(installed.pair().certificate.as_bytes()).unwrap()
}

fn pods(bed: &Bed) -> Vec<Pod> {
    bed.node().pods(NAMESPACE, "app.kubernetes.io/name=dynamo-operator")
}

/// Waits until one of these Pods shows another certificate, and gives the time that it took.
async fn another_is_shown(pods: Vec<Pod>, old: CertificateDer<'static>) -> Duration {
    let start = Instant::now();
    while !shows_another(&pods, &old).await {
        assert!(start.elapsed() < Duration::from_mins(1), "no Pod that ran before shows the new pair");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    start.elapsed()
}

/// Whether a Pod that serves shows another certificate, without having started again.
async fn shows_another(pods: &[Pod], old: &CertificateDer<'_>) -> bool {
    for pod in pods.iter().filter(|pod| !pod.is_ending() && pod.restarts() == 0) {
        if shown_certificate(pod.ip().unwrap()).await.is_ok_and(|shown| shown != *old) {
            return true;
        }
    }
    false
}

/// No request fails but by the CA that the API server trusts too early, and none once the new Pods serve.
fn the_swap_alone_costs(tally: &Tally, served: Duration) {
    assert_eq!((tally.failed_open.number, tally.not_served.number, tally.astray.number), (0, 0, 0), "{tally}");
    assert!(tally.granted > 0 && tally.denied > 0, "{tally}");
    for failure in &tally.failures {
        assert!(failure.text.contains("x509: certificate signed by unknown authority"), "{tally}");
        assert!(failure.sent < served, "{tally}");
    }
    let sent = || tally.failures.iter().map(|failure| failure.sent);
    let within = sent().max().zip(sent().min()).map(|(last, first)| last.saturating_sub(first)).unwrap_or_default();
    println!("the swap cost {} refusals within {within:.1?}", tally.failures.len());
}
