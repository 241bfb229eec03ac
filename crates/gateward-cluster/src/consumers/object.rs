//! What is read of the objects that carry bundles: a few fields of what may be a megabyte.

use std::borrow::Cow;
use std::fmt;
use std::time::SystemTime;

use k8s_openapi::ByteString;
use kube::Resource;
use kube::api::ObjectMeta;
use kube::core::ClusterResourceScope;
use serde::{Deserialize, Serialize};

/// The kinds that carry bundles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ConsumerKind {
    Validating,
    Mutating,
    Crd,
}

/// An object of one of these kinds, as far as it matters here.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ConsumerObject {
    pub(super) metadata: ObjectMeta,
    /// The entries of a webhook configuration.
    #[serde(default)]
    pub(super) webhooks: Vec<Webhook>,
    /// The specification of a CRD.
    #[serde(default)]
    pub(super) spec: Option<CrdSpec>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Webhook {
    pub(super) name: String,
    #[serde(default)]
    pub(super) client_config: ClientConfig,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClientConfig {
    pub(super) service: Option<ServiceReference>,
    pub(super) ca_bundle: Option<ByteString>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ServiceReference {
    pub(super) namespace: String,
    pub(super) name: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct CrdSpec {
    pub(super) conversion: Option<Conversion>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Conversion {
    #[serde(default)]
    pub(super) strategy: String,
    pub(super) webhook: Option<ConversionWebhook>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConversionWebhook {
    pub(super) client_config: Option<ClientConfig>,
}

impl ConsumerObject {
    /// The object's name.
    pub(super) fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// What the API server calls this state of the object.
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

    /// When anyone has changed it last, by the API server's clock, and who.
    pub(crate) fn last_change(&self) -> Option<(SystemTime, &str)> {
        let changes = self.metadata.managed_fields.iter().flatten();
        let dated = changes.filter_map(|entry| {
            let time = entry.time.as_ref().map(|time| SystemTime::from(time.0))?;
            Some((time, entry.manager.as_deref().unwrap_or("somebody")))
        });
        dated.max_by_key(|(time, _)| *time)
    }
}

impl ConsumerKind {
    fn text(self) -> &'static str {
        match self {
            Self::Validating => "ValidatingWebhookConfiguration",
            Self::Mutating => "MutatingWebhookConfiguration",
            Self::Crd => "CustomResourceDefinition",
        }
    }
}

impl fmt::Display for ConsumerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Resource for ConsumerObject {
    type DynamicType = ConsumerKind;
    type Scope = ClusterResourceScope;

    fn kind(kind: &ConsumerKind) -> Cow<'_, str> {
        kind.text().into()
    }

    fn group(kind: &ConsumerKind) -> Cow<'_, str> {
        match kind {
            ConsumerKind::Validating | ConsumerKind::Mutating => "admissionregistration.k8s.io".into(),
            ConsumerKind::Crd => "apiextensions.k8s.io".into(),
        }
    }

    fn version(_: &ConsumerKind) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural(kind: &ConsumerKind) -> Cow<'_, str> {
        format!("{}s", kind.text().to_lowercase()).into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
