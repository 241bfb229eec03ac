//! Installed, upgraded and uninstalled by Helm. Nobody runs pods here.

use base64::Engine;
use cluster_tests::{Bed, Sandbox, Test, tests};
use serde_json::json;

use crate::charts::{Installation, output};

pub fn tests() -> Vec<Test> {
    tests![the_notes_say_how_to_go_on_and_how_to_leave, a_release_keeps_its_bundles_and_leaves_nothing_behind]
}

async fn the_notes_say_how_to_go_on_and_how_to_leave(sandbox: Sandbox) {
    let namespace = sandbox.namespace();
    let said = Installation::of(&json!({})).named("otter", namespace).notes(sandbox.bed()).unwrap();
    let wanted = [
        format!("kubectl -n {namespace} rollout status deployment/otter-dynamo-operator\n"),
        format!("gateward uninstall --release otter -n {namespace}"),
        "Service otter-dynamo-operator-webhook-service".to_owned(),
        "otter-validating and otter-mutating".to_owned(),
    ];
    for text in wanted {
        assert!(said.contains(&text), "{text}: {said}");
    }
    // The command can't guess other names.
    let renamed = Installation::of(&json!({"fullnameOverride": "lynx"})).named("otter", namespace);
    let said = renamed.notes(sandbox.bed()).unwrap();
    assert!(
        said.contains("gateward uninstall --release otter -n the-notes")
            && said.contains(" --service lynx-webhook-service\n"),
        "{said}"
    );
}

/// What is there of a release, in the whole cluster.
async fn belongings(bed: &Bed, release: &str) -> Vec<String> {
    const LISTS: [&str; 7] = [
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
        "/apis/apps/v1/deployments",
        "/apis/policy/v1/poddisruptionbudgets",
        "/api/v1/services",
    ];
    let mut names = Vec::new();
    for list in LISTS {
        let path = format!("{list}?labelSelector=app.kubernetes.io%2Finstance%3D{release}");
        let items = bed.client().get(&path).await.unwrap().granted().unwrap()["items"].take();
        names.extend(items.as_array().unwrap().iter().map(|item| item["metadata"]["name"].to_string()));
    }
    names
}

async fn a_release_keeps_its_bundles_and_leaves_nothing_behind(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let installation = Installation::of(&json!({"fullnameOverride": "lynx"})).named("lynx", sandbox.namespace());
    output(installation.helm(bed, &["install"])).unwrap();
    assert_eq!(belongings(bed, "lynx").await.len(), 8);

    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/lynx-validating";
    write_bundles(bed, path).await;
    let upgraded = Installation::of(&json!({"fullnameOverride": "lynx", "webhook": {"timeoutSeconds": 3}}));
    output(upgraded.named("lynx", sandbox.namespace()).helm(bed, &["upgrade"])).unwrap();
    assert_eq!(bundles(bed, path).await, [(true, 3); 4]);

    let mut rollback = bed.helm();
    rollback.args(["rollback", "lynx", "1", "--namespace", sandbox.namespace()]);
    output(rollback).unwrap();
    assert_eq!(bundles(bed, path).await, [(true, 10); 4]);

    let mut uninstall = bed.helm();
    uninstall.args(["uninstall", "lynx", "--namespace", sandbox.namespace()]);
    output(uninstall).unwrap();
    assert_eq!(belongings(bed, "lynx").await, [""; 0]);
}

/// Writes the bundles of a configuration, as the operator does.
async fn write_bundles(bed: &Bed, path: &str) {
    let mut written = bed.client().get(path).await.unwrap().granted().unwrap();
    for webhook in written["webhooks"].as_array_mut().unwrap() {
        webhook["clientConfig"]["caBundle"] = bundle().into();
    }
    bed.client().put(&format!("{path}?fieldManager=gateward"), &written).await.unwrap().granted().unwrap();
}

/// Whether each webhook of a configuration has a bundle, and its time.
async fn bundles(bed: &Bed, path: &str) -> Vec<(bool, u64)> {
    let configuration = bed.client().get(path).await.unwrap().granted().unwrap();
    let webhooks = configuration["webhooks"].as_array().unwrap().iter();
    let seen = webhooks
        .map(|webhook| (webhook["clientConfig"]["caBundle"].is_string(), webhook["timeoutSeconds"].as_u64().unwrap()));
    seen.collect()
}

/// Some certificate: the API server looks whether it is one.
fn bundle() -> String {
    let issued = rcgen::generate_simple_self_signed(["otter".to_owned()]).unwrap();
    base64::engine::general_purpose::STANDARD.encode(issued.cert.pem())
}
