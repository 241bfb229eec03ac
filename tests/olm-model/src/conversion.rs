//! The stanza `spec.conversion` of CRDs.

use serde_json::{Value, json};

use crate::configuration::client_config;
use crate::description::WebhookDescription;

/// The CRD with the stanza of a conversion description: the one before is overwritten as a whole.
pub fn converted(crd: &Value, webhook: &WebhookDescription, namespace: &str, ca: &str) -> Value {
    let path = webhook.webhook_path.as_deref().unwrap_or("/");
    let mut crd = crd.clone();
    crd["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": client_config(webhook, namespace, Some(path), ca),
            "conversionReviewVersions": webhook.admission_review_versions,
        },
    });
    crd
}

/// The CRD after the CSV that converted its objects is gone.
pub fn reset(crd: &Value) -> Value {
    let mut crd = crd.clone();
    crd["spec"]["conversion"] = json!({"strategy": "None"});
    crd
}
