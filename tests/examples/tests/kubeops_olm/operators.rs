//! The command line of the operators that cases run: `OPERATOR=conversion` chooses KubeOps' conversion example.

mod testapp;

use testapp::KubeOpsNames;

#[tokio::main]
async fn main() -> gateward::Exit {
    let webhooks = match std::env::var("OPERATOR").as_deref() {
        Ok("conversion") => kubeops_conversion::webhooks(),
        _ => testapp::webhooks(),
    };
    gateward::run(KubeOpsNames { webhooks }).await
}
