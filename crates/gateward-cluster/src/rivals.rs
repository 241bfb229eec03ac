//! A second set of webhooks for the same kinds: two operators that both default and judge an object contradict each
//! other sooner or later, and people look for the fault in the wrong one.

use std::fmt;
use std::time::Duration;

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, RuleWithOperations, ValidatingWebhookConfiguration, WebhookClientConfig,
};
use kube::Api;
use kube::api::ListParams;

use crate::connection::Connection;
use crate::failure::within;
use crate::permissions::ResourceName;
use crate::setup::ServiceName;

/// How long each of the two lists may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is ours.
#[derive(Debug, Clone)]
pub struct Ours {
    /// The name of our `ValidatingWebhookConfiguration`.
    pub validating: String,
    /// The name of our `MutatingWebhookConfiguration`.
    pub mutating: String,
    /// The kinds that our webhooks judge.
    pub kinds: Vec<ResourceName>,
}

/// A webhook of somebody else for a kind of ours.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rival {
    /// The configuration, as kind and name.
    pub configuration: String,
    /// The entry in it.
    pub entry: String,
    /// Who is called.
    pub called: Called,
}

/// Whom a webhook calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Called {
    /// A Service.
    Service(ServiceName),
    /// A URL.
    Url(String),
}

/// All rivals that there are at the moment, or the reason why they can't be found.
pub async fn find(connection: &Connection, ours: &Ours) -> Result<Vec<Rival>, String> {
    let (all, client) = (ListParams::default(), connection.client());
    let (validating, mutating) = (Api::all(client.clone()), Api::all(client));
    let validating = within(PATIENCE, validating.list(&all)).await.map_err(|why| why.told())?;
    let mutating = within(PATIENCE, mutating.list(&all)).await.map_err(|why| why.told())?;
    let mut rivals = among_validating(&validating.items, ours);
    rivals.extend(among_mutating(&mutating.items, ours));
    Ok(rivals)
}

/// The rivals among all `ValidatingWebhookConfiguration`s.
pub fn among_validating<'a>(
    all: impl IntoIterator<Item = &'a ValidatingWebhookConfiguration>,
    ours: &Ours,
) -> Vec<Rival> {
    let theirs = all.into_iter().filter(|configuration| configuration.metadata.name.as_ref() != Some(&ours.validating));
    let entries = theirs.flat_map(|configuration| {
        let entries = configuration.webhooks.iter().flatten();
        entries.map(|entry| Entry {
            configuration: named("ValidatingWebhookConfiguration", configuration.metadata.name.as_deref()),
            name: &entry.name,
            rules: entry.rules.as_deref().unwrap_or_default(),
            client: &entry.client_config,
        })
    });
    rivals(entries, ours)
}

/// The rivals among all `MutatingWebhookConfiguration`s.
pub fn among_mutating<'a>(all: impl IntoIterator<Item = &'a MutatingWebhookConfiguration>, ours: &Ours) -> Vec<Rival> {
    let theirs = all.into_iter().filter(|configuration| configuration.metadata.name.as_ref() != Some(&ours.mutating));
    let entries = theirs.flat_map(|configuration| {
        let entries = configuration.webhooks.iter().flatten();
        entries.map(|entry| Entry {
            configuration: named("MutatingWebhookConfiguration", configuration.metadata.name.as_deref()),
            name: &entry.name,
            rules: entry.rules.as_deref().unwrap_or_default(),
            client: &entry.client_config,
        })
    });
    rivals(entries, ours)
}

struct Entry<'a> {
    configuration: String,
    name: &'a str,
    rules: &'a [RuleWithOperations],
    client: &'a WebhookClientConfig,
}

fn rivals<'a>(entries: impl Iterator<Item = Entry<'a>>, ours: &Ours) -> Vec<Rival> {
    let rivals = entries.filter(|entry| entry.rules.iter().any(|rule| concerns(rule, &ours.kinds)));
    rivals
        .map(|entry| Rival {
            configuration: entry.configuration,
            entry: entry.name.to_owned(),
            called: called(entry.client),
        })
        .collect()
}

fn named(kind: &str, name: Option<&str>) -> String {
    format!("{kind} {}", name.unwrap_or_default())
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

fn has(list: Option<&[String]>, wanted: &[&str]) -> bool {
    list.unwrap_or_default().iter().any(|item| wanted.contains(&item.as_str()))
}

fn called(client: &WebhookClientConfig) -> Called {
    match (&client.service, &client.url) {
        (Some(service), _) => {
            Called::Service(ServiceName { namespace: service.namespace.clone(), name: service.name.clone() })
        }
        (None, url) => Called::Url(url.clone().unwrap_or_default()),
    }
}

impl fmt::Display for Rival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { configuration, entry, called } = self;
        write!(f, "{configuration} also judges or defaults our kinds: its webhook {entry} calls {called}; remove one")
    }
}

impl fmt::Display for Called {
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

    fn ours() -> Ours {
        let kinds = vec![ResourceName { group: "zoo.org".into(), plural: "otters".into() }];
        Ours { validating: "zoo-validating".into(), mutating: "zoo-mutating".into(), kinds }
    }

    fn configuration(name: &str, rule: &Value) -> ValidatingWebhookConfiguration {
        let service = json!({"name": "judge", "namespace": "elsewhere"});
        let entry = json!({
            "name": "otters.kb.io", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"service": service}, "rules": [rule],
        });
        serde_json::from_value(json!({"metadata": {"name": name}, "webhooks": [entry]})).unwrap()
    }

    fn rule(group: &str, resource: &str, operation: &str) -> Value {
        json!({"apiGroups": [group], "apiVersions": ["*"], "operations": [operation], "resources": [resource]})
    }

    fn found(rule: &Value) -> Vec<Rival> {
        among_validating(&[configuration("other-validating", rule)], &ours())
    }

    #[test]
    fn a_rival_is_named_with_whom_it_calls() {
        let rivals = found(&rule("zoo.org", "otters", "UPDATE"));
        assert_eq!(
            rivals.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["ValidatingWebhookConfiguration other-validating also judges or defaults our kinds: its webhook \
                 otters.kb.io calls the Service elsewhere/judge; remove one"]
        );
    }

    #[test]
    fn whoever_names_our_group_is_a_rival_whatever_the_star() {
        assert_eq!(found(&rule("zoo.org", "*", "*")).len(), 1);
        assert_eq!(found(&rule("zoo.org", "*/*", "CREATE")).len(), 1);
    }

    #[test]
    fn others_are_no_rivals() {
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
    fn our_own_configuration_is_no_rival() {
        let own = configuration("zoo-validating", &rule("zoo.org", "otters", "CREATE"));
        assert_eq!(among_validating(&[own], &ours()), []);
        let url = json!({
            "metadata": {"name": "zoo-validating"},
            "webhooks": [{
                "name": "otters.kb.io", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                "clientConfig": {"url": "https://judge"}, "rules": [rule("zoo.org", "otters", "CREATE")],
            }],
        });
        let mutating: MutatingWebhookConfiguration = serde_json::from_value(url).unwrap();
        let rivals = among_mutating(&[mutating], &ours());
        assert_eq!(rivals[0].called, Called::Url("https://judge".into()), "a name of ours is ours for one kind only");
    }
}
