//! The operator of OLM's `WebhookTest`.

#[tokio::main]
async fn main() -> gateward::Exit {
    gateward::run(gateward::names!().of(olm_webhooktest::webhooks())).await
}
