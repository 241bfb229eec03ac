//! Deployments, and how they change.

use cluster_tests::{Sandbox, Test, tests};

use crate::objects::{deployment, gateward, ready_pods, until};

pub fn tests() -> Vec<Test> {
    tests![a_deployment_of_the_webhooks_becomes_available]
}

async fn a_deployment_of_the_webhooks_becomes_available(sandbox: Sandbox) {
    let otter = sandbox.accepts(&deployment("otter", 2, &gateward())).await;
    ready_pods(&sandbox, "otter", 2).await;
    until("available", async || sandbox.read(&otter, "v1").await["status"]["availableReplicas"] == 2).await;
}
