//! The operator of OLM's `WebhookTest`.

#[tokio::main]
async fn main() -> gateward::Exit {
    gateward::run(olm_webhooktest::webhooks()).await
}
