//! Which bundles are ours to write.

use gateward_certs::rotation::{InjectionTarget, InjectionTargetId};

use serde::Deserialize;

use super::object::{ClientConfig, ConsumerKind, ConsumerObject};
use super::stanza::{Stanza, by_webhook};
use crate::report::{ConsumerReport, ConsumerState, NotOurs};
use crate::setup::ConsumerRules;

/// The entry of a CRD.
const CONVERSION: &str = "conversion";

/// An object that may carry bundles of ours.
#[derive(Debug, Clone)]
pub(crate) struct Sighting {
    pub(crate) kind: ConsumerKind,
    pub(crate) name: String,
    /// What guards a write.
    pub(crate) version: String,
    /// What is ours to write in it.
    pub(crate) entries: Vec<Entry>,
    /// What is not.
    pub(crate) others: Vec<ConsumerReport>,
    /// What is to be done about its conversion stanza.
    pub(crate) stanza: Stanza,
}

/// An entry whose bundle is ours to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) consumer: InjectionTarget,
    pub(crate) place: Place,
}

/// Where in an object a bundle stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In an entry of a list, which someone may reorder meanwhile.
    Webhook { index: usize, name: String },
    /// In the conversion stanza.
    Conversion,
}

impl Sighting {
    /// The object, for people.
    pub(crate) fn object(&self) -> String {
        object(self.kind, &self.name)
    }
}

impl ConsumerRules {
    /// The names that are ours in a kind.
    pub(crate) fn names(&self, kind: ConsumerKind) -> Vec<&str> {
        match kind {
            ConsumerKind::Validating => vec![&self.validating],
            ConsumerKind::Mutating => vec![&self.mutating],
            ConsumerKind::Crd => self.crds.iter().map(String::as_str).collect(),
        }
    }

    /// What an object is to us; `None` is nothing.
    pub(crate) fn look_at(&self, kind: ConsumerKind, object: &ConsumerObject) -> Option<Sighting> {
        let mut sighting = Sighting {
            kind,
            name: object.name().to_owned(),
            version: object.version().to_owned(),
            entries: Vec::new(),
            others: Vec::new(),
            stanza: Stanza::Stays,
        };
        if !self.names(kind).contains(&object.name()) {
            let labelled = kind != ConsumerKind::Crd && self.labels_match(object);
            labelled.then(|| sighting.is_not_ours(None, NotOurs::OtherName))?;
            return Some(sighting);
        }
        match kind {
            ConsumerKind::Crd => self.look_at_conversion(object, &mut sighting),
            _ => self.look_at_webhooks(object, &mut sighting),
        }
        Some(sighting)
    }

    fn labels_match(&self, object: &ConsumerObject) -> bool {
        let carried = object.metadata.labels.clone().unwrap_or_default();
        !self.labels.is_empty() && self.labels.iter().all(|(name, value)| carried.get(name) == Some(value))
    }

    fn look_at_webhooks(&self, object: &ConsumerObject, sighting: &mut Sighting) {
        for (index, webhook) in object.webhooks.iter().enumerate() {
            if let Some(why) = self.whose(&webhook.client_config) {
                sighting.is_not_ours(Some(&webhook.name), why);
            } else {
                let place = Place::Webhook { index, name: webhook.name.clone() };
                sighting.is_ours(&webhook.name, place, object, &webhook.client_config);
            }
        }
    }

    fn look_at_conversion(&self, object: &ConsumerObject, sighting: &mut Sighting) {
        sighting.stanza = self.stanza(object);
        let conversion = object.spec.as_ref().map(|spec| &spec.conversion).filter(|stanza| by_webhook(stanza));
        let config = conversion.and_then(|conversion| conversion.pointer("/webhook/clientConfig"));
        let config: Option<ClientConfig> = config.and_then(|config| ClientConfig::deserialize(config).ok());
        match config.map(|config| (self.whose(&config), config)) {
            Some((None, config)) => sighting.is_ours(CONVERSION, Place::Conversion, object, &config),
            _ if sighting.stanza == Stanza::Restored => sighting.is_unconverted(),
            None => sighting.is_not_ours(None, NotOurs::NoWebhook),
            Some((Some(why), _)) => sighting.is_not_ours(Some(CONVERSION), why),
        }
    }

    /// Whom an entry calls, if it isn't us.
    fn whose(&self, config: &ClientConfig) -> Option<NotOurs> {
        let Some(service) = &config.service else { return Some(NotOurs::Url) };
        let called = service.named();
        (called != self.service).then_some(NotOurs::OtherService(called))
    }
}

impl Sighting {
    fn is_ours(&mut self, entry: &str, place: Place, object: &ConsumerObject, config: &ClientConfig) {
        let consumer = InjectionTarget {
            id: InjectionTargetId { object: self.object(), entry: entry.to_owned() },
            revision: object.revision(),
            bundle: config.ca_bundle.as_ref().map(|bundle| bundle.0.clone()).unwrap_or_default(),
        };
        self.entries.push(Entry { consumer, place });
    }

    fn is_unconverted(&mut self) {
        self.others.push(ConsumerReport { object: self.object(), entry: None, state: ConsumerState::Unconverted });
    }

    fn is_not_ours(&mut self, entry: Option<&str>, why: NotOurs) {
        let state = ConsumerState::NotOurs(why);
        self.others.push(ConsumerReport { object: self.object(), entry: entry.map(str::to_owned), state });
    }
}

/// The names of ours that are not among the objects.
pub(crate) fn absent(rules: &ConsumerRules, seen: &[Sighting]) -> Vec<ConsumerReport> {
    let kinds = [ConsumerKind::Validating, ConsumerKind::Mutating, ConsumerKind::Crd];
    let ours = kinds.into_iter().flat_map(|kind| rules.names(kind).into_iter().map(move |name| (kind, name)));
    let missing = ours.filter(|(kind, name)| !seen.iter().any(|it| it.kind == *kind && it.name == *name));
    let report =
        |(kind, name)| ConsumerReport { object: object(kind, name), entry: None, state: ConsumerState::Absent };
    missing.map(report).collect()
}

fn object(kind: ConsumerKind, name: &str) -> String {
    format!("{kind} {name}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::setup::ServiceName;

    fn rules() -> ConsumerRules {
        ConsumerRules {
            validating: "zoo-validating".to_owned(),
            mutating: "zoo-mutating".to_owned(),
            labels: [("part-of".to_owned(), "otters".to_owned())].into(),
            crds: vec!["otters.zoo.org".to_owned()],
            kinds: Vec::new(),
            service: ServiceName { namespace: "zoo".to_owned(), name: "otter".to_owned() },
            conversion: Value::Null,
        }
    }

    fn seen(kind: ConsumerKind, object: Value) -> Option<Sighting> {
        rules().look_at(kind, &serde_json::from_value(object).unwrap())
    }

    fn configuration(name: &str, labels: &Value, webhooks: &Value) -> Option<Sighting> {
        let metadata = json!({"name": name, "labels": labels, "uid": "u", "generation": 3, "resourceVersion": "7"});
        seen(ConsumerKind::Validating, json!({"metadata": metadata, "webhooks": webhooks}))
    }

    fn ours() -> Value {
        json!({"name": "a.zoo.org", "clientConfig": {"service": {"namespace": "zoo", "name": "otter"}, "caBundle": "eA=="}})
    }

    fn crd(conversion: &Value) -> Option<Sighting> {
        seen(ConsumerKind::Crd, json!({"metadata": {"name": "otters.zoo.org"}, "spec": {"conversion": conversion}}))
    }

    fn others(sighting: &Sighting) -> Vec<String> {
        sighting.others.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn entries_that_call_our_service_are_ours() {
        let found = configuration("zoo-validating", &json!({}), &json!([ours()])).unwrap();
        let id = InjectionTargetId {
            object: "ValidatingWebhookConfiguration zoo-validating".to_owned(),
            entry: "a.zoo.org".to_owned(),
        };
        let consumer = InjectionTarget { id, revision: "u 3".to_owned(), bundle: b"x".to_vec() };
        let place = Place::Webhook { index: 0, name: "a.zoo.org".to_owned() };
        assert_eq!((found.entries, found.version.as_str()), (vec![Entry { consumer, place }], "7"));
    }

    #[test]
    fn entries_that_call_a_url_or_another_service_are_told_and_not_written() {
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
    fn a_configuration_of_our_labels_and_another_name_is_told_and_not_written() {
        let found = configuration("badger", &json!({"part-of": "otters"}), &json!([ours()])).unwrap();
        let told =
            "ValidatingWebhookConfiguration badger carries our labels but is not ours to write: its name is another";
        assert_eq!((others(&found), found.entries.len()), (vec![told.to_owned()], 0));
    }

    #[test]
    fn everything_else_is_nothing_to_us() {
        assert!(configuration("badger", &json!({"part-of": "badgers"}), &json!([ours()])).is_none());
        assert!(seen(ConsumerKind::Mutating, json!({"metadata": {"name": "zoo-validating"}})).is_none());
    }

    #[test]
    fn a_crd_is_ours_where_it_is_converted_by_our_service() {
        let config = |service: &str| json!({"clientConfig": {"service": {"namespace": "zoo", "name": service}}});
        let found = crd(&json!({"strategy": "Webhook", "webhook": config("otter")})).unwrap();
        assert_eq!(found.entries[0].place, Place::Conversion);
        assert_eq!(found.entries[0].consumer.id.to_string(), "CustomResourceDefinition otters.zoo.org (conversion)");
        for (conversion, told) in [
            (json!({"strategy": "None"}), "names no webhook"),
            (json!({"strategy": "Webhook", "webhook": config("badger")}), "calls the Service zoo/badger"),
        ] {
            let found = crd(&conversion).unwrap();
            assert!(found.entries.is_empty() && others(&found)[0].contains(told), "{:?}", others(&found));
        }
    }

    #[test]
    fn what_is_not_there_is_told_by_name() {
        let seen: Vec<_> = configuration("zoo-validating", &json!({}), &json!([])).into_iter().collect();
        let told: Vec<_> = absent(&rules(), &seen).iter().map(|report| report.object.clone()).collect();
        assert_eq!(told, ["MutatingWebhookConfiguration zoo-mutating", "CustomResourceDefinition otters.zoo.org"]);
    }
}
