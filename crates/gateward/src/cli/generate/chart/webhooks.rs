//! The webhook configurations, as `generate webhooks` has them.

use anyhow::Context as _;
use gateward_certs::ProvisionMode;
use gateward_core::Review;
use gateward_core::manifest::{self, FailurePolicy, Installation};
use serde_json::{Map, Value, json};

use super::source::ChartSource;
use super::template::{action, placed, template};
use crate::operator::Operator;

/// The configurations that there are.
pub(super) fn configurations<P: Operator>(operator: &P, chart: &ChartSource) -> anyhow::Result<String> {
    let mut texts = Vec::new();
    for review in [Review::Validate, Review::Mutate] {
        let usual = rendered(operator, review, chart, |_| ())?;
        let other = rendered(operator, review, chart, |installation| {
            installation.timeout_seconds = if installation.timeout_seconds == 1 { 2 } else { 1 };
            installation.failure_policy = match installation.failure_policy {
                FailurePolicy::Fail => FailurePolicy::Ignore,
                FailurePolicy::Ignore => FailurePolicy::Fail,
            };
        })?;
        if let (Some(usual), Some(other)) = (usual, other) {
            texts.push(template(&configuration(usual, &other, chart)));
        }
    }
    Ok(texts.join("---\n"))
}

fn rendered<P: Operator>(
    operator: &P,
    review: Review,
    chart: &ChartSource,
    change: impl FnOnce(&mut Installation),
) -> anyhow::Result<Option<Value>> {
    let mut installation = operator.installation(&chart.release);
    change(&mut installation);
    let configuration = manifest::webhook_configuration(operator.webhooks(), review, &installation);
    configuration.map(serde_json::to_value).transpose().context("a webhook configuration")
}

/// What differs in `other` is the installation's, and not said by a webhook itself.
fn configuration(mut usual: Value, other: &Value, chart: &ChartSource) -> Value {
    if chart.offers(ProvisionMode::CertManager) {
        let secret = placed(&format!("{}/{}", chart.release.namespace, chart.config.names.bundle_secret));
        usual["metadata"]["annotations"] = action(&format!(
            "{{{{- if eq .Values.certificates.mode \"cert-manager\" }}}}{{cert-manager.io/inject-ca-from-secret: {secret:?}}}"
        ));
    }
    let others = other["webhooks"].as_array().cloned().unwrap_or_default();
    for (webhook, other) in usual["webhooks"].as_array_mut().into_iter().flatten().zip(others) {
        if webhook["failurePolicy"] != other["failurePolicy"] {
            webhook["failurePolicy"] = action("{{ .Values.webhook.failurePolicy }}");
        }
        if webhook["timeoutSeconds"] != other["timeoutSeconds"] {
            webhook["timeoutSeconds"] = action("{{ .Values.webhook.timeoutSeconds }}");
        }
        if chart.offers(ProvisionMode::External) {
            webhook["clientConfig"]["caBundle"] = action(
                "{{- if eq .Values.certificates.mode \"external\" }}{{ .Values.certificates.caBundle | quote }}",
            );
        }
        for member in ["namespaceSelector", "objectSelector"] {
            webhook[member] = selector(webhook.get(member), member);
        }
    }
    usual
}

/// What the values select, and what the webhook itself selects.
fn selector(own: Option<&Value>, member: &str) -> Value {
    let Some(own) = own.and_then(Value::as_object) else {
        return action(&format!("{{{{- with .Values.webhook.{member} }}}}"));
    };
    let mut expressions = own.get("matchExpressions").and_then(Value::as_array).cloned().unwrap_or_default();
    for (label, value) in own.get("matchLabels").and_then(Value::as_object).unwrap_or(&Map::new()) {
        expressions.push(json!({"key": label, "operator": "In", "values": [value]}));
    }
    expressions.push(action(&format!("{{{{- with (.Values.webhook.{member}).matchExpressions }}}}")));
    let labels = action(&format!("{{{{- with (.Values.webhook.{member}).matchLabels }}}}"));
    json!({"matchExpressions": expressions, "matchLabels": labels})
}
