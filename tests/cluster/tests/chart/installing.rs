//! Installed, upgraded and uninstalled by Helm. Nobody runs pods here.

use cluster_tests::{Bed, Sandbox, Test, tests};
use serde_json::{Value, json};

use crate::charts::{Installation, bundle, output, the};

pub fn tests() -> Vec<Test> {
    tests![
        the_notes_say_how_to_go_on_and_how_to_leave,
        what_is_said_of_a_release_of_one_namespace_is_that_it_is_deprecated,
        a_release_keeps_its_bundles_and_leaves_nothing_behind,
        the_init_step_installs_the_crds_with_the_rights_of_the_pods,
    ]
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
    let renamed = Installation::of(&json!({"fullnameOverride": "badger"})).named("otter", namespace);
    let said = renamed.notes(sandbox.bed()).unwrap();
    assert!(
        said.contains("gateward uninstall --release otter -n the-notes")
            && said.contains(" --service badger-webhook-service\n"),
        "{said}"
    );
}

async fn what_is_said_of_a_release_of_one_namespace_is_that_it_is_deprecated(sandbox: Sandbox) {
    let namespace = sandbox.namespace();
    let said = |values: Value| Installation::of(&values).named("otter", namespace).notes(sandbox.bed()).unwrap();
    let restricted = |policy: &str| {
        said(json!({
            "namespaceRestriction": {"enabled": true, "namespace": namespace}, "webhook": {"failurePolicy": policy},
        }))
    };
    let both_judge = format!("the operator of the whole cluster goes on judging {namespace} too");
    let usual = restricted("Fail");
    assert!(usual.contains(&format!("DEPRECATED: this operator serves the namespace {namespace} alone.")), "{usual}");
    // It converts nothing that would have to be readable without it.
    assert!(!usual.contains("gateward uninstall") && !usual.contains(&both_judge), "{usual}");
    let lenient = restricted("Ignore");
    assert!(lenient.contains("DEPRECATED") && lenient.contains(&both_judge), "{lenient}");
    assert!(!said(json!({})).contains("DEPRECATED"));
}

/// What is there of a release, in the whole cluster.
async fn belongings(bed: &Bed, release: &str) -> Vec<String> {
    const LISTS: [&str; 9] = [
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
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
    assert_eq!(belongings(bed, "lynx").await.len(), 10);

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

async fn the_init_step_installs_the_crds_with_the_rights_of_the_pods(sandbox: Sandbox) {
    let (bed, namespace) = (sandbox.bed(), sandbox.namespace());
    let installation = Installation::of(&json!({})).named("stork", namespace);
    output(installation.helm(bed, &["install"])).unwrap();
    let objects = installation.objects(bed);
    let pod = &the(&objects, "Deployment")["spec"]["template"]["spec"];

    let mut token = bed.kubectl();
    token.args(["create", "token", pod["serviceAccountName"].as_str().unwrap(), "--namespace", namespace]);
    let token = output(token).unwrap();
    let mut view = bed.kubectl();
    view.args(["config", "view", "--raw", "--output", "json"]);
    let mut config: Value = serde_json::from_str(&output(view).unwrap()).unwrap();
    config["users"][0]["user"] = json!({"token": token.trim()});
    let file = bed.folder().join("stork.kubeconfig");
    std::fs::write(&file, config.to_string()).unwrap();

    let step = &pod["initContainers"][0];
    assert_eq!(step["command"], json!(["gateward"]));
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dynamographdeployments.nvidia.com";
    // The second time as the second replica does, when the first one has made a CA.
    for round in 0..2 {
        if round == 1 {
            let crd = bed.client().get(path).await.unwrap().granted().unwrap();
            assert_ne!(crd.pointer("/spec/conversion/webhook/clientConfig/service/namespace"), Some(&json!(namespace)));
            let secret = json!({"metadata": {"name": "webhook-server-cert-ca"}, "data": {"tls.crt": bundle()}});
            let secrets = format!("/api/v1/namespaces/{namespace}/secrets");
            bed.client().post(&secrets, &secret).await.unwrap().granted().unwrap();
        }
        let mut apply = bed.programs().gateward();
        apply.args(step["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap()));
        apply.env("KUBECONFIG", &file);
        output(apply).unwrap();
    }
    let crd = bed.client().get(path).await.unwrap().granted().unwrap();
    let service = &crd["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
    assert_eq!(service["name"], "stork-dynamo-operator-webhook-service");
    assert_eq!(service["namespace"], namespace);
    assert!(crd["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"].is_string());
}
