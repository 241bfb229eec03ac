//! A tenant that may write whatever is in its namespace claims nothing by that.

use cluster_tests::{Sandbox, Test, tests, until};
use serde_json::json;

use crate::PLATFORM;
use crate::table::{PATIENCE, PLATFORM_ALONE, Probe};

pub fn tests() -> Vec<Test> {
    tests![a_forged_lease_has_no_effect_and_is_reported]
}

const TENANT: &str = "tenant";

async fn a_forged_lease_has_no_effect_and_is_reported(sandbox: Sandbox) {
    let client = sandbox.bed().client();
    client.post("/api/v1/namespaces", &json!({"metadata": {"name": TENANT}})).await.unwrap().granted().unwrap();
    let probe = Probe::new(&sandbox, TENANT);
    probe.until("nothing was forged", &[PLATFORM_ALONE]).await;
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
        assert_eq!(probe.verdicts().await, PLATFORM_ALONE);
    }
    probe.until("both leases were forged", &[PLATFORM_ALONE]).await;
    client.delete(&format!("/api/v1/namespaces/{TENANT}")).await.unwrap().granted().unwrap();
}
