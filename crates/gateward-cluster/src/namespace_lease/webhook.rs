//! The webhooks of others that may stand behind a claim.
//!
//! A lease proves nothing about its writer: a user who may write it in a namespace could turn off the cluster-wide
//! operator's webhooks there. A webhook configuration belongs to the whole cluster, so none of them can make that.

use std::collections::BTreeSet;

use gateward_core::{Operation, Review, ReviewSubject};
use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

/// The label by which every namespace has its name.
pub(crate) const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// A webhook of another release that refuses what it can't judge, for namespaces that it selects by name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ClaimingWebhook {
    pub(crate) review: Review,
    /// The configuration, as kind and name.
    pub(crate) configuration: String,
    /// Which state of which object it was read from.
    pub(crate) version: ConfigurationVersion,
    /// The entry in it.
    pub(crate) entry: String,
    pub(crate) namespaces: Vec<String>,
    pub(crate) rules: Vec<WebhookRule>,
}

/// Which state of which webhook configuration was seen.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct ConfigurationVersion {
    pub(crate) uid: String,
    pub(crate) resource_version: String,
}

/// A rule of a webhook.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WebhookRule {
    pub(crate) rule: RuleWithOperations,
    pub(crate) versions: Versions,
}

/// For which versions of an object a webhook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Versions {
    /// For those that its rules list.
    Exact,
    /// For all, if its rules list one: the API server converts.
    Equivalent,
}

impl ClaimingWebhook {
    /// Whether both are one webhook that API servers call for the same, whatever else of its object was written.
    pub(crate) fn is_called_as(&self, other: &Self) -> bool {
        let Self { review, configuration, version, entry, namespaces, rules } = self;
        (review, configuration, &version.uid, entry)
            == (&other.review, &other.configuration, &other.version.uid, &other.entry)
            && (namespaces, rules) == (&other.namespaces, &other.rules)
    }

    /// Whether the webhook is called for what a review is about.
    pub(crate) fn covers(&self, subject: &ReviewSubject<'_>) -> bool {
        self.review == subject.review
            && self.namespaces.iter().any(|namespace| namespace == subject.namespace)
            && self.rules.iter().any(|rule| rule.covers(subject))
    }
}

impl WebhookRule {
    fn covers(&self, subject: &ReviewSubject<'_>) -> bool {
        let RuleWithOperations { api_groups, api_versions, operations, resources, scope } = &self.rule;
        let versions = match self.versions {
            Versions::Exact => &[subject.version],
            Versions::Equivalent => subject.versions,
        };
        let operation = subject.operation.map(Operation::as_str);
        scope.as_deref().is_none_or(|scope| scope == "*" || scope == "Namespaced")
            && lists(api_groups.as_deref(), &[subject.group, "*"])
            && lists(resources.as_deref(), &[subject.resource, "*", "*/*"])
            && operation.is_some_and(|operation| lists(operations.as_deref(), &[operation, "*"]))
            && (lists(api_versions.as_deref(), versions) || lists(api_versions.as_deref(), &["*"]))
    }
}

fn lists(list: Option<&[String]>, any_of: &[&str]) -> bool {
    list.unwrap_or_default().iter().any(|item| any_of.contains(&item.as_str()))
}

/// The namespaces of a selector that goes by their names alone; none where it goes by anything else.
pub(crate) fn selected_by_name(selector: Option<&LabelSelector>) -> Vec<String> {
    let Some(LabelSelector { match_labels, match_expressions }) = selector else { return Vec::new() };
    let mut requirements: Vec<BTreeSet<String>> = Vec::new();
    for (key, value) in match_labels.iter().flatten() {
        if key != NAMESPACE_NAME {
            return Vec::new();
        }
        requirements.push(BTreeSet::from([value.clone()]));
    }
    for expression in match_expressions.iter().flatten() {
        if expression.key != NAMESPACE_NAME || expression.operator != "In" {
            return Vec::new();
        }
        requirements.push(expression.values.iter().flatten().cloned().collect());
    }
    let Some((first, others)) = requirements.split_first() else { return Vec::new() };
    first.iter().filter(|name| others.iter().all(|other| other.contains(*name))).cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const SUBJECT: ReviewSubject<'static> = ReviewSubject {
        namespace: "team-a",
        group: "zoo.org",
        resource: "otters",
        version: "v1",
        versions: &["v1", "v2"],
        operation: Some(Operation::Create),
        review: Review::Validate,
    };

    fn webhook(versions: Versions, changes: &Value) -> ClaimingWebhook {
        let mut rule = json!({
            "apiGroups": ["zoo.org"], "apiVersions": ["v1", "v2"], "operations": ["CREATE", "UPDATE"],
            "resources": ["otters"],
        });
        if let (Some(rule), Some(changes)) = (rule.as_object_mut(), changes.as_object()) {
            rule.extend(changes.clone());
        }
        ClaimingWebhook {
            review: Review::Validate,
            configuration: "ValidatingWebhookConfiguration river".into(),
            version: ConfigurationVersion::default(),
            entry: "otters.zoo.org".into(),
            namespaces: vec!["team-a".into()],
            rules: vec![WebhookRule { rule: serde_json::from_value(rule).unwrap(), versions }],
        }
    }

    fn covers(changes: &Value) -> bool {
        webhook(Versions::Exact, changes).covers(&SUBJECT)
    }

    #[test]
    fn a_claim_counts_for_what_the_rules_of_the_webhook_cover() {
        assert!(covers(&json!({})));
        for star in ["apiGroups", "apiVersions", "operations", "resources"] {
            assert!(covers(&json!({star: ["*"]})), "{star}");
        }
        assert!(covers(&json!({"scope": "*"})) && covers(&json!({"scope": "Namespaced"})));
    }

    #[test]
    fn a_claim_counts_for_nothing_else() {
        for changes in [
            json!({"apiGroups": ["sea.org"]}),
            json!({"resources": ["otters/status"]}),
            json!({"resources": ["*/status"]}),
            json!({"resources": ["herons"]}),
            json!({"operations": ["UPDATE"]}),
            json!({"apiVersions": ["v2"]}),
            json!({"scope": "Cluster"}),
            json!({"operations": null}),
        ] {
            assert!(!covers(&changes), "{changes}");
        }
        let webhook = webhook(Versions::Exact, &json!({}));
        assert!(!webhook.covers(&ReviewSubject { review: Review::Mutate, ..SUBJECT }));
        assert!(!webhook.covers(&ReviewSubject { namespace: "team-b", ..SUBJECT }));
        assert!(!webhook.covers(&ReviewSubject { operation: None, ..SUBJECT }));
    }

    #[test]
    fn an_equivalent_webhook_covers_every_version_if_it_lists_one_that_is_there() {
        assert!(webhook(Versions::Equivalent, &json!({"apiVersions": ["v2"]})).covers(&SUBJECT));
        assert!(!webhook(Versions::Equivalent, &json!({"apiVersions": ["v3"]})).covers(&SUBJECT));
    }

    fn selected(selector: Value) -> Vec<String> {
        selected_by_name(Some(&serde_json::from_value(selector).unwrap()))
    }

    fn expression(key: &str, operator: &str, values: &[&str]) -> Value {
        json!({"key": key, "operator": operator, "values": values})
    }

    #[test]
    fn a_namespace_is_selected_by_its_name() {
        assert_eq!(selected(json!({"matchLabels": {NAMESPACE_NAME: "team-a"}})), ["team-a"]);
        let either = expression(NAMESPACE_NAME, "In", &["team-b", "team-a"]);
        assert_eq!(selected(json!({"matchExpressions": [either]})), ["team-a", "team-b"]);
        let both = json!({"matchLabels": {NAMESPACE_NAME: "team-a"}, "matchExpressions": [either]});
        assert_eq!(selected(both), ["team-a"]);
    }

    #[test]
    fn a_selector_that_a_tenant_could_turn_or_that_says_less_selects_none() {
        for selector in [
            json!({}),
            json!({"matchLabels": {"team": "a"}}),
            json!({"matchLabels": {NAMESPACE_NAME: "team-a", "team": "a"}}),
            json!({"matchExpressions": [expression(NAMESPACE_NAME, "NotIn", &["team-b"])]}),
            json!({"matchExpressions": [expression(NAMESPACE_NAME, "Exists", &[])]}),
            json!({"matchExpressions": [expression("team", "In", &["a"])]}),
            json!({"matchExpressions": [expression(NAMESPACE_NAME, "In", &[])]}),
        ] {
            assert!(selected(selector.clone()).is_empty(), "{selector}");
        }
        assert!(selected_by_name(None).is_empty());
    }
}
