//! The serving Secret, the CA's Secret and that of the bundle in the API server.

use std::collections::BTreeMap;

use gateward_certs::rotation::{CaSecret, SecretChange};
use gateward_certs::secret::{CA_CRT, SecretData};
use gateward_certs::trust::BundleSecret;
use gateward_certs::{CaBundle, CaInjection, Provision};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{ObjectMeta, PostParams};
use kube::core::PartialObjectMeta;

use crate::config::ControllerConfig;
use crate::connection::Connection;
use crate::request::{RequestError, with_read_timeout, with_short_timeout};

/// One of the Secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ManagedSecret {
    /// The serving Secret.
    Serving,
    /// The CA's Secret.
    Ca,
    /// The Secret with the bundle that cert-manager injects.
    Bundle,
}

impl ManagedSecret {
    /// The type of a new Secret: the type of an existing one is immutable.
    fn type_of_secret(self) -> &'static str {
        match self {
            Self::Serving => "kubernetes.io/tls",
            Self::Ca | Self::Bundle => "Opaque",
        }
    }
}

/// Reads and writes the Secrets.
#[derive(Clone)]
pub(crate) struct SecretStore {
    api: Api<Secret>,
    names: crate::config::SecretNames,
    parameters: PostParams,
}

impl SecretStore {
    pub(crate) fn new(connection: &Connection, config: &ControllerConfig) -> Self {
        Self {
            api: Api::namespaced(connection.client(), &config.namespace),
            names: config.secrets.clone(),
            parameters: PostParams { field_manager: Some(config.field_manager.clone()), ..PostParams::default() },
        }
    }

    pub(crate) fn name(&self, which: ManagedSecret) -> &str {
        match which {
            ManagedSecret::Serving => &self.names.serving,
            ManagedSecret::Ca => &self.names.ca,
            ManagedSecret::Bundle => &self.names.bundle,
        }
    }

    /// For watches of metadata.
    pub(crate) fn metadata(&self) -> Api<PartialObjectMeta<Secret>> {
        Api::namespaced(self.api.clone().into_client(), self.api.namespace().unwrap_or_default())
    }

    /// The newest state of a Secret, read without a cache.
    pub(crate) async fn read(&self, which: ManagedSecret) -> Result<Option<Secret>, RequestError> {
        with_read_timeout(self.api.get_opt(self.name(which))).await
    }

    /// Changes a Secret that was read, or creates it whole if it was not there. Both fail if another client was first.
    pub(crate) async fn write(
        &self,
        which: ManagedSecret,
        before: Option<&Secret>,
        change: SecretChange,
    ) -> Result<Secret, RequestError> {
        let name = self.name(which);
        let new = || {
            let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
            Secret { metadata, type_: Some(which.type_of_secret().to_owned()), ..Secret::default() }
        };
        let secret = changed(before.cloned().unwrap_or_else(new), change, &self.names.labels);
        match before {
            Some(_) => with_short_timeout(self.api.replace(name, &self.parameters, &secret)).await,
            None => with_short_timeout(self.api.create(&self.parameters, &secret)).await,
        }
    }
}

/// The content of a Secret.
pub(crate) fn data(secret: &Secret) -> SecretData {
    let fields = secret.data.iter().flatten();
    fields.map(|(name, content)| (name.clone(), content.0.clone())).collect()
}

/// The CA's Secret as rotation reads it.
pub(crate) fn ca(secret: &Secret) -> CaSecret {
    CaSecret { data: data(secret), annotations: secret.metadata.annotations.clone().unwrap_or_default() }
}

/// The Secret with the bundle as its steps read it.
pub(crate) fn bundle(secret: &Secret) -> BundleSecret {
    BundleSecret { data: data(secret), annotations: secret.metadata.annotations.clone().unwrap_or_default() }
}

/// The Secret in which the leader keeps its state.
pub(crate) fn state_secret(provision: &Provision) -> Option<ManagedSecret> {
    match provision {
        Provision::Automatic => Some(ManagedSecret::Ca),
        Provision::CertManager { injection: CaInjection::Secret, .. } => Some(ManagedSecret::Bundle),
        Provision::CertManager { injection: CaInjection::Certificate, .. } | Provision::External { .. } => None,
    }
}

/// The CAs that each injection target has to have, by the Secret with the leader's state and the serving Secret.
pub(crate) fn trusted(provision: &Provision, state: Option<&Secret>, serving: Option<&Secret>) -> CaBundle {
    let in_ca_crt = |secret: Option<&Secret>| {
        let data = secret.map(data).unwrap_or_default();
        CaBundle::parse_lossy(data.field(CA_CRT).unwrap_or_default()).0
    };
    match provision {
        Provision::Automatic => state.map(|secret| ca(secret).trusted()).unwrap_or_default(),
        Provision::CertManager { injection: CaInjection::Secret, .. } => in_ca_crt(state),
        Provision::CertManager { injection: CaInjection::Certificate, ca_bundle } => {
            in_ca_crt(serving).merged(ca_bundle)
        }
        Provision::External { ca_bundle } if ca_bundle.is_empty() => in_ca_crt(serving),
        Provision::External { ca_bundle } => ca_bundle.clone(),
    }
}

/// The resourceVersion.
pub(crate) fn version(secret: Option<&Secret>) -> Option<&str> {
    secret.and_then(|secret| secret.metadata.resource_version.as_deref())
}

/// A Secret after a change: what the change doesn't name stays, and with it the resourceVersion that guards the write.
fn changed(mut secret: Secret, change: SecretChange, labels: &BTreeMap<String, String>) -> Secret {
    let fields = change.data.iter();
    secret.data = Some(fields.map(|(name, content)| (name.to_owned(), ByteString(content.to_vec()))).collect());
    let annotations = secret.metadata.annotations.get_or_insert_default();
    for (name, value) in change.annotations {
        match value {
            Some(value) => annotations.insert(name, value),
            None => annotations.remove(&name),
        };
    }
    let labelled = secret.metadata.labels.get_or_insert_default();
    labelled.extend(labels.iter().map(|(name, value)| (name.clone(), value.clone())));
    secret
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_keeps_what_others_wrote_and_the_guard() {
        let theirs = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        let metadata = ObjectMeta {
            resource_version: Some("7".to_owned()),
            annotations: Some([("theirs", "stays"), ("ours", "goes")].map(theirs).into()),
            labels: Some([("theirs", "stays")].map(theirs).into()),
            ..ObjectMeta::default()
        };
        let type_ = Some("Opaque".to_owned());
        let before = Secret { metadata, type_, ..Secret::default() };
        let annotations = BTreeMap::from([("ours".to_owned(), None), ("new".to_owned(), Some("here".to_owned()))]);
        let change = SecretChange { data: SecretData::default().with("tls.crt", "x"), annotations };
        let after = changed(before, change, &[("part-of", "zoo")].map(theirs).into());

        assert_eq!(data(&after), SecretData::default().with("tls.crt", "x"));
        assert_eq!(after.metadata.annotations, Some([("theirs", "stays"), ("new", "here")].map(theirs).into()));
        assert_eq!(after.metadata.labels, Some([("theirs", "stays"), ("part-of", "zoo")].map(theirs).into()));
        assert_eq!((after.type_.as_deref(), version(Some(&after))), (Some("Opaque"), Some("7")));
    }
}
