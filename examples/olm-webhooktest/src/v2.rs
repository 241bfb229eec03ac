//! The served version: both fields stand under `spec.conversion`.

use gateward::prelude::*;
use serde::{Deserialize, Serialize};

/// A test of webhooks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WebhookTest {
    /// What the webhooks look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<WebhookTestSpec>,
}

/// What the webhooks look at, one level down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct WebhookTestSpec {
    /// The fields that v1 has in the spec itself.
    #[serde(default)]
    pub conversion: Conversion,
}

/// The fields that v1 has in the spec itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Conversion {
    /// Whether the validator admits the object.
    #[serde(default)]
    pub valid: bool,
    /// Whether the mutator has seen the object; a written `false` is not the same as nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutate: Option<bool>,
}

resource!(WebhookTest, "webhook.operators.coreos.io/v2", "WebhookTest", "webhooktests");
