//! The conversion stanza of a CRD, where somebody has changed or removed it.

use gateward_certs::CaBundle;
use json_patch::Patch;
use serde_json::{Value, json};

use super::object::{ConsumerObject, CrdSpec};
use super::patch::base64;
use crate::crds::{CONVERTED_BY, service_name};
use crate::setup::{ConsumerRules, ServiceName};

/// What is to be done about a conversion stanza.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stanza {
    /// Nothing but what its `caBundle` needs.
    Stays,
    /// It is written anew.
    Restored,
}

impl ConsumerRules {
    /// Whether the stanza of a CRD of ours has to be written anew. The release that has applied the CRD last has its
    /// objects converted; where nobody has said who that is, a stanza of another Service is left to that one. A CRD that
    /// serves and stores one version alone needs none, as after an uninstall.
    pub(super) fn stanza(&self, object: &ConsumerObject) -> Stanza {
        let Some(spec) = &object.spec else { return Stanza::Stays };
        let theirs = match object.metadata.annotations.as_ref().and_then(|all| all.get(CONVERTED_BY)) {
            Some(converter) => *converter != self.service.to_string(),
            None => by_webhook(&spec.conversion) && called(&spec.conversion).is_some_and(|it| it != self.service),
        };
        let whole = without_bundle(&spec.conversion) == self.conversion;
        let leaving = object.metadata.deletion_timestamp.is_some();
        if self.conversion.is_null() || whole || theirs || leaving || !needs_conversion(spec, object) {
            Stanza::Stays
        } else {
            Stanza::Restored
        }
    }

    /// The patch that writes the stanza into a CRD of some version, with whom to trust.
    pub(super) fn restoring(&self, version: &str, bundle: &CaBundle) -> Patch {
        let mut stanza = self.conversion.clone();
        if let Some(config) = stanza.pointer_mut("/webhook/clientConfig").and_then(Value::as_object_mut) {
            config.insert("caBundle".to_owned(), base64(bundle));
        }
        let operations = json!([
            {"op": "test", "path": "/metadata/resourceVersion", "value": version},
            {"op": "add", "path": "/spec/conversion", "value": stanza},
        ]);
        // The operations are written above, and are all of them well formed.
        serde_json::from_value(operations).unwrap_or_default()
    }
}

/// Whether a stanza has objects converted by a webhook.
pub(super) fn by_webhook(conversion: &Value) -> bool {
    conversion["strategy"] == "Webhook"
}

/// The Service that a stanza calls.
pub(super) fn called(conversion: &Value) -> Option<ServiceName> {
    service_name(conversion.pointer("/webhook/clientConfig/service")?)
}

fn without_bundle(conversion: &Value) -> Value {
    let mut conversion = conversion.clone();
    if let Some(config) = conversion.pointer_mut("/webhook/clientConfig").and_then(Value::as_object_mut) {
        config.remove("caBundle");
    }
    conversion
}

/// Whether objects are served or stored in two versions.
fn needs_conversion(spec: &CrdSpec, object: &ConsumerObject) -> bool {
    let served = spec.versions.iter().filter(|version| version.served || version.storage).map(|version| &version.name);
    let stored = object.status.iter().flat_map(|status| &status.stored_versions);
    let mut versions: Vec<&String> = served.chain(stored).collect();
    versions.sort();
    versions.dedup();
    versions.len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumers::{ConsumerKind, Sighting};

    fn wanted() -> Value {
        let service = json!({"namespace": "zoo", "name": "otter", "path": "/convert", "port": 443});
        json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}})
    }

    fn rules() -> ConsumerRules {
        ConsumerRules {
            validating: "zoo-validating".to_owned(),
            mutating: "zoo-mutating".to_owned(),
            labels: std::collections::BTreeMap::new(),
            crds: vec!["otters.zoo.org".to_owned()],
            kinds: Vec::new(),
            service: ServiceName { namespace: "zoo".to_owned(), name: "otter".to_owned() },
            conversion: wanted(),
        }
    }

    fn crd(conversion: &Value) -> Value {
        json!({
            "metadata": {"name": "otters.zoo.org", "resourceVersion": "7"},
            "spec": {
                "conversion": conversion,
                "versions": [
                    {"name": "v1", "served": true, "storage": false},
                    {"name": "v2", "served": true, "storage": true},
                ],
            },
            "status": {"storedVersions": ["v2"]},
        })
    }

    fn stanza(crd: Value) -> Stanza {
        rules().stanza(&serde_json::from_value(crd).unwrap())
    }

    fn changed(change: impl Fn(&mut Value)) -> Value {
        let mut conversion = wanted();
        change(&mut conversion);
        crd(&conversion)
    }

    #[test]
    fn a_stanza_that_is_whole_stays_whatever_its_bundle_is() {
        assert_eq!(stanza(crd(&wanted())), Stanza::Stays);
        let bundled = changed(|it| it["webhook"]["clientConfig"]["caBundle"] = "eA==".into());
        assert_eq!(stanza(bundled), Stanza::Stays);
    }

    #[test]
    fn a_stanza_that_was_removed_or_changed_is_restored() {
        let config = "/webhook/clientConfig";
        for gone in [
            crd(&json!({"strategy": "None"})),
            crd(&Value::Null),
            changed(|it| it["webhook"]["clientConfig"] = json!({"url": "https://badger.example.org"})),
            changed(|it| it["webhook"]["conversionReviewVersions"] = json!(["v1beta1"])),
            changed(|it| it.pointer_mut(config).unwrap()["service"]["path"] = "/elsewhere".into()),
            changed(|it| it.pointer_mut(config).unwrap()["service"]["port"] = 8443.into()),
        ] {
            assert_eq!(stanza(gone.clone()), Stanza::Restored, "{gone}");
        }
    }

    #[test]
    fn the_stanza_of_another_release_is_left_to_it() {
        let theirs = changed(|it| it["webhook"]["clientConfig"]["service"]["name"] = "badger".into());
        assert_eq!(stanza(theirs), Stanza::Stays);
    }

    #[test]
    fn the_release_that_has_applied_the_crd_last_has_its_objects_converted() {
        let applied_by = |mut crd: Value, service: &str| {
            crd["metadata"]["annotations"] = json!({CONVERTED_BY: service});
            stanza(crd)
        };
        let theirs = changed(|it| it["webhook"]["clientConfig"]["service"]["name"] = "badger".into());
        assert_eq!(applied_by(theirs.clone(), "zoo/otter"), Stanza::Restored);
        assert_eq!(applied_by(theirs, "zoo/badger"), Stanza::Stays);
        let none = crd(&json!({"strategy": "None"}));
        assert_eq!(applied_by(none.clone(), "zoo/otter"), Stanza::Restored);
        assert_eq!(applied_by(none, "zoo/badger"), Stanza::Stays);
    }

    #[test]
    fn a_crd_of_one_version_needs_none() {
        let mut uninstalled = crd(&json!({"strategy": "None"}));
        uninstalled["spec"]["versions"][0]["served"] = false.into();
        assert_eq!(stanza(uninstalled.clone()), Stanza::Stays);
        uninstalled["status"]["storedVersions"] = json!(["v1", "v2"]);
        assert_eq!(stanza(uninstalled.clone()), Stanza::Restored);
        uninstalled["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z".into();
        assert_eq!(stanza(uninstalled), Stanza::Stays);
    }

    #[test]
    fn what_is_restored_is_told_as_such() {
        let object = serde_json::from_value(crd(&json!({"strategy": "None"}))).unwrap();
        let Sighting { stanza, others, .. } = rules().look_at(ConsumerKind::Crd, &object).unwrap();
        assert_eq!(stanza, Stanza::Restored);
        let told = "CustomResourceDefinition otters.zoo.org lacks our conversion stanza, which is restored";
        assert_eq!(others.iter().map(ToString::to_string).collect::<Vec<_>>(), [told]);
    }

    #[test]
    fn the_stanza_is_written_with_its_bundle_where_the_crd_is_the_one_that_was_read() {
        let mut stanza = wanted();
        stanza["webhook"]["clientConfig"]["caBundle"] = "".into();
        let wanted = json!([
            {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "add", "path": "/spec/conversion", "value": stanza},
        ]);
        assert_eq!(serde_json::to_value(rules().restoring("7", &CaBundle::default())).unwrap(), wanted);
    }
}
