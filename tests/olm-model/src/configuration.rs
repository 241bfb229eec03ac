//! The webhook configuration of a description.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::csv::CsvIdentity;
use crate::description::{WebhookDescription, WebhookType};
use crate::hash::description_hash;
use crate::names::{ServiceNames, owner_labels};

/// The configuration of a validating or mutating description, with one webhook in it; `None` for a conversion. `ca` is
/// PEM; the API server makes the name.
pub fn configuration(
    webhook: &WebhookDescription,
    csv: &CsvIdentity,
    namespace_selector: Option<&Value>,
    ca: &str,
) -> Option<Value> {
    let kind = match webhook.webhook_type {
        WebhookType::Validating => "ValidatingWebhookConfiguration",
        WebhookType::Mutating => "MutatingWebhookConfiguration",
        WebhookType::Conversion => return None,
    };
    Some(json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {
            "generateName": format!("{}-", webhook.generate_name),
            "labels": labels(webhook, csv),
        },
        "webhooks": [entry(webhook, csv, namespace_selector, ca)],
    }))
}

fn labels(webhook: &WebhookDescription, csv: &CsvIdentity) -> Value {
    let mut labels = owner_labels(csv);
    labels["olm.webhook-description-generate-name"] = webhook.generate_name.clone().into();
    labels["olm.webhook-description-hash"] = description_hash(webhook).into();
    labels
}

fn entry(webhook: &WebhookDescription, csv: &CsvIdentity, namespace_selector: Option<&Value>, ca: &str) -> Value {
    let mut entry = Map::new();
    let mut set = |key: &str, value: Option<Value>| drop(value.map(|value| entry.insert(key.to_owned(), value)));
    set("name", Some(webhook.generate_name.clone().into()));
    set("clientConfig", Some(client_config(webhook, &csv.namespace, webhook.webhook_path.as_deref(), ca)));
    set("rules", webhook.rules.clone());
    set("failurePolicy", webhook.failure_policy.clone().map(Value::from));
    set("matchPolicy", webhook.match_policy.clone().map(Value::from));
    set("objectSelector", webhook.object_selector.clone());
    set("namespaceSelector", namespace_selector.cloned());
    set("sideEffects", webhook.side_effects.clone().map(Value::from));
    set("timeoutSeconds", webhook.timeout_seconds.map(Value::from));
    set("admissionReviewVersions", Some(webhook.admission_review_versions.clone().into()));
    let reinvocation = webhook.reinvocation_policy.clone().filter(|_| webhook.webhook_type == WebhookType::Mutating);
    set("reinvocationPolicy", reinvocation.map(Value::from));
    Value::Object(entry)
}

/// Where the API server calls, and whom it trusts there.
pub(crate) fn client_config(webhook: &WebhookDescription, namespace: &str, path: Option<&str>, ca: &str) -> Value {
    let service = ServiceNames::of(webhook.deployment_name.as_deref().unwrap_or_default()).called_service;
    let mut service = json!({"name": service, "namespace": namespace, "port": webhook.container_port});
    if let Some(path) = path {
        service["path"] = path.into();
    }
    json!({"service": service, "caBundle": STANDARD.encode(ca)})
}
