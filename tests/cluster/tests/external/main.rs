//! Certificates that users bring: installed, found wrong, renewed and changed with their CA under a load.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::{
    Bed, Chart, Load, NAMESPACE, RELEASE, Release, SERVING_SECRET, Sandbox, Shell, command_blocks,
    leaves_a_claimed_namespace_out, probe_page, run_in_turn, shown_by_all, tests, until, webhook_pods,
};
use gateward_certs::{Ca, CommonName, IssuedCertificate, ServerNames, SystemKeys, Validity};
use serde_json::{Value, json};

const SERVICE: &str = "dynamo-platform-dynamo-operator-webhook-service";
const PAGE: &str = include_str!("../../../../docs/cluster.md");
const DAY: Duration = Duration::from_hours(24);

fn main() -> ExitCode {
    let tests = tests![
        a_certificate_of_the_user_is_served_and_trusted,
        a_certificate_by_the_same_ca_replaces_the_one_before,
        a_certificate_that_cannot_be_verified_or_lacks_the_name_is_said_and_not_served,
        a_ca_is_changed_bundle_first,
        a_ca_is_changed_certificate_first,
        a_rotation_is_no_matter_of_ours,
        claimed_namespaces_are_left_out,
    ];
    run_in_turn(tests, async |bed| {
        bed.start_node().await?;
        bed.client().post("/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).await?.granted()?;
        install(&bed)?;
        let release = Release::new(&bed, RELEASE, NAMESPACE);
        release.rolled_out().await?;
        Ok(release)
    })
}

/// Installs the release by the guide's commands, as our page has them.
fn install(bed: &Arc<Bed>) -> anyhow::Result<()> {
    let (shell, ca) = (Shell::new(bed, "user")?, PKI.lock().unwrap().insert(Arc::new(ca())).clone());
    let certificate = issued(&ca, &name());
    let files = [
        ("tls.crt", certificate.certificate_pem()),
        ("tls.key", certificate.private_key_pem()),
        ("ca.crt", ca.certificate_pem()),
    ];
    for (name, text) in files {
        std::fs::write(shell.folder().join(name), text)?;
    }
    for block in command_blocks(PAGE, "### Of your own") {
        let output = shell.run(&format!("set -e\n{block}"));
        anyhow::ensure!(output.status.success(), "{block}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

fn name() -> String {
    format!("{SERVICE}.{NAMESPACE}.svc")
}

fn ca() -> Ca {
    let validity = Validity::starting(SystemTime::now(), 100 * DAY).unwrap();
    Ca::new(&CommonName::new("our PKI").unwrap(), validity, &SystemKeys).unwrap()
}

fn issued(ca: &Ca, name: &str) -> IssuedCertificate {
    let validity = Validity::starting(SystemTime::now(), 30 * DAY).unwrap();
    ca.issue(&ServerNames::parse([name]).unwrap(), validity, &SystemKeys).unwrap()
}

fn values(cas: &[&Ca]) -> Value {
    let bundle: String = cas.iter().map(|ca| ca.certificate_pem()).collect();
    let webhook = json!({"certificateSecret": {"external": true}, "caBundle": STANDARD.encode(bundle)});
    json!({"dynamo-operator": {"webhook": webhook}})
}

/// Writes the Secret.
async fn put(bed: &Arc<Bed>, ca: &Ca, certificate: &IssuedCertificate) -> anyhow::Result<()> {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/secrets/{SERVING_SECRET}");
    let data = json!({
        "tls.crt": STANDARD.encode(certificate.certificate_pem()),
        "tls.key": STANDARD.encode(certificate.private_key_pem()),
        "ca.crt": STANDARD.encode(ca.certificate_pem()),
    });
    bed.client().merge(&path, &json!({"data": data})).await?.granted()?;
    Ok(())
}

/// The user's CA: the one that signs, and that the release is to trust.
static PKI: Mutex<Option<Arc<Ca>>> = Mutex::new(None);

/// The release, with a certificate that the test before has not seen, and the CA that signed it.
async fn release(sandbox: &Sandbox) -> (Release, Arc<Bed>, Arc<Ca>) {
    let (release, bed, ca) = (Release::only(sandbox), sandbox.shared_bed(), pki());
    let certificate = issued(&ca, &name());
    put(&bed, &ca, &certificate).await.unwrap();
    served_by_all(sandbox, &certificate).await;
    (release, bed, ca)
}

fn pki() -> Arc<Ca> {
    PKI.lock().unwrap().clone().unwrap()
}

/// Waits until every pod shows a certificate; gives the time of the first.
async fn served_by_all(sandbox: &Sandbox, certificate: &IssuedCertificate) -> Duration {
    shown_by_all(sandbox, NAMESPACE, certificate.certificate()).await
}

/// Waits until a pod says something to who asks in detail.
async fn said(sandbox: &Sandbox, text: &str) {
    until(text, Duration::from_mins(2), async || {
        let mut all = true;
        for pod in webhook_pods(sandbox, NAMESPACE) {
            let (status, page) = probe_page(pod, "/readyz?verbose").await.unwrap_or_default();
            all &= status == 200 && page.contains(text);
        }
        all
    })
    .await;
}

async fn a_certificate_of_the_user_is_served_and_trusted(sandbox: Sandbox) {
    let (release, _, ca) = release(&sandbox).await;
    let bundles = release.bundles().await.unwrap();
    assert_eq!(bundles.len(), 11);
    assert!(bundles.iter().all(|bundle| bundle.pem.trim() == ca.certificate_pem().trim()), "{bundles:?}");
    let status = release.gateward(&["certs", "status"]).await.unwrap();
    assert!(status.starts_with("provider:   external\n") && !status.contains("attention"), "{status}");
    release.measures_expiry().await;
    release.measures("gateward_lease_unreadable", 0).await;
    Load::is_unharmed_by(&sandbox, async || {}).await;
}

async fn a_certificate_by_the_same_ca_replaces_the_one_before(sandbox: Sandbox) {
    let (release, bed, ca) = release(&sandbox).await;
    Load::is_unharmed_by(&sandbox, async || {
        let next = issued(&ca, &name());
        put(&bed, &ca, &next).await.unwrap();
        served_by_all(&sandbox, &next).await;
    })
    .await;
    release.measures_expiry().await;
}

async fn a_certificate_that_cannot_be_verified_or_lacks_the_name_is_said_and_not_served(sandbox: Sandbox) {
    let (_, bed, ca) = release(&sandbox).await;
    let stranger = crate::ca();
    Load::is_unharmed_by(&sandbox, async || {
        put(&bed, &stranger, &issued(&stranger, &name())).await.unwrap();
        said(&sandbox, "leads to none of the CAs that clients are to trust").await;
        put(&bed, &ca, &issued(&ca, "otter.zoo.svc")).await.unwrap();
        said(&sandbox, &format!("lacks the name {}, by which API servers call; it has otter.zoo.svc", name())).await;
        let (one, other) = (issued(&ca, &name()), issued(&ca, &name()));
        put(&bed, &ca, &one).await.unwrap();
        let path = format!("/api/v1/namespaces/{NAMESPACE}/secrets/{SERVING_SECRET}");
        let key = json!({"data": {"tls.key": STANDARD.encode(other.private_key_pem())}});
        bed.client().merge(&path, &key).await.unwrap().granted().unwrap();
        said(&sandbox, "tls.key belongs to no certificate of tls.crt").await;
    })
    .await;
}

async fn a_ca_is_changed_bundle_first(sandbox: Sandbox) {
    let (release, bed, old) = release(&sandbox).await;
    let new = ca();
    Load::is_unharmed_by(&sandbox, async || {
        release.upgrade(Chart::Current, &values(&[&old, &new])).await.unwrap();
        let certificate = issued(&new, &name());
        put(&bed, &new, &certificate).await.unwrap();
        served_by_all(&sandbox, &certificate).await;
        release.upgrade(Chart::Current, &values(&[&new])).await.unwrap();
    })
    .await;
    trusts_alone(&release, &new).await;
    *PKI.lock().unwrap() = Some(Arc::new(new));
}

async fn a_ca_is_changed_certificate_first(sandbox: Sandbox) {
    let (release, bed, old) = release(&sandbox).await;
    let new = ca();
    Load::is_unharmed_by(&sandbox, async || {
        let certificate = issued(&new, &name());
        put(&bed, &new, &certificate).await.unwrap();
        said(&sandbox, "until each does").await;
        release.upgrade(Chart::Current, &values(&[&old, &new])).await.unwrap();
        served_by_all(&sandbox, &certificate).await;
        release.upgrade(Chart::Current, &values(&[&new])).await.unwrap();
    })
    .await;
    trusts_alone(&release, &new).await;
    *PKI.lock().unwrap() = Some(Arc::new(new));
}

async fn trusts_alone(release: &Release, ca: &Ca) {
    until("every object trusts the new CA alone", Duration::from_mins(1), async || {
        release.is_trusted_alone(&ca.certificate_pem()).await
    })
    .await;
}

async fn a_rotation_is_no_matter_of_ours(sandbox: Sandbox) {
    let (release, ..) = release(&sandbox).await;
    let said = release.gateward(&["certs", "rotate"]).await.unwrap_err().to_string();
    assert!(said.contains("the user provides the certificate") && said.contains("then replace Secret"), "{said}");
}

async fn claimed_namespaces_are_left_out(sandbox: Sandbox) {
    let (release, _, ca) = release(&sandbox).await;
    leaves_a_claimed_namespace_out(&sandbox, &release, &values(&[&ca])).await;
}
