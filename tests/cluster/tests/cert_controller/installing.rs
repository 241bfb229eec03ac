//! The first start, and what is found there.

use cluster_tests::{Sandbox, Test, tests, until};
use gateward_certs::{ServerNames, Validity};
use gateward_cluster::ControllerStatus;
use serde_json::{Value, json};
use std::time::Instant;

use crate::legacy_ca_key::LegacySecret;
use crate::provided::carry;
use crate::rotation::Promise;
use crate::setup::{CA_SECRET, SERVING_SECRET};
use crate::zoo::{PATIENCE, Zoo, base64, fields};

pub fn tests() -> Vec<Test> {
    tests![
        three_replicas_start_at_once_and_one_of_them_makes_everything,
        what_is_valid_is_kept_over_restarts,
        a_ca_in_the_old_place_is_adopted_moved_and_removed,
        a_ca_whose_key_a_hook_has_discarded_is_replaced_while_callers_trust_every_replica,
        a_name_that_is_lacking_brings_a_new_certificate_of_the_same_ca,
        a_replica_knows_what_its_callers_trust,
    ]
}

async fn three_replicas_start_at_once_and_one_of_them_makes_everything(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    let audit = zoo.sandbox().bed().audit().unwrap();
    let replicas = zoo.replicas::<3>().await;
    zoo.settles(&replicas.each_ref()).await;

    assert_eq!(replicas.iter().filter(|replica| replica.writes()).count(), 1);
    let secret = zoo.read("Secret", SERVING_SECRET).await;
    assert_eq!((&secret["type"], fields(&secret)), (&json!("kubernetes.io/tls"), vec!["ca.crt", "tls.crt", "tls.key"]));
    assert_eq!(secret["metadata"]["labels"], json!(zoo.setup.secrets.labels));
    let ca = zoo.read("Secret", CA_SECRET).await;
    assert_eq!((&ca["type"], fields(&ca)), (&json!("Opaque"), vec!["tls.crt", "tls.key"]));

    // Each was there whole with its first write, and nobody was refused anything.
    let mut writes = Vec::new();
    for replica in &replicas {
        let events = audit.of(&zoo.user_of(replica.name())).unwrap();
        assert_eq!(events.iter().find(|event| event.code == 403), None);
        let on_secrets = events.into_iter().filter(|event| event.resource == "secrets");
        writes.extend(on_secrets.filter(|event| ["create", "update"].contains(&event.verb.as_str())).map(|it| it.verb));
    }
    assert_eq!(writes, ["create", "create"]);
}

async fn what_is_valid_is_kept_over_restarts(sandbox: Sandbox) {
    let (zoo, [mut first]) = Zoo::settled(sandbox).await;
    let before = versions(&zoo).await;
    first.stop().await;
    first.restart().await;
    zoo.settles(&[&first]).await;
    assert_eq!(versions(&zoo).await, before);
}

async fn a_ca_in_the_old_place_is_adopted_moved_and_removed(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    let old = LegacySecret::filled(&zoo).await;
    let [replica] = zoo.replicas().await;
    zoo.settles(&[&replica]).await;
    old.was_moved(&zoo).await;
}

async fn a_ca_whose_key_a_hook_has_discarded_is_replaced_while_callers_trust_every_replica(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    let old = LegacySecret::without_key(&zoo).await;
    for (kind, name) in zoo.carriers() {
        carry(&zoo, kind, &name, &base64(&old.ca_crt()).into()).await;
    }
    let replicas = zoo.replicas::<2>().await;
    let shown = async || replicas.iter().all(|replica| replica.shown().is_some());
    until("the certificate that was found is shown", PATIENCE, shown).await;
    let promise = Promise::watch(&zoo, &replicas);
    zoo.settles(&replicas.each_ref()).await;
    assert_ne!(zoo.field(CA_SECRET, "tls.crt").await.unwrap(), old.ca_crt());
    promise.was_kept().await;
}

async fn a_name_that_is_lacking_brings_a_new_certificate_of_the_same_ca(sandbox: Sandbox) {
    let (mut zoo, [mut replica]) = Zoo::settled(sandbox).await;
    let (ca, leaf) = (zoo.ca().await, replica.shown());
    zoo.remove(&mut replica).await;

    let service = zoo.setup.targets.service.name.clone();
    zoo.setup.certificates.names = ServerNames::of_service(&service, zoo.namespace(), "example.org").unwrap();
    let [replica] = zoo.replicas().await;
    until("the new certificate is shown", PATIENCE, async || replica.shown().is_some_and(|it| Some(it) != leaf)).await;
    zoo.settles(&[&replica]).await;
    assert_eq!(zoo.ca().await, ca);
}

async fn a_replica_knows_what_its_callers_trust(sandbox: Sandbox) {
    let (zoo, [first]) = Zoo::settled(sandbox).await;
    let ca = zoo.field(CA_SECRET, "tls.crt").await.unwrap().into_bytes();
    let trusted =
        |status: &ControllerStatus| status.injected.bundles == [ca.clone()] && status.injected.valid_from.is_some();
    let mut trust = first.controller().status();
    tokio::time::timeout(PATIENCE, trust.wait_for(trusted)).await.unwrap().unwrap();
    assert!(first.status().at_fault().next().is_none(), "{:?}", first.status().attention());
    // Both are to live for ten years; the certificate can't outlive its CA.
    let ends = |validity: Option<Validity>| validity.unwrap().not_after();
    assert_eq!(ends(first.status().certificate), ends(first.status().ca));

    // What nobody has changed for some seconds needs no waiting.
    tokio::time::sleep(zoo.setup.certificates.settle * 5).await;
    let second = zoo.replica("otter-2").await;
    let mut trust = second.controller().status();
    let trust = tokio::time::timeout(PATIENCE, trust.wait_for(trusted)).await.unwrap().unwrap().clone();
    assert!(trust.injected.valid_from.unwrap() <= Instant::now());
}

async fn versions(zoo: &Zoo) -> Vec<Value> {
    let mut versions = Vec::new();
    for secret in [SERVING_SECRET, CA_SECRET] {
        versions.push(zoo.read("Secret", secret).await["metadata"]["resourceVersion"].clone());
    }
    for (kind, name) in zoo.carriers() {
        versions.push(zoo.read(kind, &name).await["metadata"]["generation"].clone());
    }
    versions
}
