//! The command line: `serve`, `check`, `convert`, `generate` and the others.

#[tokio::main]
async fn main() -> gateward::Exit {
    gateward::run(gateward::names!().of(crontab::webhooks())).await
}
