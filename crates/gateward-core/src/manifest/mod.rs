//! Webhook configurations, as the webhooks's declarations demand them.
//!
//! Follows <https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/validating-webhook-configuration-v1/>.
//! `caBundle` is never rendered: the owner of the certificates writes it, and a rendered one would conflict.

pub mod yaml;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::rule::resource::Scope;
use crate::webhooks::Webhooks;
use crate::webhooks::declaration::Declaration;
use crate::webhooks::endpoint::Endpoint;
use crate::wire::operation::Operation;
use crate::wire::review::Review;

/// What the API server does when a webhook doesn't answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub enum FailurePolicy {
    /// The request is refused.
    #[default]
    Fail,
    /// The request passes unjudged.
    Ignore,
}

/// What the configurations need that the declarations don't say.
#[derive(Debug, Clone)]
pub struct Installation {
    /// Name of the `ValidatingWebhookConfiguration`.
    pub validating_name: String,
    /// Name of the `MutatingWebhookConfiguration`.
    pub mutating_name: String,
    /// Name of the Service in front of the server.
    pub service: String,
    /// Namespace of the Service.
    pub namespace: String,
    /// The Service's port.
    pub port: u16,
    /// What happens when the server doesn't answer.
    pub failure_policy: FailurePolicy,
    /// How long the API server waits, in seconds, 1 to 30.
    pub timeout_seconds: u8,
    /// Labels of both configurations.
    pub labels: BTreeMap<String, String>,
    /// Which namespaces are concerned; everything where absent.
    pub namespace_selector: Option<Value>,
    /// Which objects are concerned; everything where absent.
    pub object_selector: Option<Value>,
}

/// A `ValidatingWebhookConfiguration` or a `MutatingWebhookConfiguration`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebhookConfiguration {
    api_version: &'static str,
    kind: &'static str,
    metadata: ObjectMeta,
    webhooks: Vec<Webhook>,
}

#[derive(Debug, Clone, Serialize)]
struct ObjectMeta {
    name: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct Webhook {
    name: String,
    admission_review_versions: [&'static str; 1],
    client_config: ClientConfig,
    failure_policy: FailurePolicy,
    match_policy: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace_selector: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_selector: Option<Value>,
    rules: [RuleWithOperations; 1],
    side_effects: &'static str,
    timeout_seconds: u8,
}

#[derive(Debug, Clone, Serialize)]
struct ClientConfig {
    service: ServiceReference,
}

#[derive(Debug, Clone, Serialize)]
struct ServiceReference {
    name: String,
    namespace: String,
    path: String,
    port: u16,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct RuleWithOperations {
    api_groups: [String; 1],
    api_versions: Vec<Cow<'static, str>>,
    operations: Vec<Operation>,
    resources: [Cow<'static, str>; 1],
    scope: &'static str,
}

/// The configuration of one sort of webhooks; `None` where no kind has one.
pub fn webhook_configuration(
    webhooks: &Webhooks,
    review: Review,
    installation: &Installation,
) -> Option<WebhookConfiguration> {
    let (kind, name) = match review {
        Review::Validate => ("ValidatingWebhookConfiguration", &installation.validating_name),
        Review::Mutate => ("MutatingWebhookConfiguration", &installation.mutating_name),
        Review::Convert => return None,
    };
    let webhooks: Vec<Webhook> =
        webhooks.declarations().filter_map(|declared| webhook(declared, review, installation)).collect();
    let metadata = ObjectMeta { name: name.clone(), labels: installation.labels.clone() };
    let api_version = "admissionregistration.k8s.io/v1";
    (!webhooks.is_empty()).then_some(WebhookConfiguration { api_version, kind, metadata, webhooks })
}

/// The stanza `spec.conversion` of a CRD whose objects a webhook converts.
#[derive(Debug, Clone, Serialize)]
pub struct Conversion {
    strategy: &'static str,
    webhook: ConversionWebhook,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
struct ConversionWebhook {
    client_config: ClientConfig,
    conversion_review_versions: [&'static str; 1],
}

/// What the CRD of a kind says of conversion; `None` for a kind whose objects are not converted.
pub fn conversion(webhooks: &Webhooks, declared: &Declaration, installation: &Installation) -> Option<Conversion> {
    let client_config = ClientConfig { service: installation.service(webhooks.conversion_path().to_owned()) };
    let webhook = ConversionWebhook { client_config, conversion_review_versions: ["v1"] };
    declared.converts().then_some(Conversion { strategy: "Webhook", webhook })
}

fn webhook(declared: &Declaration, review: Review, installation: &Installation) -> Option<Webhook> {
    let endpoint = declared.endpoint(review).filter(|_| !declared.operations(review).is_empty())?;
    let path = endpoint.rendered_path(review, &declared.hub);
    Some(Webhook {
        name: endpoint.rendered_name(review, &declared.hub),
        admission_review_versions: ["v1"],
        client_config: ClientConfig { service: installation.service(path) },
        failure_policy: installation.failure_policy,
        match_policy: endpoint.match_policy.as_str(),
        namespace_selector: installation.namespace_selector.clone(),
        object_selector: installation.object_selector.clone(),
        rules: [rule(declared, review, endpoint)],
        side_effects: "None",
        timeout_seconds: installation.timeout_seconds,
    })
}

fn rule(declared: &Declaration, review: Review, endpoint: &Endpoint) -> RuleWithOperations {
    RuleWithOperations {
        api_groups: [declared.hub.group.clone()],
        api_versions: endpoint.versions.clone().unwrap_or_else(|| declared.versions.clone()),
        operations: declared.operations(review),
        resources: [declared.plural.clone()],
        scope: match declared.scope {
            Scope::Namespaced => "Namespaced",
            Scope::Cluster => "Cluster",
        },
    }
}

impl Installation {
    fn service(&self, path: String) -> ServiceReference {
        ServiceReference { name: self.service.clone(), namespace: self.namespace.clone(), path, port: self.port }
    }
}
