//! A CustomResourceDefinition as the API server has it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind};
use serde_json::Value;

use crate::config::ServiceName;

/// The API of CRDs. They are read as they are, so that unknown fields are kept.
pub(crate) fn api(client: Client) -> Api<DynamicObject> {
    Api::all_with(client, &ApiResource::erase::<CustomResourceDefinition>(&()))
}

/// The annotation of a CRD that names the Service of the release that has its objects converted, as `namespace/name`, by
/// the prefix of the operator's annotations. It is written where the stanza can't be yet, and distinguishes a changed
/// stanza from that of another release.
pub fn converted_by(prefix: &str) -> String {
    format!("{prefix}/converted-by")
}

/// A CRD.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Definition(Value);

/// How objects are converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Only their `apiVersion` is changed.
    None,
    /// By a webhook.
    Webhook,
}

impl Definition {
    pub(crate) fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    pub(crate) fn resource_version(&self) -> &str {
        self.text("/metadata/resourceVersion")
    }

    /// Whether it is being deleted: it is there until its objects are gone.
    pub(crate) fn is_leaving(&self) -> bool {
        self.0.pointer("/metadata/deletionTimestamp").is_some()
    }

    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        self.0.pointer("/metadata/annotations")?.get(key)?.as_str()
    }

    pub(crate) fn annotation_names(&self) -> impl Iterator<Item = &str> {
        let annotations = self.0.pointer("/metadata/annotations").and_then(Value::as_object);
        annotations.into_iter().flatten().map(|(name, _)| name.as_str())
    }

    /// All versions, in the order in which they are written.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &Value> {
        self.0.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten()
    }

    pub(crate) fn version(&self, name: &str) -> Option<&Value> {
        self.versions().find(|version| version["name"] == name)
    }

    /// The version in which objects are stored.
    pub(crate) fn storage(&self) -> Option<&str> {
        self.versions().find(|version| version["storage"] == true)?["name"].as_str()
    }

    /// The versions in which objects may be stored.
    pub(crate) fn stored(&self) -> Vec<&str> {
        let stored = self.0.pointer("/status/storedVersions").and_then(Value::as_array).into_iter().flatten();
        stored.filter_map(Value::as_str).collect()
    }

    pub(crate) fn strategy(&self) -> Strategy {
        if self.text("/spec/conversion/strategy") == "Webhook" { Strategy::Webhook } else { Strategy::None }
    }

    /// The objects of the CRD in a version.
    pub(crate) fn resource(&self, version: &str) -> ApiResource {
        let kind = GroupVersionKind::gvk(self.text("/spec/group"), version, self.text("/spec/names/kind"));
        ApiResource::from_gvk_with_plural(&kind, self.text("/spec/names/plural"))
    }

    /// How objects are converted, as it is written.
    pub(crate) fn conversion(&self) -> Option<&Value> {
        self.0.pointer("/spec/conversion")
    }

    /// Where the webhook is that converts objects.
    pub(crate) fn client_config(&self) -> Option<&Value> {
        self.0.pointer("/spec/conversion/webhook/clientConfig")
    }

    /// The Service that converts objects.
    pub(crate) fn service(&self) -> Option<ServiceName> {
        service_name(self.client_config()?.get("service")?)
    }

    /// Whom API servers trust when objects are converted, in base64.
    pub(crate) fn ca_bundle(&self) -> Option<&str> {
        self.client_config()?.get("caBundle")?.as_str().filter(|bundle| !bundle.is_empty())
    }

    /// A condition's status and message.
    pub(crate) fn condition(&self, wanted: &str) -> Option<(&str, &str)> {
        let conditions = self.0.pointer("/status/conditions").and_then(Value::as_array);
        let condition = conditions.into_iter().flatten().find(|condition| condition["type"] == wanted)?;
        Some((condition["status"].as_str()?, condition["message"].as_str().unwrap_or_default()))
    }

    fn text(&self, pointer: &str) -> &str {
        self.0.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }
}

/// A reference to a Service, as stanzas write it.
pub(crate) fn service_name(reference: &Value) -> Option<ServiceName> {
    let text = |name: &str| reference[name].as_str().unwrap_or_default().to_owned();
    reference.is_object().then(|| ServiceName { namespace: text("namespace"), name: text("name") })
}

impl From<Value> for Definition {
    fn from(document: Value) -> Self {
        Self(document)
    }
}

impl From<DynamicObject> for Definition {
    fn from(object: DynamicObject) -> Self {
        // The object was read from JSON: it has a JSON form.
        Self(serde_json::to_value(object).unwrap_or_default())
    }
}
