//! What a keeper is told: the names of what it keeps, and what the certificates are to be.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gateward_certs::rotation::CertificateSpec;
use gateward_certs::{CommonName, KeySource, Lifetimes, ServerNames};

use serde_json::Value;

use crate::lease::LeaseTimes;
use crate::permissions::ResourceName;

/// The names of an installation, and what its certificates are to be.
#[derive(Clone)]
pub struct Setup {
    /// The namespace of Secrets, lease and Pods.
    pub namespace: String,
    /// The two Secrets.
    pub secrets: Secrets,
    /// The lease that lets one replica write.
    pub lease: LeaseSetup,
    /// Who carries bundles.
    pub consumers: ConsumerRules,
    /// Who serves.
    pub replicas: ReplicaRules,
    /// What the certificates are to be.
    pub certificates: Certificates,
    /// Under which name the API server notes what is written here.
    pub field_manager: String,
}

/// The Secrets of server and authority.
#[derive(Debug, Clone)]
pub struct Secrets {
    /// The name of the server's.
    pub leaf: String,
    /// The name of the authority's, which no Pod mounts.
    pub authority: String,
    /// The labels that both are created with; on one that is there they are added when it is written.
    pub labels: BTreeMap<String, String>,
}

/// The writer's lease.
#[derive(Debug, Clone)]
pub struct LeaseSetup {
    /// Its name.
    pub name: String,
    /// This replica, for people: its Pod's name. What tells two processes apart is added to it.
    pub holder: String,
    /// How long it lasts.
    pub times: LeaseTimes,
}

/// Which objects carry bundles of ours.
#[derive(Debug, Clone)]
pub struct ConsumerRules {
    /// The ValidatingWebhookConfiguration that is ours to write.
    pub validating: String,
    /// The MutatingWebhookConfiguration that is ours to write.
    pub mutating: String,
    /// The labels by which configurations are found beside those. One of another name is told, and not written.
    pub labels: BTreeMap<String, String>,
    /// The CustomResourceDefinitions that we convert. One that isn't there yet is waited for.
    pub crds: Vec<String>,
    /// The kinds that our webhooks judge and default: whoever else does is a rival.
    pub kinds: Vec<ResourceName>,
    /// The Service that the API server calls: entries that call another one, or a URL, are not ours.
    pub service: ServiceName,
    /// The stanza `spec.conversion` of the CRDs without its `caBundle`; null where none is to be restored.
    pub conversion: Value,
}

/// A Service.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServiceName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// How replicas are found and asked for their certificate.
#[derive(Debug, Clone)]
pub struct ReplicaRules {
    /// The labels of their Pods.
    pub labels: BTreeMap<String, String>,
    /// The port on which they serve.
    pub port: u16,
}

/// What the certificates are to be.
#[derive(Clone)]
pub struct Certificates {
    /// The names that the server is called by.
    pub names: ServerNames,
    /// The name that new authorities get.
    pub ca_name: CommonName,
    /// How long they live.
    pub lifetimes: Lifetimes,
    /// Where new keys come from.
    pub keys: Arc<dyn KeySource + Send + Sync>,
    /// How long a state of affairs has to stand: [`CertificateSpec::SETTLE`] unless a test is in a hurry.
    pub settle: Duration,
}

impl Setup {
    /// What the decisions are made by.
    pub fn wanted(&self) -> CertificateSpec {
        let Certificates { names, ca_name, lifetimes, settle, .. } = self.certificates.clone();
        let named = |secret: &str| format!("{}/{secret}", self.namespace);
        let (serving_secret, ca_secret) = (named(&self.secrets.leaf), named(&self.secrets.authority));
        CertificateSpec { serving_secret, ca_secret, names, ca_name, lifetimes, settle }
    }
}

impl fmt::Display for ServiceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}
