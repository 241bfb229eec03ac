//! Installed and uninstalled by Helm. Nobody runs pods here.

use base64::Engine;
use cluster_tests::{Bed, Sandbox, Test, tests};
use serde_json::{Value, json};

use crate::charts::{Installation, helm, output};

pub fn tests() -> Vec<Test> {
    tests![the_notes_say_how_to_go_on_and_how_to_leave, uninstalling_leaves_no_configuration_behind]
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

async fn uninstalling_leaves_no_configuration_behind(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let installation = Installation::of(&json!({"fullnameOverride": "lynx"})).named("lynx", sandbox.namespace());
    output(installation.helm(bed, &["install"])).unwrap();
    assert_eq!(belongings(bed, "lynx").await.len(), 8);

    // As the operator does, and after that Helm has to upgrade and roll back all the same.
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/lynx-validating";
    let mut written = bed.client().get(path).await.unwrap().granted().unwrap();
    let webhooks: &mut Vec<Value> = written["webhooks"].as_array_mut().unwrap();
    for webhook in webhooks {
        webhook["clientConfig"]["caBundle"] = bundle().into();
    }
    bed.client().put(&format!("{path}?fieldManager=gateward"), &written).await.unwrap().granted().unwrap();
    let upgraded = Installation::of(&json!({"fullnameOverride": "lynx", "webhook": {"timeoutSeconds": 3}}));
    output(upgraded.named("lynx", sandbox.namespace()).helm(bed, &["upgrade"])).unwrap();
    let mut rollback = helm(bed);
    rollback.args(["rollback", "lynx", "1", "--namespace", sandbox.namespace()]);
    output(rollback).unwrap();

    let mut uninstall = helm(bed);
    uninstall.args(["uninstall", "lynx", "--namespace", sandbox.namespace()]);
    output(uninstall).unwrap();
    assert_eq!(belongings(bed, "lynx").await, [""; 0]);
}

/// Some certificate: the API server looks whether it is one.
fn bundle() -> String {
    let issued = rcgen::generate_simple_self_signed(["otter".to_owned()]).unwrap();
    base64::engine::general_purpose::STANDARD.encode(issued.cert.pem())
}
