//! What a webhook configuration says of claims on namespaces: another release's may stand behind one, and our own may
//! leave claimed namespaces out.

use std::collections::BTreeMap;

use gateward_core::Review;

use super::object::{InjectableKind, InjectableObject, Webhook};
use crate::config::InjectionRules;
use crate::namespace_lease::{
    ClaimingWebhook, ConfigurationVersion, OwnConfiguration, OwnWebhook, Versions, WebhookRule, selected_by_name,
};

impl InjectionRules {
    /// The webhooks of a configuration that may stand behind a claim: they are another release's, they refuse what they
    /// can't judge, leave out no object, and select namespaces by name.
    pub(super) fn claiming(&self, kind: InjectableKind, object: &InjectableObject) -> Vec<ClaimingWebhook> {
        let Some(review) = review(kind).filter(|_| !self.names(kind).contains(&object.name())) else {
            return Vec::new();
        };
        let webhooks = object.webhooks.iter().filter(|webhook| {
            webhook.refuses_what_it_cannot_judge()
                && webhook.leaves_no_object_out()
                && webhook.client_config.service.as_ref() != Some(&self.service)
        });
        let claiming = webhooks.map(|webhook| ClaimingWebhook {
            review,
            configuration: format!("{kind} {}", object.name()),
            version: ConfigurationVersion {
                uid: object.metadata.uid.clone().unwrap_or_default(),
                resource_version: object.version().to_owned(),
            },
            entry: webhook.name.clone(),
            namespaces: selected_by_name(webhook.namespace_selector.as_ref()),
            rules: webhook
                .rules
                .iter()
                .map(|rule| WebhookRule { rule: rule.clone(), versions: webhook.versions() })
                .collect(),
        });
        claiming.filter(|webhook| !webhook.namespaces.is_empty()).collect()
    }

    /// What our own configuration selects; `None` for another.
    pub(super) fn own_configuration(
        &self,
        kind: InjectableKind,
        object: &InjectableObject,
    ) -> Option<OwnConfiguration> {
        let review = review(kind).filter(|_| self.names(kind).contains(&object.name()))?;
        let webhooks = object.webhooks.iter().map(|webhook| OwnWebhook {
            name: webhook.name.clone(),
            rules: webhook.rules.clone(),
            selector: webhook.namespace_selector.clone().unwrap_or_default(),
        });
        Some(OwnConfiguration {
            review,
            name: object.name().to_owned(),
            resource_version: object.version().to_owned(),
            webhooks: webhooks.collect(),
        })
    }
}

impl InjectableKind {
    /// The kind of the configurations of a stage.
    pub(crate) fn of(review: Review) -> Option<Self> {
        match review {
            Review::Validate => Some(Self::Validating),
            Review::Mutate => Some(Self::Mutating),
            Review::Convert => None,
        }
    }
}

fn review(kind: InjectableKind) -> Option<Review> {
    match kind {
        InjectableKind::Validating => Some(Review::Validate),
        InjectableKind::Mutating => Some(Review::Mutate),
        InjectableKind::Crd => None,
    }
}

impl Webhook {
    fn refuses_what_it_cannot_judge(&self) -> bool {
        self.failure_policy.as_deref().is_none_or(|policy| policy == "Fail")
    }

    fn leaves_no_object_out(&self) -> bool {
        let selects_all = self.object_selector.as_ref().is_none_or(|selector| {
            selector.match_labels.as_ref().is_none_or(BTreeMap::is_empty)
                && selector.match_expressions.as_ref().is_none_or(Vec::is_empty)
        });
        selects_all && self.match_conditions.as_ref().is_none_or(Vec::is_empty)
    }

    fn versions(&self) -> Versions {
        if self.match_policy.as_deref() == Some("Exact") { Versions::Exact } else { Versions::Equivalent }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::config::ServiceName;

    fn rules() -> InjectionRules {
        let service = ServiceName { namespace: "zoo".into(), name: "lake".into() };
        let (validating, mutating) = ("lake-validating".into(), "lake-mutating".into());
        InjectionRules { validating, mutating, service, ..InjectionRules::of_zoo() }
    }

    fn configuration(name: &str, changes: &Value) -> InjectableObject {
        let mut webhook = json!({
            "name": "otters.river.org",
            "clientConfig": {"service": {"namespace": "team-a", "name": "river"}},
            "failurePolicy": "Fail",
            "matchPolicy": "Equivalent",
            "objectSelector": {},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "team-a"}},
            "rules": [{"apiGroups": ["zoo.org"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["otters"]}],
        });
        if let (Some(webhook), Some(changes)) = (webhook.as_object_mut(), changes.as_object()) {
            webhook.extend(changes.clone());
        }
        serde_json::from_value(json!({"metadata": {"name": name}, "webhooks": [webhook]})).unwrap()
    }

    fn claiming(name: &str, changes: &Value) -> Vec<ClaimingWebhook> {
        rules().claiming(InjectableKind::Validating, &configuration(name, changes))
    }

    #[test]
    fn a_webhook_of_another_release_that_refuses_and_selects_by_name_stands_behind_a_claim() {
        let found = claiming("river-validating-team-a", &json!({}));
        assert_eq!((found[0].review, &*found[0].namespaces), (Review::Validate, ["team-a".to_owned()].as_slice()));
        assert_eq!(found[0].configuration, "ValidatingWebhookConfiguration river-validating-team-a");
        assert_eq!(claiming("river", &json!({"objectSelector": null, "matchConditions": []})).len(), 1);
    }

    #[test]
    fn a_webhook_that_lets_something_pass_stands_behind_nothing() {
        for changes in [
            json!({"failurePolicy": "Ignore"}),
            json!({"objectSelector": {"matchLabels": {"judge": "me"}}}),
            json!({"objectSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}),
            json!({"matchConditions": [{"name": "a", "expression": "true"}]}),
            json!({"namespaceSelector": {}}),
            json!({"namespaceSelector": null}),
            json!({"namespaceSelector": {"matchLabels": {"team": "a"}}}),
        ] {
            assert!(claiming("river", &changes).is_empty(), "{changes}");
        }
    }

    #[test]
    fn our_own_webhooks_stand_behind_no_claim_under_any_name() {
        assert!(claiming("lake-validating", &json!({})).is_empty());
        let ours = json!({"clientConfig": {"service": {"namespace": "zoo", "name": "lake"}}});
        assert!(claiming("river", &ours).is_empty());
    }
}
