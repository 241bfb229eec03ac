//! Decides which objects and entries are injection targets.

use gateward_certs::rotation::{InjectionTarget, InjectionTargetId};

use serde::Deserialize;

use super::conversion::{ConversionAction, uses_webhook};
use super::object::{ClientConfig, InjectableKind, InjectableObject};
use super::patch::CaBundleLocation;
use super::target_status::{NotOurs, TargetState, TargetStatus};
use crate::config::InjectionRules;

/// The entry of a CRD.
const CONVERSION: &str = "conversion";

/// An object with injection targets.
#[derive(Debug, Clone)]
pub(crate) struct TargetObject {
    pub(crate) kind: InjectableKind,
    pub(crate) name: String,
    /// The resourceVersion, which guards a write.
    pub(crate) version: String,
    /// Its injection targets.
    pub(crate) entries: Vec<TargetEntry>,
    /// The status of its other entries.
    pub(crate) others: Vec<TargetStatus>,
    /// What happens to its conversion stanza.
    pub(crate) conversion: ConversionAction,
}

/// An entry whose `caBundle` is injected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TargetEntry {
    pub(crate) target: InjectionTarget,
    pub(crate) location: CaBundleLocation,
}

impl TargetObject {
    /// The object, for people.
    pub(crate) fn display_name(&self) -> String {
        object(self.kind, &self.name)
    }
}

impl InjectionRules {
    /// The names that are ours in a kind.
    pub(crate) fn names(&self, kind: InjectableKind) -> Vec<&str> {
        match kind {
            InjectableKind::Validating => vec![&self.validating],
            InjectableKind::Mutating => vec![&self.mutating],
            InjectableKind::Crd => self.crds.iter().map(String::as_str).collect(),
        }
    }

    /// Finds the injection targets of an object; `None` if it is not ours.
    pub(crate) fn classify(&self, kind: InjectableKind, object: &InjectableObject) -> Option<TargetObject> {
        let mut found = TargetObject {
            kind,
            name: object.name().to_owned(),
            version: object.version().to_owned(),
            entries: Vec::new(),
            others: Vec::new(),
            conversion: ConversionAction::Keep,
        };
        if !self.names(kind).contains(&object.name()) {
            let labelled = kind != InjectableKind::Crd && self.labels_match(object);
            labelled.then(|| found.add_other(None, TargetState::NotOurs(NotOurs::OtherName)))?;
            return Some(found);
        }
        match kind {
            InjectableKind::Crd => self.classify_conversion(object, &mut found),
            _ => self.classify_webhooks(object, &mut found),
        }
        Some(found)
    }

    fn labels_match(&self, object: &InjectableObject) -> bool {
        let carried = object.metadata.labels.clone().unwrap_or_default();
        !self.labels.is_empty() && self.labels.iter().all(|(name, value)| carried.get(name) == Some(value))
    }

    fn classify_webhooks(&self, object: &InjectableObject, found: &mut TargetObject) {
        for (index, webhook) in object.webhooks.iter().enumerate() {
            if let Some(why) = self.unmanaged_reason(&webhook.client_config) {
                found.add_other(Some(&webhook.name), TargetState::NotOurs(why));
            } else {
                let location = CaBundleLocation::Webhook { index, name: webhook.name.clone() };
                found.add_entry(&webhook.name, location, object, &webhook.client_config);
            }
        }
    }

    fn classify_conversion(&self, object: &InjectableObject, found: &mut TargetObject) {
        found.conversion = self.conversion_action(object);
        let conversion = object.spec.as_ref().map(|spec| &spec.conversion).filter(|stanza| uses_webhook(stanza));
        let config = conversion.and_then(|conversion| conversion.pointer("/webhook/clientConfig"));
        let config: Option<ClientConfig> = config.and_then(|config| ClientConfig::deserialize(config).ok());
        match config.map(|config| (self.unmanaged_reason(&config), config)) {
            Some((None, config)) => found.add_entry(CONVERSION, CaBundleLocation::Conversion, object, &config),
            _ if found.conversion == ConversionAction::Restore => found.add_other(None, TargetState::Unconverted),
            Some((Some(NotOurs::OtherService(service)), _)) if found.conversion == ConversionAction::TakeOver => {
                found.add_other(None, TargetState::ConvertedBy(service));
            }
            None => found.add_other(None, TargetState::NotOurs(NotOurs::NoWebhook)),
            Some((Some(why), _)) => found.add_other(Some(CONVERSION), TargetState::NotOurs(why)),
        }
    }

    /// Why an entry is not managed; `None` if it calls our Service.
    fn unmanaged_reason(&self, config: &ClientConfig) -> Option<NotOurs> {
        let Some(service) = &config.service else { return Some(NotOurs::Url) };
        (*service != self.service).then(|| NotOurs::OtherService(service.clone()))
    }
}

impl TargetObject {
    fn add_entry(&mut self, entry: &str, location: CaBundleLocation, object: &InjectableObject, config: &ClientConfig) {
        let target = InjectionTarget {
            id: InjectionTargetId { object: self.display_name(), entry: entry.to_owned() },
            revision: object.revision(),
            bundle: config.ca_bundle.as_ref().map(|bundle| bundle.0.clone()).unwrap_or_default(),
        };
        self.entries.push(TargetEntry { target, location });
    }

    fn add_other(&mut self, entry: Option<&str>, state: TargetState) {
        self.others.push(TargetStatus { object: self.display_name(), entry: entry.map(str::to_owned), state });
    }
}

/// The names of ours that are not among the objects.
pub(crate) fn absent(rules: &InjectionRules, seen: &[TargetObject]) -> Vec<TargetStatus> {
    let kinds = [InjectableKind::Validating, InjectableKind::Mutating, InjectableKind::Crd];
    let ours = kinds.into_iter().flat_map(|kind| rules.names(kind).into_iter().map(move |name| (kind, name)));
    let missing = ours.filter(|(kind, name)| !seen.iter().any(|it| it.kind == *kind && it.name == *name));
    let status = |(kind, name)| TargetStatus { object: object(kind, name), entry: None, state: TargetState::Absent };
    missing.map(status).collect()
}

fn object(kind: InjectableKind, name: &str) -> String {
    format!("{kind} {name}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn rules() -> InjectionRules {
        let labels = [("part-of".to_owned(), "otters".to_owned())].into();
        InjectionRules { labels, crds: vec!["otters.zoo.org".to_owned()], ..InjectionRules::of_zoo() }
    }

    fn seen(kind: InjectableKind, object: Value) -> Option<TargetObject> {
        rules().classify(kind, &serde_json::from_value(object).unwrap())
    }

    fn configuration(name: &str, labels: &Value, webhooks: &Value) -> Option<TargetObject> {
        let metadata = json!({"name": name, "labels": labels, "uid": "u", "generation": 3, "resourceVersion": "7"});
        seen(InjectableKind::Validating, json!({"metadata": metadata, "webhooks": webhooks}))
    }

    fn ours() -> Value {
        json!({"name": "a.zoo.org", "clientConfig": {"service": {"namespace": "zoo", "name": "otter"}, "caBundle": "eA=="}})
    }

    fn crd(conversion: &Value) -> Option<TargetObject> {
        seen(InjectableKind::Crd, json!({"metadata": {"name": "otters.zoo.org"}, "spec": {"conversion": conversion}}))
    }

    fn others(found: &TargetObject) -> Vec<String> {
        found.others.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn entries_that_call_our_service_are_ours() {
        let found = configuration("zoo-validating", &json!({}), &json!([ours()])).unwrap();
        let id = InjectionTargetId {
            object: "ValidatingWebhookConfiguration zoo-validating".to_owned(),
            entry: "a.zoo.org".to_owned(),
        };
        let target = InjectionTarget { id, revision: "u 3".to_owned(), bundle: b"x".to_vec() };
        let location = CaBundleLocation::Webhook { index: 0, name: "a.zoo.org".to_owned() };
        assert_eq!((found.entries, found.version.as_str()), (vec![TargetEntry { target, location }], "7"));
    }

    #[test]
    fn entries_that_call_a_url_or_another_service_are_reported_and_not_written() {
        let url = json!({"name": "b", "clientConfig": {"url": "https://example.org"}});
        let other = json!({"name": "c", "clientConfig": {"service": {"namespace": "zoo", "name": "badger"}}});
        let found = configuration("zoo-validating", &json!({}), &json!([url, other])).unwrap();
        assert_eq!(
            others(&found),
            [
                "ValidatingWebhookConfiguration zoo-validating (b) is not ours to write: it calls a URL",
                "ValidatingWebhookConfiguration zoo-validating (c) is not ours to write: it calls the Service zoo/badger",
            ]
        );
        assert!(found.entries.is_empty());
    }

    #[test]
    fn a_configuration_with_our_labels_and_another_name_is_reported_and_not_written() {
        let found = configuration("badger", &json!({"part-of": "otters"}), &json!([ours()])).unwrap();
        let expected =
            "ValidatingWebhookConfiguration badger carries our labels but is not ours to write: its name is another";
        assert_eq!((others(&found), found.entries.len()), (vec![expected.to_owned()], 0));
    }

    #[test]
    fn everything_else_is_nothing_to_us() {
        assert!(configuration("badger", &json!({"part-of": "badgers"}), &json!([ours()])).is_none());
        assert!(seen(InjectableKind::Mutating, json!({"metadata": {"name": "zoo-validating"}})).is_none());
    }

    #[test]
    fn a_crd_is_ours_where_it_is_converted_by_our_service() {
        let config = |service: &str| json!({"clientConfig": {"service": {"namespace": "zoo", "name": service}}});
        let found = crd(&json!({"strategy": "Webhook", "webhook": config("otter")})).unwrap();
        assert_eq!(found.entries[0].location, CaBundleLocation::Conversion);
        assert_eq!(found.entries[0].target.id.to_string(), "CustomResourceDefinition otters.zoo.org (conversion)");
        for (conversion, expected) in [
            (json!({"strategy": "None"}), "names no webhook"),
            (json!({"strategy": "Webhook", "webhook": config("badger")}), "calls the Service zoo/badger"),
        ] {
            let found = crd(&conversion).unwrap();
            assert!(found.entries.is_empty() && others(&found)[0].contains(expected), "{:?}", others(&found));
        }
    }

    #[test]
    fn absent_objects_are_reported_by_name() {
        let seen: Vec<_> = configuration("zoo-validating", &json!({}), &json!([])).into_iter().collect();
        let expected: Vec<_> = absent(&rules(), &seen).iter().map(|status| status.object.clone()).collect();
        assert_eq!(expected, ["MutatingWebhookConfiguration zoo-mutating", "CustomResourceDefinition otters.zoo.org"]);
    }
}
