//! Webhook configurations, as the webhooks's declarations demand them.
//!
//! Follows <https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/validating-webhook-configuration-v1/>.
//! `caBundle` is never rendered: the owner of the certificates writes it, and a rendered one would conflict.

pub mod crd;
pub mod failure_policy;
pub mod selector;
pub mod yaml;

pub use failure_policy::FailurePolicy;
pub use selector::{Label, LabelSelector, label};

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::rule::resource::Scope;
use crate::webhooks::Webhooks;
use crate::webhooks::declaration::Declaration;
use crate::webhooks::endpoint::Endpoint;
use crate::webhooks::registration::{ReinvocationPolicy, not_in};
use crate::wire::operation::Operation;
use crate::wire::review::Review;

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
    admission_review_versions: Vec<&'static str>,
    client_config: ClientConfig,
    failure_policy: FailurePolicy,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    match_conditions: Vec<MatchCondition>,
    match_policy: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace_selector: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_selector: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reinvocation_policy: Option<&'static str>,
    rules: [RuleWithOperations; 1],
    side_effects: &'static str,
    timeout_seconds: u8,
}

#[derive(Debug, Clone, Serialize)]
struct MatchCondition {
    name: &'static str,
    expression: &'static str,
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
    resources: Vec<Cow<'static, str>>,
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
pub fn conversion(declared: &Declaration, installation: &Installation) -> Option<Conversion> {
    let client_config = ClientConfig { service: installation.service(declared.conversion_path()?) };
    let webhook = ConversionWebhook { client_config, conversion_review_versions: ["v1"] };
    Some(Conversion { strategy: "Webhook", webhook })
}

fn webhook(declared: &Declaration, review: Review, installation: &Installation) -> Option<Webhook> {
    let endpoint = declared.endpoint(review).filter(|_| !declared.operations(review).is_empty())?;
    let registration = &declared.registration;
    let conditions = registration.match_conditions.iter();
    let asked_again = review == Review::Mutate && registration.reinvocation == ReinvocationPolicy::IfNeeded;
    let timeout = registration.timeout.and_then(|timeout| u8::try_from(timeout.as_secs()).ok());
    Some(Webhook {
        name: declared.webhook_name(review)?,
        admission_review_versions: registration.review_versions.iter().map(|version| version.as_str()).collect(),
        client_config: ClientConfig { service: installation.service(declared.path(review)?) },
        failure_policy: registration.failure_policy.unwrap_or(installation.failure_policy),
        match_conditions: conditions.map(|&(name, expression)| MatchCondition { name, expression }).collect(),
        match_policy: endpoint.match_policy.as_str(),
        namespace_selector: namespace_selector(declared, installation),
        object_selector: both(installation.object_selector.as_ref(), registration.object_selector.clone()),
        reinvocation_policy: asked_again.then_some("IfNeeded"),
        rules: [rule(declared, review, endpoint)],
        side_effects: registration.side_effects.as_str(),
        timeout_seconds: timeout.unwrap_or(installation.timeout_seconds),
    })
}

fn namespace_selector(declared: &Declaration, installation: &Installation) -> Option<Value> {
    let bootstrap = declared.bootstrap_namespaces(&installation.namespace).map(not_in);
    let own = declared.registration.namespace_selector.clone().into_iter().chain(bootstrap).reduce(LabelSelector::and);
    both(installation.namespace_selector.as_ref(), own)
}

/// What the release says of all webhooks, and what a webhook says of itself.
fn both(of_release: Option<&Value>, own: Option<LabelSelector>) -> Option<Value> {
    let Some(mut selector) = of_release.cloned() else { return serde_json::to_value(own?).ok() };
    if let Some(members) = selector.as_object_mut() {
        let own = own.into_iter().flat_map(|own| own.match_expressions);
        let own = own.filter_map(|requirement| serde_json::to_value(requirement).ok()).collect::<Vec<Value>>();
        if !own.is_empty()
            && let Some(all) =
                members.entry("matchExpressions").or_insert_with(|| Value::Array(Vec::new())).as_array_mut()
        {
            all.extend(own);
        }
    }
    Some(selector)
}

fn rule(declared: &Declaration, review: Review, endpoint: &Endpoint) -> RuleWithOperations {
    RuleWithOperations {
        api_groups: [declared.resource_group().to_owned()],
        api_versions: declared.resource_versions(endpoint),
        operations: declared.operations(review),
        resources: declared.resources(review),
        scope: match declared.resource_scope() {
            Scope::Namespaced => "Namespaced",
            Scope::Cluster => "Cluster",
        },
    }
}

impl Installation {
    /// What a release has unless it says otherwise: names made of its own, port 443, and an API server that refuses what
    /// no server has answered within ten seconds.
    pub fn of_release(release: &str, namespace: &str) -> Self {
        Self {
            validating_name: format!("{release}-validating"),
            mutating_name: format!("{release}-mutating"),
            service: format!("{release}-webhook-service"),
            namespace: namespace.to_owned(),
            port: 443,
            failure_policy: FailurePolicy::Fail,
            timeout_seconds: 10,
            labels: BTreeMap::new(),
            namespace_selector: None,
            object_selector: None,
        }
    }

    fn service(&self, path: String) -> ServiceReference {
        ServiceReference { name: self.service.clone(), namespace: self.namespace.clone(), path, port: self.port }
    }
}
