//! The operator of KubeOps' admission example.

#[tokio::main]
async fn main() -> gateward::Exit {
    gateward::run(gateward::names!().of(kubeops_admission::webhooks())).await
}
