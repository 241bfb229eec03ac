//! What an installation consists of.

use cluster_tests::{CA_SECRET, NAMESPACE, Release, SERVING_SECRET, Sandbox, Test, tests};

pub fn tests() -> Vec<Test> {
    tests![two_replicas_are_ready, every_webhook_and_every_conversion_trusts_one_ca, no_pod_mounts_a_secret,]
}

async fn two_replicas_are_ready(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    let pods = sandbox.bed().node().pods(NAMESPACE, "app.kubernetes.io/name=dynamo-operator");
    assert_eq!(pods.len(), 2);
    assert!(pods.iter().all(|pod| pod.is_ready() && pod.restarts() == 0), "{}", pods[0].log());
    let status =
        release.kubectl(&["get", "deployment", &release.fullname(), "-o", "jsonpath={.status}"]).await.unwrap();
    let status: serde_json::Value = serde_json::from_str(&status).unwrap();
    assert_eq!(status["readyReplicas"], 2, "{status}");
}

async fn every_webhook_and_every_conversion_trusts_one_ca(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    let ca = release.certificate(CA_SECRET).await.unwrap().unwrap();
    let bundles = release.bundles().await.unwrap();
    assert_eq!(bundles.len(), 11, "{bundles:?}");
    for bundle in bundles {
        assert_eq!(bundle.pem.trim(), ca.trim(), "{} {}", bundle.object, bundle.place);
    }
}

async fn no_pod_mounts_a_secret(sandbox: Sandbox) {
    for pod in Release::only(&sandbox).pods().await.unwrap() {
        let volumes = pod["spec"]["volumes"].to_string();
        assert!(!volumes.contains("\"secret\"") && !volumes.contains(SERVING_SECRET), "{volumes}");
    }
}
