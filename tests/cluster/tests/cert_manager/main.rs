//! That the bed's cert-manager issues certificates and injects CAs as one in a cluster does.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod injectable;

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::{Sandbox, run_in_turn, tests, until};
use gateward_certs::{Ca, CommonName, SystemKeys, TEN_YEARS, Validity};
use serde_json::{Value, json};

use injectable::Injectable;

/// Longer than cert-manager takes on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(1);
/// How long nothing may happen where nothing is to happen.
const SILENCE: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let tests = tests![
        an_issuer_chain_gives_a_serving_certificate_with_its_ca,
        the_ca_of_a_certificate_is_injected,
        the_ca_of_a_secret_that_allows_it_is_injected_and_followed,
        a_secret_that_does_not_allow_it_is_not_injected,
        a_certificate_is_issued_anew_on_request,
        nothing_is_issued_while_it_is_stopped,
    ];
    run_in_turn(tests, async |bed| bed.start_cert_manager().await)
}

async fn an_issuer_chain_gives_a_serving_certificate_with_its_ca(sandbox: Sandbox) {
    chain(&sandbox).await;
    let serving = secret(&sandbox, "serving").await;
    assert_eq!(serving["type"], "kubernetes.io/tls");
    let ca = secret(&sandbox, "root-ca").await;
    assert_eq!(serving["data"]["ca.crt"], ca["data"]["tls.crt"]);
    assert_ne!(serving["data"]["tls.crt"], ca["data"]["tls.crt"]);
    assert!(serving["data"]["tls.key"].is_string());
}

async fn the_ca_of_a_certificate_is_injected(sandbox: Sandbox) {
    let source = format!("{}/serving", sandbox.namespace());
    let injectable = Injectable::create(&sandbox, "weasels", &json!({"cert-manager.io/inject-ca-from": source})).await;
    chain(&sandbox).await;
    let ca = secret(&sandbox, "serving").await["data"]["ca.crt"].clone();
    injectable.get(&ca).await;
}

async fn the_ca_of_a_secret_that_allows_it_is_injected_and_followed(sandbox: Sandbox) {
    let source = format!("{}/otter-ca", sandbox.namespace());
    let annotations = json!({"cert-manager.io/inject-ca-from-secret": source});
    let injectable = Injectable::create(&sandbox, "otters", &annotations).await;
    let mut ca = bundle(&sandbox, "otter-ca", "true").await;
    injectable.get(&ca["data"]["ca.crt"]).await;

    let validity = Validity::starting(SystemTime::now(), TEN_YEARS).unwrap();
    let other = Ca::new(&CommonName::new("other").unwrap(), validity, &SystemKeys).unwrap();
    let other = STANDARD.encode(other.certificate_pem());
    ca["data"]["ca.crt"] = other.clone().into();
    sandbox.replace(&ca).await.granted().unwrap();
    injectable.get(&other.into()).await;
}

async fn a_secret_that_does_not_allow_it_is_not_injected(sandbox: Sandbox) {
    let source = format!("{}/seal-ca", sandbox.namespace());
    let annotations = json!({"cert-manager.io/inject-ca-from-secret": source});
    let injectable = Injectable::create(&sandbox, "seals", &annotations).await;
    let mut ca = bundle(&sandbox, "seal-ca", "false").await;
    tokio::time::sleep(SILENCE).await;
    assert_eq!(injectable.bundles().await, [Value::Null, Value::Null]);

    ca["metadata"]["annotations"]["cert-manager.io/allow-direct-injection"] = "true".into();
    sandbox.replace(&ca).await.granted().unwrap();
    injectable.get(&ca["data"]["ca.crt"]).await;
}

async fn a_certificate_is_issued_anew_on_request(sandbox: Sandbox) {
    chain(&sandbox).await;
    for _ in 0..2 {
        let last = secret(&sandbox, "serving").await;
        sandbox.bed().cert_manager().renew(sandbox.namespace(), "serving").await.unwrap();
        until("another certificate", PATIENCE, async || {
            secret(&sandbox, "serving").await["data"]["tls.crt"] != last["data"]["tls.crt"]
        })
        .await;
    }
    let ca = secret(&sandbox, "root-ca").await;
    assert_eq!(secret(&sandbox, "serving").await["data"]["ca.crt"], ca["data"]["tls.crt"]);
}

async fn nothing_is_issued_while_it_is_stopped(sandbox: Sandbox) {
    chain(&sandbox).await;
    let before = secret(&sandbox, "serving").await;
    let cert_manager = sandbox.bed().cert_manager();
    cert_manager.stop();
    cert_manager.renew(sandbox.namespace(), "serving").await.unwrap();
    tokio::time::sleep(SILENCE).await;
    assert_eq!(secret(&sandbox, "serving").await["data"], before["data"]);

    cert_manager.start().unwrap();
    until("another certificate", PATIENCE, async || secret(&sandbox, "serving").await["data"] != before["data"]).await;
}

/// A self-signed CA, an issuer that signs with it, and a serving certificate of that issuer, which is there.
///
/// The CA comes first and is waited for: cert-manager, whose cache is late, may issue a new Certificate twice, and what a
/// CA signed isn't signed anew by the CA that replaced it.
async fn chain(sandbox: &Sandbox) {
    let certificate = |name: &str, issuer: &str, spec: Value| {
        let mut spec = spec;
        spec["secretName"] = name.into();
        spec["issuerRef"] = json!({"name": issuer});
        spec["privateKey"] = json!({"algorithm": "ECDSA"});
        object("Certificate", name, &spec)
    };
    sandbox.accepts(&object("Issuer", "self-signed", &json!({"selfSigned": {}}))).await;
    sandbox.accepts(&certificate("root-ca", "self-signed", json!({"isCA": true, "commonName": "root-ca"}))).await;
    issued(sandbox, "root-ca").await;
    sandbox.accepts(&object("Issuer", "ca", &json!({"ca": {"secretName": "root-ca"}}))).await;
    sandbox.accepts(&certificate("serving", "ca", json!({"dnsNames": ["otter.zoo.svc"]}))).await;
    issued(sandbox, "serving").await;
}

/// Waits until a certificate is there and no other is on its way.
async fn issued(sandbox: &Sandbox, name: &str) {
    let place = format!("/apis/cert-manager.io/v1/namespaces/{}/certificates/{name}", sandbox.namespace());
    until("a certificate", PATIENCE, async || {
        let certificate = sandbox.client().get(&place).await.unwrap().granted().unwrap();
        let conditions = certificate["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let holds = |kind: &str| conditions.iter().any(|one| one["type"] == kind && one["status"] == "True");
        holds("Ready") && !holds("Issuing")
    })
    .await;
}

fn object(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "cert-manager.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec})
}

/// A Secret of no particular type that holds a CA, with what it says about injection.
async fn bundle(sandbox: &Sandbox, name: &str, allows: &str) -> Value {
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "annotations": {"cert-manager.io/allow-direct-injection": allows}},
        "data": {"ca.crt": STANDARD.encode(pem(sandbox))},
    });
    sandbox.accepts(&secret).await
}

/// Some CA.
fn pem(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.bed().folder().join("ca.crt")).unwrap()
}

async fn secret(sandbox: &Sandbox, name: &str) -> Value {
    sandbox.client().get(&secret_path(sandbox, name)).await.unwrap().granted().unwrap()
}

fn secret_path(sandbox: &Sandbox, name: &str) -> String {
    format!("/api/v1/namespaces/{}/secrets/{name}", sandbox.namespace())
}
