//! Certificates that others write, in any order: a cainjector as that of cert-manager, and a user.

use std::time::{Duration, SystemTime};

use cluster_tests::{Sandbox, Test, tests, until};
use gateward_certs::{Ca, CaBundle, CaInjection, CommonName, Lifetime, Provision, ServerNames, SystemKeys, Validity};
use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::replica::Replica;
use crate::rotation::Promise;
use crate::setup::{BUNDLE_SECRET, SERVICE, SERVING_SECRET};
use crate::zoo::{CONVERSION, PATIENCE, Zoo, base64};

pub fn tests() -> Vec<Test> {
    tests![
        a_root_of_cert_manager_changes_while_every_caller_trusts_every_replica,
        a_bundle_that_cert_manager_injects_is_made_again,
        where_cert_manager_is_absent_a_replica_says_what_it_waits_for,
        a_certificate_of_the_user_is_served_and_its_ca_written_to_crds_alone,
        a_certificate_that_some_bundle_does_not_verify_is_held_back_and_reported,
        a_conversion_of_another_service_is_taken_over_once_the_users_certificate_is_served,
        a_conversion_of_another_service_is_taken_over_once_cert_managers_certificate_is_served,
    ]
}

/// How long the stand-in of the cainjector takes from one object to the next.
const PACE: Duration = Duration::from_millis(200);

fn ca() -> Ca {
    let validity = Validity::starting(SystemTime::now(), Lifetime::default().duration()).unwrap();
    Ca::new(&CommonName::new("root").unwrap(), validity, &SystemKeys).unwrap()
}

/// Writes a certificate of a CA into the serving Secret, and gives it.
async fn put(zoo: &Zoo, ca: &Ca) -> CertificateDer<'static> {
    let names = ServerNames::parse([format!("otter-webhook-service.{}.svc", zoo.namespace())]).unwrap();
    let serving = ca.issue(&names, ca.validity(), &SystemKeys).unwrap();
    let data = json!({
        "tls.crt": base64(&serving.certificate_pem()),
        "tls.key": base64(&serving.private_key_pem()),
        "ca.crt": base64(&ca.certificate_pem()),
    });
    let path = zoo.place("Secret", SERVING_SECRET);
    if zoo.client().get(&path).await.unwrap().status.is_success() {
        zoo.merge("Secret", SERVING_SECRET, &json!({"data": data})).await;
    } else {
        let secret = json!({"metadata": {"name": SERVING_SECRET}, "type": "kubernetes.io/tls", "data": data});
        let secrets = path.trim_end_matches(&format!("/{SERVING_SECRET}")).to_owned();
        zoo.client().post(&secrets, &secret).await.unwrap().granted().unwrap();
    }
    serving.certificate().clone()
}

/// Writes a bundle into each entry of an object, as a whole.
pub async fn carry(zoo: &Zoo, kind: &str, name: &str, bundle: &Value) {
    zoo.edit(kind, name, "", |object| {
        for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
            webhook["clientConfig"]["caBundle"] = bundle.clone();
        }
        if let Some(config) = object.pointer_mut("/spec/conversion/webhook/clientConfig") {
            config["caBundle"] = bundle.clone();
        }
    })
    .await;
}

/// Does as the cainjector: `ca.crt` of a Secret that allows it takes the place of one bundle after the other.
fn injects(zoo: &Zoo) -> JoinHandle<()> {
    let zoo = zoo.clone();
    tokio::spawn(async move {
        let mut injected = Value::Null;
        loop {
            tokio::time::sleep(PACE).await;
            let secret = zoo.client().get(&zoo.place("Secret", BUNDLE_SECRET)).await.unwrap().body;
            let allowed = &secret["metadata"]["annotations"]["cert-manager.io/allow-direct-injection"];
            let bundle = &secret["data"]["ca.crt"];
            if *allowed != "true" || *bundle == injected || !bundle.is_string() {
                continue;
            }
            for (kind, name) in zoo.carriers() {
                carry(&zoo, kind, &name, bundle).await;
                tokio::time::sleep(PACE).await;
            }
            injected = bundle.clone();
        }
    })
}

/// Until every entry carries one CA alone, and every replica shows a certificate.
async fn rests(zoo: &Zoo, replicas: &[&Replica], ca: &Ca, certificate: &CertificateDer<'static>) {
    let only = CaBundle::from(ca.trust_anchor().clone());
    until("everything rests", PATIENCE, async || {
        let shown = replicas.iter().all(|replica| replica.shown().as_ref() == Some(certificate));
        let bundles = zoo.bundles().await;
        shown && bundles.len() >= 5 && bundles.iter().all(|bundle| *bundle == only)
    })
    .await;
}

async fn by_cert_manager(sandbox: Sandbox) -> Zoo {
    let (injection, ca_bundle) = (CaInjection::Secret, CaBundle::default());
    Zoo::provided(sandbox, Provision::CertManager { injection, ca_bundle }).await
}

async fn a_root_of_cert_manager_changes_while_every_caller_trusts_every_replica(sandbox: Sandbox) {
    let zoo = by_cert_manager(sandbox).await;
    let [first, second] = [ca(), ca()];
    let injecting = injects(&zoo);
    let certificate = put(&zoo, &first).await;
    let replicas = zoo.replicas::<2>().await;
    rests(&zoo, &replicas.each_ref(), &first, &certificate).await;

    let promise = Promise::watch(&zoo, &replicas);
    let certificate = put(&zoo, &second).await;
    rests(&zoo, &replicas.each_ref(), &second, &certificate).await;
    let certificate = put(&zoo, &second).await;
    rests(&zoo, &replicas.each_ref(), &second, &certificate).await;
    promise.was_kept().await;
    injecting.abort();
}

async fn a_bundle_that_cert_manager_injects_is_made_again(sandbox: Sandbox) {
    let zoo = by_cert_manager(sandbox).await;
    let root = ca();
    let injecting = injects(&zoo);
    let certificate = put(&zoo, &root).await;
    let [replica] = zoo.replicas().await;
    rests(&zoo, &[&replica], &root, &certificate).await;
    zoo.delete("Secret", BUNDLE_SECRET).await;
    until("the bundle is there again", PATIENCE, async || {
        zoo.field(BUNDLE_SECRET, "ca.crt").await.is_some_and(|pem| pem == root.certificate_pem())
    })
    .await;
    injecting.abort();
}

async fn where_cert_manager_is_absent_a_replica_says_what_it_waits_for(sandbox: Sandbox) {
    let zoo = by_cert_manager(sandbox).await;
    let [replica] = zoo.replicas().await;
    let waits = format!(
        "waiting until cert-manager writes a usable certificate into Secret {}/{SERVING_SECRET}",
        zoo.namespace()
    );
    until("it says so", PATIENCE, async || replica.status().attention().join("\n").contains(&waits)).await;
    assert_eq!(replica.shown(), None);
}

async fn a_certificate_of_the_user_is_served_and_its_ca_written_to_crds_alone(sandbox: Sandbox) {
    let (root, other) = (ca(), ca());
    let ca_bundle = CaBundle::from(root.trust_anchor().clone());
    let zoo = Zoo::provided(sandbox, Provision::External { ca_bundle }).await;
    carry(&zoo, "Crd", &zoo.crd_name(), &base64(&other.certificate_pem()).into()).await;
    let certificate = put(&zoo, &root).await;
    let [replica] = zoo.replicas().await;
    for (kind, name) in zoo.carriers().into_iter().take(2) {
        carry(&zoo, kind, &name, &base64(&root.certificate_pem()).into()).await;
    }
    rests(&zoo, &[&replica], &root, &certificate).await;
    // A configuration that somebody else has changed is his.
    let (kind, name) = &zoo.carriers()[0];
    carry(&zoo, kind, name, &base64(&other.certificate_pem()).into()).await;
    let refused = "doesn't verify this replica's certificate";
    until("it is reported", PATIENCE, async || replica.status().attention().join("\n").contains(refused)).await;
}

async fn a_certificate_that_some_bundle_does_not_verify_is_held_back_and_reported(sandbox: Sandbox) {
    let (root, other) = (ca(), ca());
    let ca_bundle = CaBundle::from(root.trust_anchor().clone());
    let zoo = Zoo::provided(sandbox, Provision::External { ca_bundle }).await;
    for (kind, name) in zoo.carriers().into_iter().take(2) {
        carry(&zoo, kind, &name, &base64(&root.certificate_pem()).into()).await;
    }
    let certificate = put(&zoo, &root).await;
    let [replica] = zoo.replicas().await;
    rests(&zoo, &[&replica], &root, &certificate).await;
    put(&zoo, &other).await;
    for said in ["that some caBundle doesn't verify", "leads to none of the CAs that clients are to trust"] {
        until(said, PATIENCE, async || replica.status().attention().join("\n").contains(said)).await;
    }
    assert_eq!(replica.shown(), Some(certificate));
}

async fn a_conversion_of_another_service_is_taken_over_once_the_users_certificate_is_served(sandbox: Sandbox) {
    let root = ca();
    let ca_bundle = CaBundle::from(root.trust_anchor().clone());
    is_taken_over_once_served(sandbox, &root, Provision::External { ca_bundle }).await;
}

async fn a_conversion_of_another_service_is_taken_over_once_cert_managers_certificate_is_served(sandbox: Sandbox) {
    let root = ca();
    let ca_bundle = CaBundle::from(root.trust_anchor().clone());
    let provision = Provision::CertManager { injection: CaInjection::Certificate, ca_bundle };
    is_taken_over_once_served(sandbox, &root, provision).await;
}

/// The leader knows the CA from the start, and writes no stanza before its Pod shows a certificate of it.
async fn is_taken_over_once_served(sandbox: Sandbox, root: &Ca, provision: Provision) {
    let zoo = Zoo::provided(sandbox, provision).await;
    let badger = json!({"namespace": zoo.namespace(), "name": "badger", "path": "/v", "port": 443});
    zoo.edit("Crd", &zoo.crd_name(), "", |crd| {
        crd["metadata"]["annotations"] = json!({"gateward.dev/converted-by": format!("{}/{SERVICE}", zoo.namespace())});
        let mut second = crd["spec"]["versions"][0].clone();
        (second["name"], second["storage"]) = ("v2".into(), false.into());
        crd["spec"]["versions"].as_array_mut().unwrap().push(second);
        let bundle = base64(&ca().certificate_pem());
        crd["spec"]["conversion"]["webhook"]["clientConfig"] = json!({"service": badger, "caBundle": bundle});
    })
    .await;
    let config = async || zoo.read("Crd", &zoo.crd_name()).await.pointer(CONVERSION).unwrap().clone();
    let [replica] = zoo.replicas().await;
    until("the leader has decided", PATIENCE, async || replica.is_idle_leader()).await;
    assert_eq!(config().await["service"], badger, "no Pod can convert yet");

    let certificate = put(&zoo, root).await;
    until("the conversion is ours", PATIENCE, async || config().await["service"]["name"] == SERVICE).await;
    assert_eq!(replica.shown(), Some(certificate));
    assert_eq!(config().await["caBundle"], base64(&root.certificate_pem()));
}
