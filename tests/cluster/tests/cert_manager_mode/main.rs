//! Certificates of cert-manager under a load: installed, renewed, and changed with their root.
//!
//! Each test prints how long it took from a new certificate in the Secret to the first handshake with it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::objects::model;
use cluster_tests::{
    Chart, Load, NAMESPACE, Release, SERVING_SECRET, Sandbox, leaves_a_claimed_namespace_out, run_in_turn,
    shown_by_all, tests, until,
};
use gateward_certs::{Ca, CaBundle, CommonName, SystemKeys, TEN_YEARS, Validity};
use serde_json::{Value, json};

const SERVING: &str = "dynamo-platform-dynamo-operator-serving-cert";
const ROOT: &str = "dynamo-platform-dynamo-operator-root-ca";
const BUNDLE_SECRET: &str = "webhook-server-cert-bundle";
/// What the guide calls it.
const GUIDES_ISSUER: &str = "selfsigned-issuer";
/// A CA that the user has for the whole cluster: the `ClusterIssuer`, and its Secret in the namespace of cert-manager.
const PKI: &str = "our-pki";
/// Longer than cert-manager and its cainjector take on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(2);

fn main() -> ExitCode {
    let tests = tests![
        the_issuer_of_the_guide_certifies_an_installation,
        the_issuer_of_the_chart_takes_over,
        everything_trusts_the_root_of_the_chart,
        a_certificate_is_renewed,
        a_root_is_renewed_with_its_key,
        a_root_with_another_key_takes_over,
        the_bundle_is_deleted,
        cert_manager_rests_while_the_pods_are_replaced,
        a_rotation_is_a_matter_of_cert_manager,
        claimed_namespaces_are_left_out,
        a_cluster_issuer_of_the_users_takes_over,
        what_a_plain_annotation_costs_at_a_new_root_is_measured,
    ];
    run_in_turn(tests, async |bed| {
        bed.start_cert_manager().await?;
        bed.client().post("/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).await?.granted()?;
        bed.client().post(&issuers(), &guides_issuer()).await?.granted()?;
        Release::installed(bed, &values_of_the_guide()).await
    })
}

/// The issuer that the guide has as its example.
fn guides_issuer() -> Value {
    json!({
        "apiVersion": "cert-manager.io/v1", "kind": "Issuer",
        "metadata": {"name": GUIDES_ISSUER, "namespace": NAMESPACE}, "spec": {"selfSigned": {}},
    })
}

fn values_of_the_guide() -> Value {
    let mut values = values("secret");
    let issuer = json!({"kind": "Issuer", "name": GUIDES_ISSUER});
    values["dynamo-operator"]["webhook"]["certManager"]["issuerRef"] = issuer;
    values
}

fn issuers() -> String {
    format!("/apis/cert-manager.io/v1/namespaces/{NAMESPACE}/issuers")
}

fn values(inject_from: &str) -> Value {
    json!({"dynamo-operator": {"webhook": {"certManager": {"enabled": true, "injectFrom": inject_from}}}})
}

/// `ca.crt` of a Secret.
async fn ca_crt(release: &Release, secret: &str) -> CaBundle {
    let secret = release.kubectl(&["get", "secret", secret, "-o", "jsonpath={.data.ca\\.crt}"]).await.unwrap();
    CaBundle::from_base64(&secret).unwrap()
}

/// Has something done, and waits until every pod shows another certificate, which is that of the Secret.
async fn renewed(sandbox: &Sandbox, renew: impl AsyncFnOnce()) {
    let release = Release::only(sandbox);
    let before = release.certificate(SERVING_SECRET).await.unwrap().unwrap();
    renew().await;
    let now = release.another_certificate(SERVING_SECRET, &before, PATIENCE).await;
    let chain = CaBundle::parse(now.as_bytes()).unwrap();
    shown_by_all(sandbox, NAMESPACE, chain.iter().next().unwrap().certificate()).await;
}

/// Waits until every target trusts the root of the serving Secret. A cainjector that merges leaves the one before beside it.
async fn rests(sandbox: &Sandbox) {
    let release = Release::only(sandbox);
    let time = until("everything trusts the root", PATIENCE, async || {
        let root = ca_crt(&release, SERVING_SECRET).await;
        let bundles = release.bundles().await.unwrap();
        assert_eq!(bundles.len(), 11);
        bundles.iter().all(|bundle| CaBundle::parse_lossy(bundle.pem.as_bytes()).0.contains_all(&root))
    })
    .await;
    println!("everything trusts the root after {time:.1?}");
}

/// Its certificate signed itself: it is the CA to trust, and another one after each renewal.
async fn the_issuer_of_the_guide_certifies_an_installation(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    let certifies_itself = async || {
        rests(&sandbox).await;
        let certificate = release.certificate(SERVING_SECRET).await.unwrap().unwrap();
        assert_eq!(ca_crt(&release, SERVING_SECRET).await, CaBundle::parse(certificate.as_bytes()).unwrap());
    };
    certifies_itself().await;
    let issuers = release.kubectl(&["get", "issuers", "-o", "name"]).await.unwrap();
    assert_eq!(issuers, format!("issuer.cert-manager.io/{GUIDES_ISSUER}\n"), "the chart makes none");
    sandbox.accepts(&model("otter", "hf://zoo/otter")).await;
    sandbox.rejects(&model("stoat", "ftp://example.org"), &["spec.source.uri"]).await;
    Load::is_unharmed_by(&sandbox, async || {
        renewed(&sandbox, async || sandbox.bed().cert_manager().renew(NAMESPACE, SERVING).await.unwrap()).await;
        certifies_itself().await;
    })
    .await;
}

async fn the_issuer_of_the_chart_takes_over(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    Load::is_unharmed_by(&sandbox, async || {
        renewed(&sandbox, async || release.upgrade(Chart::Current, &values("secret")).await.unwrap()).await;
        rests(&sandbox).await;
    })
    .await;
    until("nothing but its root is injected", PATIENCE, async || {
        ca_crt(&release, BUNDLE_SECRET).await == ca_crt(&release, SERVING_SECRET).await
    })
    .await;
    let issuer = format!("{}/{GUIDES_ISSUER}", issuers());
    sandbox.bed().client().delete(&issuer).await.unwrap().granted().unwrap();
}

async fn everything_trusts_the_root_of_the_chart(sandbox: Sandbox) {
    rests(&sandbox).await;
    let release = Release::only(&sandbox);
    assert_eq!(ca_crt(&release, BUNDLE_SECRET).await, ca_crt(&release, SERVING_SECRET).await);
    let status = release.gateward(&["certs", "status"]).await.unwrap();
    assert!(status.starts_with("provider:   cert-manager\n") && !status.contains("attention"), "{status}");
    release.measures_expiry().await;
    release.measures("gateward_lease_unreadable", 0).await;
    Load::is_unharmed_by(&sandbox, async || {}).await;
}

async fn a_certificate_is_renewed(sandbox: Sandbox) {
    Load::is_unharmed_by(&sandbox, async || {
        renewed(&sandbox, async || sandbox.bed().cert_manager().renew(NAMESPACE, SERVING).await.unwrap()).await;
    })
    .await;
    rests(&sandbox).await;
    Release::only(&sandbox).measures_expiry().await;
}

async fn a_root_is_renewed_with_its_key(sandbox: Sandbox) {
    let (release, bed) = (Release::only(&sandbox), sandbox.bed());
    let before = ca_crt(&release, SERVING_SECRET).await;
    Load::is_unharmed_by(&sandbox, async || {
        renew_root(&sandbox).await;
        renewed(&sandbox, async || bed.cert_manager().renew(NAMESPACE, SERVING).await.unwrap()).await;
        rests(&sandbox).await;
    })
    .await;
    assert_ne!(ca_crt(&release, SERVING_SECRET).await, before);
}

async fn renew_root(sandbox: &Sandbox) {
    let release = Release::only(sandbox);
    let secret = format!("{ROOT}-secret");
    let before = release.certificate(&secret).await.unwrap().unwrap();
    sandbox.bed().cert_manager().renew(NAMESPACE, ROOT).await.unwrap();
    release.another_certificate(&secret, &before, PATIENCE).await;
}

/// Has cert-manager make a root with another key, and a certificate of it.
async fn change_root(sandbox: &Sandbox) {
    let release = Release::only(sandbox);
    let secret = format!("{ROOT}-secret");
    let before = release.certificate(&secret).await.unwrap().unwrap();
    release.delete_secret(&secret).await.unwrap();
    release.another_certificate(&secret, &before, PATIENCE).await;
    sandbox.bed().cert_manager().renew(NAMESPACE, SERVING).await.unwrap();
}

async fn a_root_with_another_key_takes_over(sandbox: Sandbox) {
    Load::is_unharmed_by(&sandbox, async || {
        renewed(&sandbox, async || change_root(&sandbox).await).await;
        rests(&sandbox).await;
    })
    .await;
}

async fn the_bundle_is_deleted(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    Load::is_unharmed_by(&sandbox, async || {
        release.delete_secret(BUNDLE_SECRET).await.unwrap();
        until("the bundle is there again", PATIENCE, async || {
            release.kubectl(&["get", "secret", BUNDLE_SECRET]).await.is_ok()
        })
        .await;
        rests(&sandbox).await;
    })
    .await;
}

async fn cert_manager_rests_while_the_pods_are_replaced(sandbox: Sandbox) {
    sandbox.bed().cert_manager().stop();
    let tally = Load::during(&sandbox, async |_| Release::only(&sandbox).restart().await.unwrap()).await;
    sandbox.bed().cert_manager().start().unwrap();
    tally.assert_no_failures();
}

async fn a_rotation_is_a_matter_of_cert_manager(sandbox: Sandbox) {
    let said = Release::only(&sandbox).gateward(&["certs", "rotate"]).await.unwrap_err().to_string();
    assert!(said.contains(&format!("`cmctl renew -n {NAMESPACE} {SERVING}`")), "{said}");
}

async fn claimed_namespaces_are_left_out(sandbox: Sandbox) {
    leaves_a_claimed_namespace_out(&sandbox, &Release::only(&sandbox), &values("secret")).await;
}

/// The chart makes no issuer then, and the certificate is one of the CA that the user names.
async fn a_cluster_issuer_of_the_users_takes_over(sandbox: Sandbox) {
    let root = make_pki(&sandbox).await;
    let release = Release::only(&sandbox);
    let mut values = values("secret");
    values["dynamo-operator"]["webhook"]["certManager"]["issuerRef"] = json!({"kind": "ClusterIssuer", "name": PKI});
    Load::is_unharmed_by(&sandbox, async || {
        renewed(&sandbox, async || release.upgrade(Chart::Current, &values).await.unwrap()).await;
        rests(&sandbox).await;
    })
    .await;
    assert_eq!(ca_crt(&release, SERVING_SECRET).await, root);
    let issuers = release.kubectl(&["get", "issuers", "-o", "name"]).await.unwrap();
    assert_eq!(issuers, "", "the chart makes none");
    sandbox.accepts(&model("otter", "hf://zoo/otter")).await;
}

/// Makes a `ClusterIssuer` of a CA, and gives that CA.
async fn make_pki(sandbox: &Sandbox) -> CaBundle {
    let validity = Validity::starting(SystemTime::now(), TEN_YEARS).unwrap();
    let ca = Ca::new(&CommonName::new(PKI).unwrap(), validity, &SystemKeys).unwrap();
    let data = json!({
        "tls.crt": STANDARD.encode(ca.certificate_pem()), "tls.key": STANDARD.encode(ca.private_key_pem()),
    });
    let secret = json!({"metadata": {"name": PKI}, "type": "kubernetes.io/tls", "data": data});
    let issuer = json!({
        "apiVersion": "cert-manager.io/v1", "kind": "ClusterIssuer", "metadata": {"name": PKI},
        "spec": {"ca": {"secretName": PKI}},
    });
    for (path, object) in
        [("/api/v1/namespaces/cert-manager/secrets", secret), ("/apis/cert-manager.io/v1/clusterissuers", issuer)]
    {
        sandbox.bed().client().post(path, &object).await.unwrap().granted().unwrap();
    }
    CaBundle::parse(ca.certificate_pem().as_bytes()).unwrap()
}

/// What the documentation says of it; how much it costs is printed.
async fn what_a_plain_annotation_costs_at_a_new_root_is_measured(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    // The chart's own root comes back.
    renewed(&sandbox, async || release.upgrade(Chart::Current, &values("certificate")).await.unwrap()).await;
    release.settled().await.unwrap();
    rests(&sandbox).await;
    let tally = Load::during(&sandbox, async |_| {
        renewed(&sandbox, async || change_root(&sandbox).await).await;
        rests(&sandbox).await;
    })
    .await;
    println!("injectFrom: certificate: {} of {} requests were refused", tally.failures.len(), tally.answered());
    assert!(tally.failed_open.number == 0 && tally.astray.number == 0, "{tally}");
    let sent = || tally.failures.iter().map(|failure| failure.sent);
    let outage = sent().max().unwrap_or_default().saturating_sub(sent().min().unwrap_or_default());
    println!("injectFrom: certificate: refused for {outage:.1?}");
}
