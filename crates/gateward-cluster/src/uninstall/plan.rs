//! What has to be done about a CRD.

use json_patch::Patch;
use serde_json::{Value, json};

use crate::config::ServiceName;
use crate::crds::{Definition, Strategy};

/// What becomes of the conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversionOutcome {
    /// It ends, and only the version is served that objects are stored in.
    Removed,
    /// It stays, with all versions.
    Kept,
}

/// What has to be done about a CRD.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Plan {
    /// It is as it shall be.
    Nothing,
    /// It isn't ours to change, with the reason.
    LeaveAlone(String),
    /// Its objects are to be stored in this version alone.
    Prepare {
        /// The version.
        storage: String,
    },
}

/// Looks at a CRD of a kind whose objects we convert.
pub(super) fn plan(crd: &Definition, ours: &ServiceName, conversion: ConversionOutcome) -> Plan {
    let other = crd.service().filter(|service| crd.strategy() == Strategy::Webhook && service != ours);
    if let Some(other) = other {
        return Plan::LeaveAlone(format!("its objects are converted by the Service {other}, not by {ours}"));
    }
    let Some(storage) = crd.storage() else { return Plan::LeaveAlone("it has no storage version".into()) };
    let one_stored = crd.stored() == [storage];
    let done = match conversion {
        ConversionOutcome::Kept => one_stored,
        ConversionOutcome::Removed => one_stored && crd.strategy() == Strategy::None && served(crd) == [storage],
    };
    if done { Plan::Nothing } else { Plan::Prepare { storage: storage.to_owned() } }
}

/// Sets the stored versions to the storage version alone. It fails where they
/// were changed meanwhile.
pub(super) fn with_one_stored_version(crd: &Definition) -> Patch {
    let storage: Vec<_> = crd.storage().into_iter().collect();
    patch(&json!([
        {"op": "test", "path": "/status/storedVersions", "value": crd.stored()},
        {"op": "replace", "path": "/status/storedVersions", "value": storage},
    ]))
}

/// Ends the conversion and all versions that need it, in one step. It fails where the versions are others meanwhile.
pub(super) fn without_conversion(crd: &Definition) -> Patch {
    let mut operations = Vec::new();
    for (index, version) in crd.versions().enumerate() {
        let place = format!("/spec/versions/{index}");
        operations.push(json!({"op": "test", "path": format!("{place}/name"), "value": version["name"]}));
        operations.push(json!({"op": "test", "path": format!("{place}/storage"), "value": version["storage"]}));
        if version["storage"] != true {
            operations.push(json!({"op": "replace", "path": format!("{place}/served"), "value": false}));
        }
    }
    operations.push(json!({"op": "add", "path": "/spec/conversion", "value": {"strategy": "None"}}));
    patch(&Value::Array(operations))
}

/// The versions that were served before.
pub(super) fn no_longer_served(before: &Definition, after: &Definition) -> Vec<String> {
    let after = served(after);
    served(before).into_iter().filter(|version| !after.contains(version)).map(str::to_owned).collect()
}

fn served(crd: &Definition) -> Vec<&str> {
    crd.versions().filter(|version| version["served"] == true).filter_map(|version| version["name"].as_str()).collect()
}

fn patch(operations: &Value) -> Patch {
    // The operations are written above, and are all of them well formed.
    serde_json::from_value(operations.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> ServiceName {
        ServiceName { namespace: "zoo".into(), name: "converter".into() }
    }

    fn crd(stored: &[&str], conversion: &Value) -> Value {
        json!({
            "metadata": {"name": "otters.zoo.org"},
            "spec": {
                "conversion": conversion,
                "versions": [
                    {"name": "v1alpha1", "served": true, "storage": false},
                    {"name": "v1beta1", "served": true, "storage": true},
                ],
            },
            "status": {"storedVersions": stored},
        })
    }

    fn webhook(service: &str) -> Value {
        let service = json!({"namespace": "zoo", "name": service});
        json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service": service, "caBundle": "x"}}})
    }

    fn after(crd: &Value, patch: &Patch) -> Value {
        let mut crd = crd.clone();
        json_patch::patch(&mut crd, patch).unwrap();
        crd
    }

    fn planned(crd: Value, conversion: ConversionOutcome) -> Plan {
        plan(&Definition::from(crd), &ours(), conversion)
    }

    #[test]
    fn afterwards_nothing_is_left_to_do() {
        let before = crd(&["v1alpha1", "v1beta1"], &webhook("converter"));
        let wanted = Plan::Prepare { storage: "v1beta1".into() };
        assert_eq!(planned(before.clone(), ConversionOutcome::Removed), wanted);
        let stored = after(&before, &with_one_stored_version(&Definition::from(before.clone())));
        assert_eq!(planned(stored.clone(), ConversionOutcome::Removed), wanted);
        assert_eq!(planned(stored.clone(), ConversionOutcome::Kept), Plan::Nothing);
        let done = after(&stored, &without_conversion(&Definition::from(stored.clone())));
        assert_eq!(done["spec"]["conversion"], json!({"strategy": "None"}));
        assert_eq!(no_longer_served(&before.into(), &done.clone().into()), ["v1alpha1"]);
        assert_eq!(planned(done, ConversionOutcome::Removed), Plan::Nothing);
    }

    #[test]
    fn what_another_release_converts_is_left_alone() {
        let Plan::LeaveAlone(why) = planned(crd(&["v1beta1"], &webhook("other")), ConversionOutcome::Removed) else {
            panic!("not left alone");
        };
        assert_eq!(why, "its objects are converted by the Service zoo/other, not by zoo/converter");
    }

    #[test]
    fn a_webhook_of_a_local_server_belongs_to_no_other_release() {
        let url = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://127.0.0.1/convert"}}});
        let wanted = Plan::Prepare { storage: "v1beta1".into() };
        assert_eq!(planned(crd(&["v1beta1"], &url), ConversionOutcome::Removed), wanted);
    }

    #[test]
    fn versions_that_were_rearranged_meanwhile_are_not_touched() {
        let before = crd(&["v1beta1"], &webhook("converter"));
        let patch = without_conversion(&Definition::from(before.clone()));
        let mut other = before;
        other["spec"]["versions"].as_array_mut().unwrap().reverse();
        assert!(json_patch::patch(&mut other, &patch).is_err());
    }
}
