//! The operator of KubeOps' conversion example.

#[tokio::main]
async fn main() -> gateward::Exit {
    gateward::run(gateward::names!().of(kubeops_conversion::webhooks())).await
}
