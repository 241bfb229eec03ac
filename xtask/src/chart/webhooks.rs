//! The webhook configurations, out of the webhooks.

use anyhow::Context;
use dynamo_webhooks::names;
use gateward_core::Review;
use gateward_core::manifest::{self, Installation, yaml};
use serde_json::Value;

use super::expressions::{
    CA_BUNDLE, FAILURE_POLICY, INJECTION, LABELS, MUTATING, NAMESPACE, NAMESPACE_SELECTOR, SERVICE, TIMEOUT_SECONDS,
    VALIDATING,
};

/// Both configurations.
pub fn configurations() -> anyhow::Result<String> {
    let both = [Review::Validate, Review::Mutate].map(configuration);
    both.into_iter().map(|text| text.map(|text| format!("---\n{text}"))).collect()
}

fn configuration(review: Review) -> anyhow::Result<String> {
    let webhooks = dynamo_webhooks::webhooks();
    let configuration = manifest::webhook_configuration(&webhooks, review, &installation());
    let mut configuration = serde_json::to_value(configuration.context("no kind has such a webhook")?)?;
    configuration["metadata"]["labels"] = LABELS.into();
    configuration["metadata"]["annotations"] = INJECTION.into();
    for webhook in configuration["webhooks"].as_array_mut().into_iter().flatten() {
        webhook["clientConfig"]["caBundle"] = CA_BUNDLE.into();
        webhook["failurePolicy"] = FAILURE_POLICY.into();
        webhook["timeoutSeconds"] = TIMEOUT_SECONDS.into();
    }
    Ok(yaml::document(&configuration))
}

fn installation() -> Installation {
    Installation {
        validating_name: VALIDATING.into(),
        mutating_name: MUTATING.into(),
        service: SERVICE.into(),
        namespace: NAMESPACE.into(),
        namespace_selector: Some(Value::from(NAMESPACE_SELECTOR)),
        ..names::installation("", "")
    }
}
