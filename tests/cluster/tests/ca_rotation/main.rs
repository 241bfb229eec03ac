//! Certificates change under a load, and nobody notices. How long it takes from a new certificate in the Secret to the first
//! handshake with it is printed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::process::ExitCode;
use std::time::Duration;

use cluster_tests::{
    CA_SECRET, Chart, Load, NAMESPACE, Release, SERVING_SECRET, Sandbox, run_in_turn, shown_by_all, tests,
};
use gateward_certs::CaBundle;
use serde_json::{Value, json};

fn main() -> ExitCode {
    let tests = tests![
        a_certificate_is_renewed,
        a_ca_is_rotated_while_replicas_hear_of_it_late,
        a_ca_is_rotated_while_replicas_hear_of_it_a_minute_late,
        the_servers_secret_is_deleted,
        the_ca_secret_is_deleted,
        both_secrets_are_deleted,
    ];
    run_in_turn(tests, async |bed| Release::installed(bed, &json!({})).await)
}

/// Values with which certificates live for so long.
fn lifetime(lifetime: &str) -> Value {
    json!({"dynamo-operator": {"webhook": {"certificates": {"lifetime": lifetime}}}})
}

async fn a_certificate_is_renewed(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    // It is renewed at two thirds of its life.
    release.upgrade(Chart::Current, &lifetime("90s")).await.unwrap();
    // Helm goes on once the new Pods are ready; the old leader would issue for longer.
    release.settled().await.unwrap();
    let first = replaced(&release, SERVING_SECRET).await;
    Load::is_unharmed_by(&sandbox, async || {
        let renewed = release.another_certificate(SERVING_SECRET, &first, Duration::from_secs(90)).await;
        let chain = CaBundle::parse(renewed.as_bytes()).unwrap();
        shown_by_all(&sandbox, NAMESPACE, chain.iter().next().unwrap().certificate()).await;
    })
    .await;
    release.upgrade(Chart::Current, &lifetime("87600h")).await.unwrap();
    replaced(&release, SERVING_SECRET).await;
}

async fn a_ca_is_rotated_while_replicas_hear_of_it_late(sandbox: Sandbox) {
    rotate(&sandbox, Duration::from_secs(2), Duration::from_mins(3)).await;
}

async fn a_ca_is_rotated_while_replicas_hear_of_it_a_minute_late(sandbox: Sandbox) {
    rotate(&sandbox, Duration::from_mins(1), Duration::from_mins(7)).await;
}

/// Rotates the CA while what watches deliver to the replicas is delayed.
async fn rotate(sandbox: &Sandbox, delay: Duration, within: Duration) {
    let release = Release::only(sandbox);
    let before = release.certificate(CA_SECRET).await.unwrap().unwrap();
    sandbox.bed().node().delay_watches(delay);
    let tally = Load::during(sandbox, async |_| {
        println!("{}", release.gateward(&["certs", "rotate"]).await.unwrap());
        release.rotated(&before, within).await;
    })
    .await;
    sandbox.bed().node().delay_watches(Duration::ZERO);
    tally.assert_no_failures();
}

async fn the_servers_secret_is_deleted(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    let ca = release.certificate(CA_SECRET).await.unwrap();
    Load::is_unharmed_by(&sandbox, async || {
        replaced(&release, SERVING_SECRET).await;
    })
    .await;
    assert_eq!(release.certificate(CA_SECRET).await.unwrap(), ca, "its CA was still good");
}

async fn the_ca_secret_is_deleted(sandbox: Sandbox) {
    deleted(&sandbox, &[CA_SECRET]).await;
}

async fn both_secrets_are_deleted(sandbox: Sandbox) {
    deleted(&sandbox, &[CA_SECRET, SERVING_SECRET]).await;
}

/// Has Secrets deleted, and a new CA made.
async fn deleted(sandbox: &Sandbox, secrets: &[&str]) {
    let release = Release::only(sandbox);
    let before = release.certificate(CA_SECRET).await.unwrap().unwrap();
    Load::is_unharmed_by(sandbox, async || {
        for secret in secrets {
            release.delete_secret(secret).await.unwrap();
        }
        release.rotated(&before, Duration::from_mins(3)).await;
    })
    .await;
}

/// Deletes a Secret, and waits for its successor. Gives the new certificate.
async fn replaced(release: &Release, secret: &str) -> String {
    let before = release.certificate(secret).await.unwrap().unwrap();
    release.delete_secret(secret).await.unwrap();
    release.another_certificate(secret, &before, Duration::from_mins(2)).await
}
