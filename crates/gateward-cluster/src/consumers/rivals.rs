//! A second set of webhooks for the same kinds: two operators that both default and judge an object contradict each
//! other sooner or later, and people look for the fault in the wrong one.

use std::fmt;

use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;

use super::object::{ClientConfig, ConsumerKind, ConsumerObject};
use crate::permissions::ResourceName;
use crate::setup::{ConsumerRules, ServiceName};

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

impl ConsumerRules {
    /// The webhooks for kinds of ours in an object that is not ours by its name.
    pub(super) fn rivals(&self, kind: ConsumerKind, object: &ConsumerObject) -> Vec<Rival> {
        if self.names(kind).contains(&object.name()) {
            return Vec::new();
        }
        let rivals =
            object.webhooks.iter().filter(|webhook| webhook.rules.iter().any(|rule| concerns(rule, &self.kinds)));
        rivals
            .map(|webhook| Rival {
                configuration: format!("{kind} {}", object.name()),
                entry: webhook.name.clone(),
                called: called(&webhook.client_config),
            })
            .collect()
    }
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

fn called(client: &ClientConfig) -> Called {
    match &client.service {
        Some(service) => Called::Service(service.named()),
        None => Called::Url(client.url.clone().unwrap_or_default()),
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
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use super::*;

    fn rules() -> ConsumerRules {
        ConsumerRules {
            validating: "zoo-validating".into(),
            mutating: "zoo-mutating".into(),
            labels: BTreeMap::new(),
            crds: Vec::new(),
            kinds: vec![ResourceName { group: "zoo.org".into(), plural: "otters".into() }],
            service: ServiceName { namespace: "zoo".into(), name: "otter".into() },
            conversion: Value::Null,
        }
    }

    fn found_in(kind: ConsumerKind, name: &str, rule: &Value, client: &Value) -> Vec<Rival> {
        let entry = json!({"name": "otters.kb.io", "clientConfig": client, "rules": [rule]});
        let object = json!({"metadata": {"name": name}, "webhooks": [entry]});
        rules().rivals(kind, &serde_json::from_value(object).unwrap())
    }

    fn rule(group: &str, resource: &str, operation: &str) -> Value {
        json!({"apiGroups": [group], "apiVersions": ["*"], "operations": [operation], "resources": [resource]})
    }

    fn found(rule: &Value) -> Vec<Rival> {
        let client = json!({"service": {"name": "judge", "namespace": "elsewhere"}});
        found_in(ConsumerKind::Validating, "other-validating", rule, &client)
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
    fn a_name_of_ours_is_ours_for_one_kind_only() {
        let (rule, client) = (rule("zoo.org", "otters", "CREATE"), json!({"url": "https://judge"}));
        let named_like_ours = |kind| found_in(kind, "zoo-validating", &rule, &client);
        assert_eq!(named_like_ours(ConsumerKind::Validating), []);
        let told = "MutatingWebhookConfiguration zoo-validating also judges or defaults our kinds: its webhook \
                    otters.kb.io calls https://judge; remove one";
        assert_eq!(named_like_ours(ConsumerKind::Mutating)[0].to_string(), told);
    }
}
