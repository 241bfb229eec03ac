//! The example `crontab` by a bundle of OLM v1: its objects are made at once, cert-manager makes the certificate, an
//! upgrade applies other objects over them, and all goes with the installation, the CRDs too.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::{Bed, Inventory, Pod, Sandbox, Test, shown_certificate, tests, until};
use olm_model::{Bundle, CsvIdentity, WebhookType, accounts, service, v1};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};

use crate::bundles;
use crate::command::{kubectl, kubectl_with};
use crate::crontab::{is_judged, keeps_its_promises, tab};

pub fn tests() -> Vec<Test> {
    tests![olm_v1_installs_a_bundle_and_cert_manager_renews_its_certificate]
}

const NAMESPACE: &str = "crontab-v1";
const SECRET: &str = "crontab-service-cert";

async fn olm_v1_installs_a_bundle_and_cert_manager_renews_its_certificate(sandbox: Sandbox) {
    let bed = sandbox.bed();
    bed.start_cert_manager().await.unwrap();
    let before = Inventory::of(bed).await.unwrap();
    kubectl(bed, &["create", "namespace", NAMESPACE]);
    let objects = objects(&bundles::crontab(bed, "1.0.1", &[]));
    kubectl_with(bed, &["apply", "--server-side"], &objects);
    kubectl(bed, &["rollout", "status", "deployment/crontab", "-n", NAMESPACE, "--timeout=150s"]);
    is_judged(&sandbox).await;
    keeps_its_promises(&sandbox).await;

    let old = certificate(bed).await;
    bed.cert_manager().renew(NAMESPACE, SECRET).await.unwrap();
    until("another certificate", Duration::from_mins(1), async || certificate(bed).await != old).await;
    let (new, pods) = (certificate(bed).await, bed.node().pods(NAMESPACE, ""));
    until("every Pod shows it", Duration::from_mins(1), async || show(&pods, &new).await).await;
    assert!(pods.iter().all(|pod| pod.restarts() == 0 && !pod.is_ending()), "no Pod rolls");
    is_judged(&sandbox).await;
    keeps_its_promises(&sandbox).await;

    let objects = upgraded(&sandbox, objects).await;
    assert_eq!((bed.node().pods(NAMESPACE, "").len(), certificate(bed).await), (3, new), "the certificate stays");

    kubectl_with(bed, &["delete"], &objects);
    kubectl(bed, &["delete", "namespace", NAMESPACE]);
    before.is_restored(bed).await;
}

/// The objects of the next bundle, which are applied over those of the one before: what it has no more is deleted. The
/// owner of a `caBundle` keeps it.
async fn upgraded(sandbox: &Sandbox, before: Vec<Value>) -> Vec<Value> {
    let bed = sandbox.bed();
    let stored = sandbox.accepts(&tab("otter")).await;
    let new = objects(&bundles::crontab(bed, "1.1.1", &["--replaces", "crontab.v1.0.1", "--replicas", "3"]));
    kubectl_with(bed, &["apply", "--server-side", "--force-conflicts"], &new);
    kubectl(bed, &["rollout", "status", "deployment/crontab", "-n", NAMESPACE, "--timeout=150s"]);
    let called = |object: &Value| (object["kind"].clone(), object["metadata"]["name"].clone());
    let is_kept = |old: &Value| new.iter().any(|new| called(new) == called(old));
    let gone: Vec<Value> = before.into_iter().filter(|old| !is_kept(old)).collect();
    assert!(!gone.is_empty(), "roles are called like the CSV");
    kubectl_with(bed, &["delete"], &gone);
    is_judged(sandbox).await;
    assert_eq!(sandbox.read(&stored, "v2").await["spec"], stored["spec"]);
    assert_eq!(sandbox.read(&stored, "v1").await["spec"]["cronSpec"], stored["spec"]["schedule"]);
    sandbox.delete(&stored).await;
    keeps_its_promises(sandbox).await;
    new
}

/// All that OLM makes of a bundle.
fn objects(bundle: &Bundle) -> Vec<Value> {
    let csv = CsvIdentity { name: bundle.csv.name.clone(), namespace: NAMESPACE.to_owned() };
    let webhooks = &bundle.csv.webhooks;
    let mut objects: Vec<Value> = bundle.crds.iter().map(|crd| stanza(crd, bundle, &csv)).collect();
    objects.extend(accounts(&bundle.csv, NAMESPACE));
    for object in &bundle.others {
        let mut object = object.clone();
        object["metadata"]["namespace"] = json!(NAMESPACE);
        objects.push(object);
    }
    for (name, spec) in &bundle.csv.deployments {
        objects.extend(v1::certificate(name, NAMESPACE));
        objects.push(service(name, spec, NAMESPACE, &bundle.csv.webhooks_of(name)));
        objects.push(v1::deployed(name, spec, &csv));
    }
    objects.extend(webhooks.iter().filter_map(|webhook| v1::named_configuration(webhook, &csv, &[])));
    objects
}

/// A CRD with its stanza, if its objects are converted.
fn stanza(crd: &Value, bundle: &Bundle, csv: &CsvIdentity) -> Value {
    let mut converting = bundle.csv.webhooks.iter().filter(|webhook| webhook.webhook_type == WebhookType::Conversion);
    let of = |name: &String| crd["metadata"]["name"] == **name;
    let webhook = converting.find(|webhook| webhook.conversion_crds.iter().any(of));
    webhook.map_or_else(|| crd.clone(), |webhook| v1::converted_by(crd, webhook, csv))
}

/// The certificate that cert-manager has written.
async fn certificate(bed: &Bed) -> CertificateDer<'static> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/secrets/{SECRET}");
    let secret = bed.client().get(&path).await.unwrap().granted().unwrap();
    let pem = STANDARD.decode(secret["data"]["tls.crt"].as_str().unwrap()).unwrap();
    CertificateDer::from_pem_slice(&pem).unwrap()
}

async fn show(pods: &[Pod], certificate: &CertificateDer<'_>) -> bool {
    for pod in pods {
        if !shown_certificate(pod.ip().unwrap()).await.is_ok_and(|shown| shown == *certificate) {
            return false;
        }
    }
    !pods.is_empty()
}
