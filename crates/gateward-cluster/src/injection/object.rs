//! The fields of webhook configurations and CRDs that injection needs, out of what may be a megabyte.

use std::borrow::Cow;
use std::fmt;
use std::time::SystemTime;

use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ManagedFieldsEntry};
use kube::Resource;
use kube::api::ObjectMeta;
use kube::core::ClusterResourceScope;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::ServiceName;

/// The kinds that have a `caBundle`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum InjectableKind {
    Validating,
    Mutating,
    Crd,
}

/// An object of one of these kinds, as far as it matters here.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct InjectableObject {
    pub(super) metadata: ObjectMeta,
    /// The entries of a webhook configuration.
    #[serde(default)]
    pub(super) webhooks: Vec<Webhook>,
    /// The specification of a CRD.
    #[serde(default)]
    pub(super) spec: Option<CrdSpec>,
    /// The status of a CRD.
    #[serde(default)]
    pub(super) status: Option<CrdStatus>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Webhook {
    pub(super) name: String,
    #[serde(default)]
    pub(super) client_config: ClientConfig,
    /// The requests that it is called for.
    #[serde(default)]
    pub(super) rules: Vec<RuleWithOperations>,
    pub(super) failure_policy: Option<String>,
    pub(super) match_policy: Option<String>,
    pub(super) namespace_selector: Option<LabelSelector>,
    pub(super) object_selector: Option<LabelSelector>,
    pub(super) match_conditions: Option<Vec<Value>>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientConfig {
    pub(super) service: Option<ServiceName>,
    pub(super) url: Option<String>,
    pub(super) ca_bundle: Option<ByteString>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct CrdSpec {
    /// How objects are converted, as it is written.
    #[serde(default)]
    pub(super) conversion: Value,
    #[serde(default)]
    pub(super) versions: Vec<CrdVersion>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct CrdVersion {
    pub(super) name: String,
    #[serde(default)]
    pub(super) served: bool,
    #[serde(default)]
    pub(super) storage: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CrdStatus {
    /// The versions in which objects may be stored.
    #[serde(default)]
    pub(super) stored_versions: Vec<String>,
}

impl InjectableObject {
    /// The object's name.
    pub(crate) fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// The resourceVersion.
    pub(super) fn version(&self) -> &str {
        self.metadata.resource_version.as_deref().unwrap_or_default()
    }

    /// What changes whenever a bundle in it is written.
    pub(super) fn revision(&self) -> String {
        let uid = self.metadata.uid.as_deref().unwrap_or_default();
        match self.metadata.generation {
            Some(generation) => format!("{uid} {generation}"),
            None => format!("{uid} at {}", self.version()),
        }
    }

    /// When anyone has changed it last, by the API server's clock.
    pub(crate) fn last_change(&self) -> Option<SystemTime> {
        self.changes().filter_map(changed_at).max()
    }

    /// The field managers other than `ours` that may have changed a `caBundle`: those that own the field, or else those
    /// that have changed anything after us. A manager that only removes fields isn't recorded.
    pub(crate) fn likely_writers(&self, ours: &str) -> Vec<String> {
        let others = || self.changes().filter(|entry| entry.manager.as_deref().is_some_and(|manager| manager != ours));
        let our_last =
            self.changes().filter(|entry| entry.manager.as_deref() == Some(ours)).filter_map(changed_at).max();
        let of_the_field =
            others().filter(|entry| entry.fields_v1.as_ref().is_some_and(|fields| owns_bundle(&fields.0)));
        let mut likely_writers: Vec<_> = of_the_field.filter_map(|entry| entry.manager.clone()).collect();
        if likely_writers.is_empty() {
            let after_us = others().filter(|entry| our_last.is_some_and(|ours| changed_at(entry) > Some(ours)));
            likely_writers = after_us.filter_map(|entry| entry.manager.clone()).collect();
        }
        likely_writers.sort();
        likely_writers.dedup();
        likely_writers
    }

    fn changes(&self) -> impl Iterator<Item = &ManagedFieldsEntry> {
        self.metadata.managed_fields.iter().flatten()
    }
}

fn changed_at(entry: &ManagedFieldsEntry) -> Option<SystemTime> {
    entry.time.as_ref().map(|time| SystemTime::from(time.0))
}

/// Whether a `caBundle` is among some fields.
fn owns_bundle(fields: &Value) -> bool {
    let Some(fields) = fields.as_object() else { return false };
    fields.iter().any(|(name, below)| name == "f:caBundle" || owns_bundle(below))
}

impl InjectableKind {
    fn text(self) -> &'static str {
        match self {
            Self::Validating => "ValidatingWebhookConfiguration",
            Self::Mutating => "MutatingWebhookConfiguration",
            Self::Crd => "CustomResourceDefinition",
        }
    }
}

impl fmt::Display for InjectableKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Resource for InjectableObject {
    type DynamicType = InjectableKind;
    type Scope = ClusterResourceScope;

    fn kind(kind: &InjectableKind) -> Cow<'_, str> {
        kind.text().into()
    }

    fn group(kind: &InjectableKind) -> Cow<'_, str> {
        match kind {
            InjectableKind::Validating | InjectableKind::Mutating => "admissionregistration.k8s.io".into(),
            InjectableKind::Crd => "apiextensions.k8s.io".into(),
        }
    }

    fn version(_: &InjectableKind) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural(kind: &InjectableKind) -> Cow<'_, str> {
        format!("{}s", kind.text().to_lowercase()).into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn likely_writers(managers: &Value) -> Vec<String> {
        let object = json!({"metadata": {"name": "otter", "managedFields": managers}});
        serde_json::from_value::<InjectableObject>(object).unwrap().likely_writers("gateward")
    }

    fn manager(name: &str, time: &str, field: &str) -> Value {
        let entry = json!({"f:clientConfig": {field: {}}});
        json!({"manager": name, "time": time, "fieldsV1": {"f:webhooks": {"k:{\"name\":\"a\"}": entry}}})
    }

    const EARLIER: &str = "2027-01-15T08:00:00Z";
    const LATER: &str = "2027-01-15T08:00:01Z";

    #[test]
    fn the_manager_that_owns_the_field_is_a_likely_writer() {
        let helm = manager("helm", LATER, "f:service");
        let conflict = manager("rival", EARLIER, "f:caBundle");
        assert_eq!(likely_writers(&json!([helm, conflict, manager("gateward", LATER, "f:caBundle")])), ["rival"]);
    }

    #[test]
    fn without_an_owner_later_managers_are_likely_writers() {
        let ours = manager("gateward", EARLIER, "f:caBundle");
        assert_eq!(likely_writers(&json!([manager("helm", LATER, "f:service"), ours])), ["helm"]);
        assert!(likely_writers(&json!([manager("helm", EARLIER, "f:service"), ours])).is_empty());
    }
}
