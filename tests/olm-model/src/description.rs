//! An entry of `spec.webhookdefinitions`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a webhook does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebhookType {
    /// It validates.
    #[serde(rename = "ValidatingAdmissionWebhook")]
    Validating,
    /// It defaults.
    #[serde(rename = "MutatingAdmissionWebhook")]
    Mutating,
    /// It converts.
    #[serde(rename = "ConversionWebhook")]
    Conversion,
}

/// An entry of `spec.webhookdefinitions`. Members that OLM's schema doesn't have are pruned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookDescription {
    /// The webhook's name, and the prefix of its configuration's.
    pub generate_name: String,
    /// What it does.
    #[serde(rename = "type")]
    pub webhook_type: WebhookType,
    /// The Deployment that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment_name: Option<String>,
    /// The port of the Service.
    #[serde(default = "usual_port")]
    pub container_port: i32,
    /// The port of the Pods; that of the Service, unless set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_port: Option<Value>,
    /// Which requests are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<Value>,
    /// What becomes of requests that aren't answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_policy: Option<String>,
    /// Whether requests of equivalent versions are sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_policy: Option<String>,
    /// Which objects are concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object_selector: Option<Value>,
    /// What else a review changes.
    #[serde(default)]
    pub side_effects: Option<String>,
    /// How long the API server waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
    /// The versions of reviews.
    #[serde(default)]
    pub admission_review_versions: Vec<String>,
    /// Whether a mutating webhook is called again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reinvocation_policy: Option<String>,
    /// The path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook_path: Option<String>,
    /// The CRDs whose objects are converted.
    #[serde(rename = "conversionCRDs", default, skip_serializing_if = "Vec::is_empty")]
    pub conversion_crds: Vec<String>,
}

fn usual_port() -> i32 {
    443
}

impl WebhookDescription {
    /// The port of the Pods.
    pub fn target(&self) -> Value {
        self.target_port.clone().unwrap_or_else(|| self.container_port.into())
    }
}
