//! Who Pods are to the API server, and how it reaches them with its news.

use std::time::{Duration, Instant};

use cluster_tests::{Sandbox, Test, tests};
use serde_json::json;

use crate::workloads::{pod, ready, runs, wrote};

pub fn tests() -> Vec<Test> {
    tests![a_pod_may_do_what_its_service_account_may, what_watches_tell_a_pod_can_be_late]
}

/// A `ServiceAccount` that may read `ConfigMaps` and nothing else.
async fn make_keeper(sandbox: &Sandbox) {
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "keeper"}});
    sandbox.accepts(&account).await;
    let rule = json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]});
    let group = "rbac.authorization.k8s.io";
    let version = format!("{group}/v1");
    sandbox
        .accepts(&json!({"apiVersion": version, "kind": "Role", "metadata": {"name": "reader"}, "rules": [rule]}))
        .await;
    let subject = json!({"kind": "ServiceAccount", "name": "keeper", "namespace": sandbox.namespace()});
    let binding = json!({
        "apiVersion": version,
        "kind": "RoleBinding",
        "metadata": {"name": "reader"},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": "reader"},
        "subjects": [subject],
    });
    sandbox.accepts(&binding).await;
}

async fn a_pod_may_do_what_its_service_account_may(sandbox: Sandbox) {
    make_keeper(&sandbox).await;
    let mut spec = runs("kubectl get configmaps -o name; kubectl get secrets; exec sleep infinity");
    spec["serviceAccountName"] = "keeper".into();
    let pod = ready(&sandbox, &pod("otter", &spec)).await;
    wrote(&pod, "configmap/kube-root-ca.crt\n").await;
    let user = format!("User \"system:serviceaccount:{}:keeper\" cannot list resource", sandbox.namespace());
    wrote(&pod, &user).await;
}

async fn what_watches_tell_a_pod_can_be_late(sandbox: Sandbox) {
    make_keeper(&sandbox).await;
    let mut spec = runs("exec kubectl get configmaps --watch -o name");
    spec["serviceAccountName"] = "keeper".into();
    let pod = ready(&sandbox, &pod("otter", &spec)).await;
    wrote(&pod, "kube-root-ca.crt").await;
    let news = async |name: &str| {
        let begun = Instant::now();
        sandbox.accepts(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})).await;
        wrote(&pod, name).await;
        begun.elapsed()
    };
    news("at-once").await;
    pod.delay_watches(Duration::from_millis(1500));
    assert!(news("later").await >= Duration::from_millis(1500));
    pod.delay_watches(Duration::ZERO);
    news("at-once-again").await;
}
