//! The operator of KubeOps' admission example.

#[tokio::main]
async fn main() -> gateward::Exit {
    gateward::run(kubeops_admission::webhooks()).await
}
