//! Restoring the conversion stanza (`spec.conversion`) of a CRD.

use gateward_certs::CaBundle;
use json_patch::Patch;
use serde_json::{Value, json};

use super::object::{CrdSpec, InjectableObject};
use super::patch::base64;
use crate::config::{InjectionRules, ServiceName};
use crate::crds::service_name;

/// What happens to a conversion stanza.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConversionAction {
    /// Only its `caBundle` is written.
    Keep,
    /// It is written anew.
    Restore,
    /// It is written anew once replicas of ours can convert: until then another Service does.
    TakeOver,
}

/// Whether replicas of ours can convert, so that a stanza may be taken over from another Service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConversionReadiness {
    /// They can.
    Ready,
    /// They can't yet.
    NotReady,
}

impl ConversionAction {
    /// Whether the stanza is to be written now.
    pub(crate) fn is_due(self, ours: ConversionReadiness) -> bool {
        match self {
            Self::Keep => false,
            Self::Restore => true,
            Self::TakeOver => ours == ConversionReadiness::Ready,
        }
    }
}

impl InjectionRules {
    /// Whether the stanza of a CRD of ours has to be written anew. The release that has applied the CRD last
    /// converts its objects; without that annotation, a stanza that names another Service is kept. With it, such a
    /// stanza is taken over. A CRD that serves and stores one version alone needs none, as after an uninstall.
    pub(super) fn conversion_action(&self, object: &InjectableObject) -> ConversionAction {
        let (Some(spec), Some(stanza)) = (&object.spec, self.stanza(object)) else { return ConversionAction::Keep };
        let theirs = match object.metadata.annotations.as_ref().and_then(|all| all.get(&self.converted_by)) {
            Some(converter) => *converter != self.service.to_string(),
            None => {
                uses_webhook(&spec.conversion) && called_service(&spec.conversion).is_some_and(|it| it != self.service)
            }
        };
        let whole = without_bundle(&spec.conversion) == *stanza;
        let leaving = object.metadata.deletion_timestamp.is_some();
        if whole || theirs || leaving || !needs_conversion(spec, object) {
            ConversionAction::Keep
        } else if self.is_converted_elsewhere(&spec.conversion) {
            ConversionAction::TakeOver
        } else {
            ConversionAction::Restore
        }
    }

    /// The stanza that a CRD has to have.
    fn stanza(&self, object: &InjectableObject) -> Option<&Value> {
        self.conversion.get(object.metadata.name.as_deref()?)
    }

    /// Whether API servers can call another Service.
    fn is_converted_elsewhere(&self, conversion: &Value) -> bool {
        let bundle = conversion.pointer("/webhook/clientConfig/caBundle").and_then(Value::as_str).unwrap_or_default();
        let other = called_service(conversion).is_some_and(|service| service != self.service);
        uses_webhook(conversion) && other && !bundle.is_empty()
    }

    /// The patch that writes its stanza into a CRD of this name and of some version, with its `caBundle`.
    pub(super) fn restore_patch(&self, name: &str, version: &str, bundle: &CaBundle) -> Patch {
        let mut stanza = self.conversion.get(name).cloned().unwrap_or_default();
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
pub(super) fn uses_webhook(conversion: &Value) -> bool {
    conversion["strategy"] == "Webhook"
}

/// The Service that a stanza calls.
pub(super) fn called_service(conversion: &Value) -> Option<ServiceName> {
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
fn needs_conversion(spec: &CrdSpec, object: &InjectableObject) -> bool {
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
    use crate::injection::{InjectableKind, TargetObject};

    const CONVERTED_BY: &str = "otter.zoo.org/converted-by";

    fn spec() -> Value {
        let service = json!({"namespace": "zoo", "name": "otter", "path": "/convert", "port": 443});
        json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}})
    }

    fn rules() -> InjectionRules {
        let conversion = [("otters.zoo.org".to_owned(), spec())].into();
        InjectionRules { crds: vec!["otters.zoo.org".to_owned()], conversion, ..InjectionRules::of_zoo() }
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

    fn stanza(crd: Value) -> ConversionAction {
        rules().conversion_action(&serde_json::from_value(crd).unwrap())
    }

    fn changed(change: impl Fn(&mut Value)) -> Value {
        let mut conversion = spec();
        change(&mut conversion);
        crd(&conversion)
    }

    #[test]
    fn a_stanza_that_is_whole_stays_whatever_its_bundle_is() {
        assert_eq!(stanza(crd(&spec())), ConversionAction::Keep);
        let bundled = changed(|it| it["webhook"]["clientConfig"]["caBundle"] = "eA==".into());
        assert_eq!(stanza(bundled), ConversionAction::Keep);
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
            assert_eq!(stanza(gone.clone()), ConversionAction::Restore, "{gone}");
        }
    }

    #[test]
    fn each_crd_has_a_stanza_of_its_own() {
        let mut minks = spec();
        minks["webhook"]["clientConfig"]["service"]["path"] = "/convert/zoo.org/minks".into();
        let mut rules = rules();
        rules.conversion.insert("minks.zoo.org".to_owned(), minks.clone());
        let action = |name: &str, stanza: &Value| {
            let mut crd = crd(stanza);
            crd["metadata"]["name"] = name.into();
            rules.conversion_action(&serde_json::from_value(crd).unwrap())
        };
        assert_eq!(action("minks.zoo.org", &minks), ConversionAction::Keep);
        assert_eq!(action("minks.zoo.org", &spec()), ConversionAction::Restore);
        assert_eq!(action("otters.zoo.org", &spec()), ConversionAction::Keep);
        assert_eq!(action("newts.zoo.org", &Value::Null), ConversionAction::Keep);
        let patch = serde_json::to_value(rules.restore_patch("minks.zoo.org", "7", &CaBundle::default())).unwrap();
        assert_eq!(patch[1]["value"]["webhook"]["clientConfig"]["service"]["path"], "/convert/zoo.org/minks");
    }

    #[test]
    fn the_stanza_of_another_release_is_left_to_it() {
        let theirs = changed(|it| it["webhook"]["clientConfig"]["service"]["name"] = "badger".into());
        assert_eq!(stanza(theirs), ConversionAction::Keep);
    }

    #[test]
    fn the_release_that_has_applied_the_crd_last_has_its_objects_converted() {
        let applied_by = |mut crd: Value, service: &str| {
            crd["metadata"]["annotations"] = json!({CONVERTED_BY: service});
            stanza(crd)
        };
        let theirs = |bundle: &str| {
            changed(|it| {
                it["webhook"]["clientConfig"]["service"]["name"] = "badger".into();
                it["webhook"]["clientConfig"]["caBundle"] = bundle.into();
            })
        };
        assert_eq!(applied_by(theirs(""), "zoo/otter"), ConversionAction::Restore);
        assert_eq!(applied_by(theirs("eA=="), "zoo/otter"), ConversionAction::TakeOver);
        assert_eq!(applied_by(theirs("eA=="), "zoo/badger"), ConversionAction::Keep);
        let none = crd(&json!({"strategy": "None"}));
        assert_eq!(applied_by(none.clone(), "zoo/otter"), ConversionAction::Restore);
        assert_eq!(applied_by(none, "zoo/badger"), ConversionAction::Keep);
    }

    #[test]
    fn what_another_service_converts_is_taken_over_once_a_replica_can_convert() {
        let due = |ours: ConversionReadiness| {
            [ConversionAction::Keep, ConversionAction::Restore, ConversionAction::TakeOver].map(|it| it.is_due(ours))
        };
        assert_eq!(due(ConversionReadiness::NotReady), [false, true, false]);
        assert_eq!(due(ConversionReadiness::Ready), [false, true, true]);
    }

    #[test]
    fn a_crd_of_one_version_needs_none() {
        let mut uninstalled = crd(&json!({"strategy": "None"}));
        uninstalled["spec"]["versions"][0]["served"] = false.into();
        assert_eq!(stanza(uninstalled.clone()), ConversionAction::Keep);
        uninstalled["status"]["storedVersions"] = json!(["v1", "v2"]);
        assert_eq!(stanza(uninstalled.clone()), ConversionAction::Restore);
        uninstalled["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z".into();
        assert_eq!(stanza(uninstalled), ConversionAction::Keep);
    }

    #[test]
    fn a_stanza_to_restore_is_reported() {
        let object = serde_json::from_value(crd(&json!({"strategy": "None"}))).unwrap();
        let TargetObject { conversion: stanza, others, .. } = rules().classify(InjectableKind::Crd, &object).unwrap();
        assert_eq!(stanza, ConversionAction::Restore);
        let text = "CustomResourceDefinition otters.zoo.org lacks our conversion stanza, which is restored";
        assert_eq!(others.iter().map(ToString::to_string).collect::<Vec<_>>(), [text]);
    }

    #[test]
    fn the_stanza_is_written_with_its_bundle_where_the_crd_is_the_one_that_was_read() {
        let mut stanza = spec();
        stanza["webhook"]["clientConfig"]["caBundle"] = "".into();
        let spec = json!([
            {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "add", "path": "/spec/conversion", "value": stanza},
        ]);
        assert_eq!(
            serde_json::to_value(rules().restore_patch("otters.zoo.org", "7", &CaBundle::default())).unwrap(),
            spec
        );
    }
}
