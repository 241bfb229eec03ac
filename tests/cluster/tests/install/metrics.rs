//! Metrics, for those who may read them.

use std::net::Ipv4Addr;
use std::time::Duration;

use cluster_tests::{NAMESPACE, Release, Sandbox, Test, tests, until};
use serde_json::json;

pub fn tests() -> Vec<Test> {
    tests![metrics_are_for_those_who_may_read_them]
}

async fn metrics_are_for_those_who_may_read_them(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    let pods = sandbox.bed().node().pods(NAMESPACE, "app.kubernetes.io/name=dynamo-operator");
    let pod: Ipv4Addr = pods[0].ip().unwrap();
    assert_eq!(release.metrics(pod, "nonsense").await.unwrap().status.as_u16(), 401);

    release.kubectl(&["create", "serviceaccount", "reader"]).await.unwrap();
    let token = release.token_of("reader").await.unwrap();
    assert_eq!(release.metrics(pod, &token).await.unwrap().status.as_u16(), 403);

    let rules = json!([{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]);
    let role = json!({"metadata": {"name": "reader"}, "rules": rules});
    let rbac = "/apis/rbac.authorization.k8s.io/v1";
    let client = sandbox.bed().client();
    client.post(&format!("{rbac}/clusterroles"), &role).await.unwrap().granted().unwrap();
    let reader = format!("--serviceaccount={NAMESPACE}:other-reader");
    release.kubectl(&["create", "clusterrolebinding", "reader", "--clusterrole=reader", &reader]).await.unwrap();
    release.kubectl(&["create", "serviceaccount", "other-reader"]).await.unwrap();
    let token = release.token_of("other-reader").await.unwrap();
    let mut answer = release.metrics(pod, &token).await.unwrap();
    // The API server learns of a binding a moment later than we do; a refusal is remembered for ten seconds.
    until("the reader may read", Duration::from_mins(1), async || {
        answer = release.metrics(pod, &token).await.unwrap();
        answer.status.as_u16() == 200
    })
    .await;
    let text = answer.body.as_str().unwrap();
    assert!(text.contains("gateward_leader"), "{text}");
    // What was counted depends on the reviews that each replica got; when its certificates end doesn't.
    release.measures_expiry().await;
    release.measures("gateward_lease_unreadable", 0).await;
}
