//! Each verb of the roles is needed: without it, something that a replica does is forbidden.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod right;

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::objects::{component, object};
use cluster_tests::{
    Audit, CA_SECRET, Chart, NAMESPACE, RELEASE, Release, SERVING_SECRET, Sandbox, run_in_turn, tests, until,
};
use gateward_certs::{Ca, CaBundle, CommonName, ProvisionMode, ServerNames, SystemKeys, Validity};
use serde_json::{Value, json};

use crate::right::{Right, WholeRoles};

const BUNDLE_SECRET: &str = "webhook-server-cert-bundle";
/// How soon a replica misses what it may not do any more.
const SOON: Duration = Duration::from_secs(90);

fn main() -> ExitCode {
    let tests = tests![
        every_verb_of_the_roles_is_needed,
        every_verb_is_needed_with_a_certificate_of_the_user,
        every_verb_is_needed_with_cert_manager
    ];
    run_in_turn(tests, async |bed| {
        bed.start_node().await?;
        bed.start_cert_manager().await?;
        // So that rules look something up.
        bed.install_crds(&[topologies()]).await?;
        Release::new(&bed, RELEASE, NAMESPACE).install(Chart::Current, &json!({})).await
    })
}

/// A CRD that the rules of graphs know.
fn topologies() -> Value {
    let names = json!({"kind": "ClusterTopologyBinding", "plural": "clustertopologybindings"});
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let version = json!({"name": "v1alpha1", "served": true, "storage": true, "schema": schema});
    let spec = json!({"group": "grove.io", "names": names, "scope": "Cluster", "versions": [version]});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "clustertopologybindings.grove.io"},
        "spec": spec,
    })
}

async fn every_verb_of_the_roles_is_needed(sandbox: Sandbox) {
    each_is_needed(&sandbox, ProvisionMode::Automatic).await;
}

async fn every_verb_is_needed_with_a_certificate_of_the_user(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    leave_nothing(&release).await;
    let validity = Validity::starting(SystemTime::now(), Duration::from_hours(24)).unwrap();
    let ca = Ca::new(&CommonName::new("our PKI").unwrap(), validity, &SystemKeys).unwrap();
    let name = format!("{}-webhook-service.{NAMESPACE}.svc", release.fullname());
    let serving = ca.issue(&ServerNames::parse([name]).unwrap(), validity, &SystemKeys).unwrap();
    let data = json!({
        "tls.crt": STANDARD.encode(serving.certificate_pem()),
        "tls.key": STANDARD.encode(serving.private_key_pem()),
        "ca.crt": STANDARD.encode(ca.certificate_pem()),
    });
    let secret = json!({"metadata": {"name": SERVING_SECRET}, "type": "kubernetes.io/tls", "data": data});
    let secrets = format!("/api/v1/namespaces/{NAMESPACE}/secrets");
    sandbox.bed().client().post(&secrets, &secret).await.unwrap().granted().unwrap();
    let bundle = STANDARD.encode(ca.certificate_pem());
    let webhook = json!({"certificateSecret": {"external": true}, "caBundle": bundle});
    release.install(Chart::Current, &json!({"dynamo-operator": {"webhook": webhook}})).await.unwrap();
    each_is_needed(&sandbox, ProvisionMode::External).await;
}

async fn every_verb_is_needed_with_cert_manager(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    leave_nothing(&release).await;
    let webhook = json!({"certManager": {"enabled": true}});
    release.install(Chart::Current, &json!({"dynamo-operator": {"webhook": webhook}})).await.unwrap();
    each_is_needed(&sandbox, ProvisionMode::CertManager).await;
}

/// Uninstalls a release with the Secrets that it leaves.
async fn leave_nothing(release: &Release) {
    release.uninstall().await.unwrap();
    release.kubectl(&["delete", "secret", "--all"]).await.unwrap();
}

async fn each_is_needed(sandbox: &Sandbox, mode: ProvisionMode) {
    let release = Release::only(sandbox);
    let mut unneeded = Vec::new();
    let groups = Right::groups(Right::all(sandbox, &release).await);
    for rights in &groups {
        let audit = sandbox.bed().audit().unwrap();
        let roles = WholeRoles::without(rights, sandbox, &release.account()).await;
        // One start needs them all.
        let needing = if rights[0].is_used_at_start() { &rights[..1] } else { &rights[..] };
        for right in needing {
            provoke(sandbox, &release, right, mode).await;
        }
        for right in rights {
            match missed(&audit, &release, right).await {
                Some(event) => println!("{right}: {event}"),
                None => unneeded.push(right.to_string()),
            }
        }
        roles.put_back(sandbox).await;
        recovers(sandbox, &release, mode).await;
    }
    assert!(unneeded.is_empty(), "nothing has missed {unneeded:#?}");
    println!("each of {} verbs is needed", groups.iter().map(Vec::len).sum::<usize>());
}

/// Waits until a replica is forbidden what the right is for.
async fn missed(audit: &Audit, release: &Release, right: &Right) -> Option<String> {
    // What creates by an apply is a patch in the audit log.
    let applied = (right.verb.as_str(), right.resource.as_str()) == ("create", "customresourcedefinitions");
    let verb = if applied { "patch" } else { &right.verb };
    let account = release.account();
    let forbidden = audit
        .comes(&account, SOON, |event| event.code == 403 && event.verb == verb && event.resource == right.resource);
    forbidden.await.unwrap().map(|event| event.to_string())
}

/// Makes a replica need a right.
async fn provoke(sandbox: &Sandbox, release: &Release, right: &Right, mode: ProvisionMode) {
    let crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let [validating, mutating] = release.configurations();
    match (right.verb.as_str(), right.resource.as_str()) {
        // The user's Secret is not ours to make again.
        ("list", "pods") if mode == ProvisionMode::External => {
            empty(sandbox, &format!("{crd}/dynamographdeployments.nvidia.com")).await;
        }
        ("create", "secrets") | ("list", "pods") => release.delete_secret(kept(mode)).await.unwrap(),
        ("update", "secrets") if mode == ProvisionMode::CertManager => {
            let damaged = json!({"data": {"ca.crt": STANDARD.encode("otter")}});
            sandbox.bed().client().merge(&release.secret(BUNDLE_SECRET), &damaged).await.unwrap().granted().unwrap();
        }
        ("update", "secrets") => drop(release.gateward(&["certs", "rotate"]).await.unwrap()),
        ("create", "leases") => {
            let lease = format!("{}-webhook-writer", release.fullname());
            drop(release.kubectl(&["delete", "lease", &lease]).await.unwrap());
        }
        // Somebody renews the lease all the time, and the others look at it.
        ("get" | "update", "leases") => {}
        ("patch", "validatingwebhookconfigurations") => empty(sandbox, &validating).await,
        ("patch", "mutatingwebhookconfigurations") => empty(sandbox, &mutating).await,
        ("patch", "customresourcedefinitions") if mode == ProvisionMode::CertManager => {
            let none = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
            let path = format!("{crd}/dynamographdeployments.nvidia.com");
            sandbox.bed().client().merge(&path, &none).await.unwrap().granted().unwrap();
        }
        ("patch", "customresourcedefinitions") => {
            empty(sandbox, &format!("{crd}/dynamographdeployments.nvidia.com")).await;
        }
        ("create", "customresourcedefinitions") => {
            let path = format!("{crd}/dynamoworkermetadatas.nvidia.com");
            sandbox.bed().client().delete(&path).await.unwrap().granted().unwrap();
            replace_a_pod(sandbox).await;
        }
        ("create", "tokenreviews" | "subjectaccessreviews") => {
            let token = release.token_of("default").await.unwrap();
            for pod in sandbox.bed().node().pods(NAMESPACE, "") {
                drop(release.metrics(pod.ip().unwrap(), &token).await.unwrap());
            }
        }
        ("get", "clustertopologybindings") => {
            let constraint = json!({"clusterTopologyName": "fabric", "packDomain": "rack"});
            let spec = json!({"components": [component("a", "worker")], "topologyConstraint": constraint});
            drop(sandbox.create(&object("v1beta1", "DynamoGraphDeployment", "otter", &spec)).await);
        }
        // What is read and followed from the start.
        ("get" | "list" | "watch", _) => replace_a_pod(sandbox).await,
        _ => panic!("nobody knows when {right} is needed"),
    }
}

/// The Secret that the leader makes where it is gone.
fn kept(mode: ProvisionMode) -> &'static str {
    if mode == ProvisionMode::CertManager { BUNDLE_SECRET } else { SERVING_SECRET }
}

async fn replace_a_pod(sandbox: &Sandbox) {
    sandbox.bed().node().pods(NAMESPACE, "")[0].remove().await.unwrap();
}

/// Empties the bundles of an object.
async fn empty(sandbox: &Sandbox, path: &str) {
    let client = sandbox.bed().client();
    loop {
        let mut object = client.get(path).await.unwrap().granted().unwrap();
        for webhook in object["webhooks"].as_array_mut().into_iter().flatten() {
            webhook["clientConfig"].as_object_mut().unwrap().remove("caBundle");
        }
        if let Some(config) = object.pointer_mut("/spec/conversion/webhook/clientConfig") {
            config.as_object_mut().unwrap().remove("caBundle");
        }
        let answer = client.put(path, &object).await.unwrap();
        // Somebody else has written meanwhile.
        if answer.status.as_u16() != 409 {
            answer.granted().unwrap();
            return;
        }
    }
}

/// Waits until a release is whole again.
async fn recovers(sandbox: &Sandbox, release: &Release, mode: ProvisionMode) {
    release.rolled_out().await.unwrap();
    until("whole", Duration::from_mins(2), async || {
        if sandbox.bed().client().get(&release.secret(kept(mode))).await.unwrap().granted().is_err() {
            return false;
        }
        let Some(ca) = release.ca_crt().await.unwrap() else { return false };
        let is_settled = mode != ProvisionMode::Automatic
            || release.certificate(CA_SECRET).await.unwrap().is_some() && !release.is_rotating().await.unwrap();
        let bundles = release.bundles().await.unwrap();
        is_settled && bundles.iter().all(|bundle| is_trusted(&bundle.pem, &ca, mode))
    })
    .await;
}

/// Whether a bundle is the CA. A cainjector that merges leaves the CAs of releases before it beside the new one.
fn is_trusted(bundle: &str, ca: &str, mode: ProvisionMode) -> bool {
    if mode != ProvisionMode::CertManager {
        return bundle.trim() == ca.trim();
    }
    let ca = CaBundle::parse(ca.as_bytes()).unwrap();
    CaBundle::parse(bundle.as_bytes()).is_ok_and(|bundle| bundle.contains_all(&ca))
}
