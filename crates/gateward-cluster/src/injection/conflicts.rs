//! Conflicting webhook configurations: a second operator that validates or defaults the same kinds contradicts ours,
//! and people look for the fault in the wrong one.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;

use super::object::{ClientConfig, InjectableKind, InjectableObject};
use crate::config::{InjectionRules, ServiceName};
use crate::permissions::ResourceName;

/// A webhook of another configuration for a kind of ours.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConflictingWebhook {
    /// The configuration, as kind and name.
    pub configuration: String,
    /// The entry in it.
    pub entry: String,
    /// The endpoint.
    pub called: WebhookEndpoint,
}

/// A configuration that is not ours by its name and has webhooks for kinds of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OtherConfiguration {
    /// Those webhooks.
    pub(crate) conflicts: Vec<ConflictingWebhook>,
    /// Its labels.
    pub(crate) labels: BTreeMap<String, String>,
    /// The name and the namespace of the Helm release that it belongs to.
    pub(crate) release: Option<(String, String)>,
    /// The namespaces of which its webhooks may stand behind a claim.
    pub(crate) claims: Vec<String>,
}

/// What a webhook calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum WebhookEndpoint {
    /// A Service.
    Service(ServiceName),
    /// A URL.
    Url(String),
}

impl WebhookEndpoint {
    /// The Service, if it is one.
    pub(crate) const fn service(&self) -> Option<&ServiceName> {
        match self {
            Self::Service(service) => Some(service),
            Self::Url(_) => None,
        }
    }
}

impl InjectionRules {
    /// The webhooks for kinds of ours in a configuration that is not ours by its name.
    pub(super) fn conflicts(&self, kind: InjectableKind, object: &InjectableObject) -> Vec<ConflictingWebhook> {
        if self.names(kind).contains(&object.name()) {
            return Vec::new();
        }
        let conflicts =
            object.webhooks.iter().filter(|webhook| webhook.rules.iter().any(|rule| concerns(rule, &self.kinds)));
        conflicts
            .map(|webhook| ConflictingWebhook {
                configuration: format!("{kind} {}", object.name()),
                entry: webhook.name.clone(),
                called: called(&webhook.client_config),
            })
            .collect()
    }

    /// A configuration that is not ours by its name and has webhooks for kinds of ours.
    pub(super) fn other(&self, kind: InjectableKind, object: &InjectableObject) -> Option<OtherConfiguration> {
        let conflicts = Some(self.conflicts(kind, object)).filter(|conflicts| !conflicts.is_empty())?;
        let claims = self.claiming(kind, object).into_iter().flat_map(|webhook| webhook.namespaces).collect();
        let labels = object.metadata.labels.clone().unwrap_or_default();
        Some(OtherConfiguration { conflicts, labels, release: release(object), claims })
    }
}

impl OtherConfiguration {
    /// Whether a Helm release has installed it.
    pub(crate) fn belongs_to(&self, name: &str, namespace: &str) -> bool {
        self.release.as_ref().is_some_and(|release| (release.0.as_str(), release.1.as_str()) == (name, namespace))
    }

    /// Whether it has a label with this value.
    pub(crate) fn is_labelled(&self, name: &str, value: &str) -> bool {
        self.labels.get(name).is_some_and(|label| label == value)
    }

    /// Whether it has a label of this name.
    pub(crate) fn has_label(&self, name: &str) -> bool {
        self.labels.contains_key(name)
    }

    /// The namespaces of which its webhooks may stand behind a claim.
    pub(crate) fn claimed(&self) -> impl Iterator<Item = &str> {
        self.claims.iter().map(String::as_str)
    }
}

/// The Helm release that an object belongs to: Helm itself refuses to take over one of another.
fn release(object: &InjectableObject) -> Option<(String, String)> {
    let annotations = object.metadata.annotations.as_ref()?;
    let annotation = |name| annotations.get(name).cloned();
    annotation("meta.helm.sh/release-name").zip(annotation("meta.helm.sh/release-namespace"))
}

/// Whether a rule was written for a kind of ours: it names the group. Policy engines that look at every object of the
/// cluster are no second operator.
fn concerns(rule: &RuleWithOperations, kinds: &[ResourceName]) -> bool {
    let writes = has(rule.operations.as_deref(), &["CREATE", "UPDATE", "*"]);
    writes
        && kinds.iter().any(|kind| {
            has(rule.api_groups.as_deref(), &[&kind.group])
                && has(rule.resources.as_deref(), &[&kind.plural, "*", "*/*"])
        })
}

fn has(list: Option<&[String]>, spec: &[&str]) -> bool {
    list.unwrap_or_default().iter().any(|item| spec.contains(&item.as_str()))
}

fn called(client: &ClientConfig) -> WebhookEndpoint {
    match &client.service {
        Some(service) => WebhookEndpoint::Service(service.clone()),
        None => WebhookEndpoint::Url(client.url.clone().unwrap_or_default()),
    }
}

impl fmt::Display for ConflictingWebhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { configuration, entry, called } = self;
        write!(f, "{configuration} also judges or defaults our kinds: its webhook {entry} calls {called}; remove one")
    }
}

impl fmt::Display for WebhookEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(service) => write!(f, "the Service {service}"),
            Self::Url(url) => f.write_str(url),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rules() -> InjectionRules {
        let kinds = vec![ResourceName { group: "zoo.org".into(), plural: "otters".into() }];
        InjectionRules { kinds, ..InjectionRules::of_zoo() }
    }

    fn found_in(kind: InjectableKind, name: &str, rule: &Value, client: &Value) -> Vec<ConflictingWebhook> {
        let entry = json!({"name": "otters.kb.io", "clientConfig": client, "rules": [rule]});
        let object = json!({"metadata": {"name": name}, "webhooks": [entry]});
        rules().conflicts(kind, &serde_json::from_value(object).unwrap())
    }

    fn rule(group: &str, resource: &str, operation: &str) -> Value {
        json!({"apiGroups": [group], "apiVersions": ["*"], "operations": [operation], "resources": [resource]})
    }

    fn found(rule: &Value) -> Vec<ConflictingWebhook> {
        let client = json!({"service": {"name": "judge", "namespace": "elsewhere"}});
        found_in(InjectableKind::Validating, "other-validating", rule, &client)
    }

    #[test]
    fn a_conflict_is_named_with_its_endpoint() {
        let conflicts = found(&rule("zoo.org", "otters", "UPDATE"));
        assert_eq!(
            conflicts.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["ValidatingWebhookConfiguration other-validating also judges or defaults our kinds: its webhook \
                 otters.kb.io calls the Service elsewhere/judge; remove one"]
        );
    }

    #[test]
    fn a_configuration_of_others_names_its_helm_release_and_what_it_may_claim() {
        let annotations = json!({"meta.helm.sh/release-name": "river", "meta.helm.sh/release-namespace": "lake"});
        let by_name = json!({"matchLabels": {"kubernetes.io/metadata.name": "team-a"}});
        let client = json!({"service": {"name": "judge", "namespace": "elsewhere"}});
        let rules_of = |group| json!([rule(group, "otters", "CREATE")]);
        let webhook = |group| json!({"name": "a", "clientConfig": client, "namespaceSelector": by_name, "rules": rules_of(group)});
        let other = |group| {
            let metadata = json!({"name": "b", "annotations": annotations, "labels": {"zoo.org/keeper": "lake"}});
            let object = json!({"metadata": metadata, "webhooks": [webhook(group)]});
            rules().other(InjectableKind::Validating, &serde_json::from_value(object).unwrap())
        };
        let found = other("zoo.org").unwrap();
        assert!(found.belongs_to("river", "lake") && !found.belongs_to("river", "zoo"));
        assert!(found.is_labelled("zoo.org/keeper", "lake") && !found.is_labelled("zoo.org/keeper", "zoo"));
        assert_eq!(found.claimed().collect::<Vec<_>>(), ["team-a"]);
        assert_eq!(found.conflicts.len(), 1);
        assert_eq!(other("apps"), None);
    }

    #[test]
    fn a_webhook_that_names_our_group_is_a_conflict_whatever_the_star() {
        assert_eq!(found(&rule("zoo.org", "*", "*")).len(), 1);
        assert_eq!(found(&rule("zoo.org", "*/*", "CREATE")).len(), 1);
    }

    #[test]
    fn other_webhooks_are_no_conflicts() {
        for other in [
            rule("zoo.org", "herons", "CREATE"),
            rule("zoo.org", "otters/status", "UPDATE"),
            rule("zoo.org", "otters", "DELETE"),
            rule("apps", "otters", "CREATE"),
            rule("*", "*", "*"),
        ] {
            assert_eq!(found(&other), [], "{other}");
        }
    }

    #[test]
    fn a_name_of_ours_is_ours_for_one_kind_only() {
        let (rule, client) = (rule("zoo.org", "otters", "CREATE"), json!({"url": "https://judge"}));
        let named_like_ours = |kind| found_in(kind, "zoo-validating", &rule, &client);
        assert_eq!(named_like_ours(InjectableKind::Validating), []);
        let text = "MutatingWebhookConfiguration zoo-validating also judges or defaults our kinds: its webhook \
                    otters.kb.io calls https://judge; remove one";
        assert_eq!(named_like_ours(InjectableKind::Mutating)[0].to_string(), text);
    }
}
