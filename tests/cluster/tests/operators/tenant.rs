//! A tenant that may write whatever is in its namespace claims nothing by that.

use std::time::Instant;

use cluster_tests::{Sandbox, Test, tests, until};
use serde_json::json;

use crate::PLATFORM;
use crate::table::{PATIENCE, PLATFORM_ALONE, Probe};

pub fn tests() -> Vec<Test> {
    tests![a_forged_lease_has_no_effect_and_is_reported, a_lease_that_changes_all_the_time_does_not_fill_the_log]
}

const TENANT: &str = "tenant";

async fn a_forged_lease_has_no_effect_and_is_reported(sandbox: Sandbox) {
    let client = sandbox.bed().client();
    client.post("/api/v1/namespaces", &json!({"metadata": {"name": TENANT}})).await.unwrap().granted().unwrap();
    let probe = Probe::new(&sandbox, TENANT);
    probe.until("nothing was forged", PLATFORM_ALONE).await;
    for name in ["dynamo-operator-ns-lock", "dynamo-operator-namespace-scope"] {
        let spec = json!({
            "holderIdentity": "team-a-operator/1", "leaseDurationSeconds": 2_000_000_000,
            "renewTime": "2999-01-01T00:00:00.000000Z",
        });
        let lease = json!({"metadata": {"name": name}, "spec": spec});
        let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{TENANT}/leases");
        client.post(&leases, &lease).await.unwrap().granted().unwrap();
    }
    let reported = async || {
        let pods = sandbox.bed().node().pods(PLATFORM.1, "app.kubernetes.io/component=webhook");
        pods.iter().all(|pod| pod.log().contains("namespace tenant: a Lease of team-a-operator/1"))
    };
    until("the forged lease is reported", PATIENCE, reported).await;
    for _ in 0..20 {
        assert_eq!(probe.verdicts().await, [PLATFORM_ALONE; 2]);
    }
    probe.until("both leases were forged", PLATFORM_ALONE).await;
    client.delete(&format!("/api/v1/namespaces/{TENANT}")).await.unwrap().granted().unwrap();
}

/// How often its holder changes.
const CHANGES: usize = 300;

async fn a_lease_that_changes_all_the_time_does_not_fill_the_log(sandbox: Sandbox) {
    const NAMESPACE: &str = "restless";
    let client = sandbox.bed().client();
    client.post("/api/v1/namespaces", &json!({"metadata": {"name": NAMESPACE}})).await.unwrap().granted().unwrap();
    let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases");
    let held_by = |holder: usize| {
        let renewed = "2027-01-15T08:00:00.000000Z";
        json!({"holderIdentity": format!("holder-{holder}"), "leaseDurationSeconds": 30, "renewTime": renewed})
    };
    let lease = json!({"metadata": {"name": "dynamo-operator-ns-lock"}, "spec": held_by(0)});
    client.post(&leases, &lease).await.unwrap().granted().unwrap();
    let start = Instant::now();
    for holder in 1..=CHANGES {
        let change = json!({"spec": held_by(holder)});
        client.merge(&format!("{leases}/dynamo-operator-ns-lock"), &change).await.unwrap().granted().unwrap();
    }
    let pods = sandbox.bed().node().pods(PLATFORM.1, "app.kubernetes.io/component=webhook");
    let last = format!("a Lease of holder-{CHANGES} ");
    until("the last holder is reported", PATIENCE, async || pods.iter().all(|pod| pod.log().contains(&last))).await;
    let seconds = usize::try_from(start.elapsed().as_secs()).unwrap();
    for pod in &pods {
        let reported = pod.log().lines().filter(|line| line.contains("namespace restless: ")).count();
        assert!(reported <= seconds + 3, "{reported} lines of {CHANGES} changes in {seconds} s");
    }
    client.delete(&format!("/api/v1/namespaces/{NAMESPACE}")).await.unwrap().granted().unwrap();
}
