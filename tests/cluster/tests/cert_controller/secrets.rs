//! Secrets that are deleted, damaged or emptied while replicas serve.

use cluster_tests::{Sandbox, Test, tests, until};
use rustls::pki_types::CertificateDer;
use serde_json::json;

use crate::replica::Replica;
use crate::rotation::Promise;
use crate::setup::{CA_SECRET, SERVING_SECRET};
use crate::zoo::{PATIENCE, Zoo, base64};

pub fn tests() -> Vec<Test> {
    tests![
        a_server_certificate_that_is_deleted_is_issued_anew_by_the_same_ca,
        a_ca_that_is_deleted_is_rotated_without_a_gap,
        both_secrets_may_be_deleted_at_once,
        a_damaged_secret_is_repaired_and_never_shown,
        the_secrets_of_a_cluster_that_carries_nothing_yet_may_be_emptied,
    ]
}

async fn change_over(replicas: &[Replica], from: Option<CertificateDer<'static>>) {
    let changed = async || replicas.iter().all(|replica| replica.shown() != from);
    until("another certificate is shown", PATIENCE, changed).await;
}

async fn a_server_certificate_that_is_deleted_is_issued_anew_by_the_same_ca(sandbox: Sandbox) {
    let (zoo, replicas) = Zoo::settled::<2>(sandbox).await;
    let promise = Promise::watch(&zoo, &replicas);
    let (ca, shown) = (zoo.ca().await, replicas[0].shown());
    zoo.delete("Secret", SERVING_SECRET).await;
    change_over(&replicas, shown).await;
    zoo.settles(&replicas.each_ref()).await;
    assert_eq!(zoo.ca().await, ca);
    promise.was_kept().await;
}

async fn a_ca_that_is_deleted_is_rotated_without_a_gap(sandbox: Sandbox) {
    let (zoo, replicas) = Zoo::settled::<2>(sandbox).await;
    let promise = Promise::watch(&zoo, &replicas);
    let before = zoo.ca().await;
    zoo.delete("Secret", CA_SECRET).await;
    until("there is a new CA", PATIENCE, async || {
        let ca = zoo.ca().await;
        !ca.is_empty() && ca != before
    })
    .await;
    zoo.settles(&replicas.each_ref()).await;
    promise.was_kept().await;
}

async fn both_secrets_may_be_deleted_at_once(sandbox: Sandbox) {
    let (zoo, replicas) = Zoo::settled::<2>(sandbox).await;
    let promise = Promise::watch(&zoo, &replicas);
    let shown = replicas[0].shown();
    zoo.delete("Secret", SERVING_SECRET).await;
    zoo.delete("Secret", CA_SECRET).await;
    change_over(&replicas, shown).await;
    zoo.settles(&replicas.each_ref()).await;
    promise.was_kept().await;
}

async fn a_damaged_secret_is_repaired_and_never_shown(sandbox: Sandbox) {
    let (zoo, replicas) = Zoo::settled::<2>(sandbox).await;
    let promise = Promise::watch(&zoo, &replicas);
    let ca = zoo.ca().await;
    for damage in [
        json!({"tls.key": base64("otters")}),
        json!({"tls.crt": base64("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")}),
        json!({"tls.crt": "", "tls.key": ""}),
        json!({"ca.crt": null}),
    ] {
        let before = zoo.field(SERVING_SECRET, "tls.key").await.unwrap();
        zoo.merge("Secret", SERVING_SECRET, &json!({"data": damage})).await;
        until("the Secret is whole again", PATIENCE, async || {
            let key = zoo.field(SERVING_SECRET, "tls.key").await.unwrap_or_default();
            key != before && key.contains("PRIVATE KEY")
        })
        .await;
        zoo.settles(&replicas.each_ref()).await;
    }
    assert_eq!(zoo.ca().await, ca);
    promise.was_kept().await;
}

async fn the_secrets_of_a_cluster_that_carries_nothing_yet_may_be_emptied(sandbox: Sandbox) {
    let zoo = Zoo::new(sandbox).await;
    let [replica] = zoo.replicas().await;
    until("something is shown", PATIENCE, async || replica.shown().is_some()).await;
    let shown = replica.shown();
    for (secret, data) in
        [(SERVING_SECRET, json!({"tls.crt": "", "tls.key": "", "ca.crt": null})), (CA_SECRET, json!(null))]
    {
        zoo.merge("Secret", secret, &json!({"data": data})).await;
    }
    until("another certificate is shown", PATIENCE, async || replica.shown() != shown).await;
    zoo.install_configurations().await;
    zoo.install_crd().await;
    zoo.settles(&[&replica]).await;
}
