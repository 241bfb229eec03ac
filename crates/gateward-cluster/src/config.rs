//! What a keeper is told: the names of what it keeps, and what the certificates are to be.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gateward_certs::rotation::CertificateSpec;
use gateward_certs::{CommonName, KeySource, Lifetimes, ServerNames};

use serde_json::Value;

use crate::permissions::ResourceName;

/// The names of an installation, and what its certificates are to be.
#[derive(Clone)]
pub struct ControllerConfig {
    /// The namespace of Secrets, lease and Pods.
    pub namespace: String,
    /// The two Secrets.
    pub secrets: SecretNames,
    /// The lease that lets one replica write.
    pub lease: LeaseConfig,
    /// Who carries bundles.
    pub targets: InjectionRules,
    /// Who serves.
    pub replicas: ReplicaConfig,
    /// What the certificates are to be.
    pub certificates: CertificateConfig,
    /// Under which name the API server notes what is written here.
    pub field_manager: String,
}

/// The serving Secret and the CA's.
#[derive(Debug, Clone)]
pub struct SecretNames {
    /// The name of the server's.
    pub serving: String,
    /// The name of the CA's, which no Pod mounts.
    pub ca: String,
    /// The labels that both are created with; on one that is there they are added when it is written.
    pub labels: BTreeMap<String, String>,
}

/// The leader's lease.
#[derive(Debug, Clone)]
pub struct LeaseConfig {
    /// Its name.
    pub name: String,
    /// This replica, for people: its Pod's name. What tells two processes apart is added to it.
    pub holder: String,
    /// How long it lasts.
    pub times: LeaseTimes,
}

/// How long a lease lasts.
///
/// A holder that can't renew it stops writing after [`deadline`](Self::deadline); others take it after
/// [`duration`](Self::duration) at the earliest, so that nobody begins before the last one has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTimes {
    /// How often the holder renews it, and others look at it.
    pub renewal: Duration,
    /// For how long after its last renewal the holder may write.
    pub deadline: Duration,
    /// After how much time without a renewal another replica takes it. The API server keeps whole seconds of it.
    pub duration: Duration,
}

impl Default for LeaseTimes {
    /// Those of Kubernetes' own leases: 2, 10 and 15 seconds.
    fn default() -> Self {
        let [renewal, deadline, duration] = [2, 10, 15].map(Duration::from_secs);
        Self { renewal, deadline, duration }
    }
}

/// Which objects carry bundles of ours.
#[derive(Debug, Clone)]
pub struct InjectionRules {
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
pub struct ReplicaConfig {
    /// The labels of their Pods.
    pub labels: BTreeMap<String, String>,
    /// The port on which they serve.
    pub port: u16,
}

/// What the certificates are to be.
#[derive(Clone)]
pub struct CertificateConfig {
    /// The names that the server is called by.
    pub names: ServerNames,
    /// The name that new CAs get.
    pub ca_name: CommonName,
    /// How long they live.
    pub lifetimes: Lifetimes,
    /// Where new keys come from.
    pub keys: Arc<dyn KeySource + Send + Sync>,
    /// How long a state of affairs has to stand: [`CertificateSpec::SETTLE`] unless a test is in a hurry.
    pub settle: Duration,
}

impl ControllerConfig {
    /// What the decisions are made by.
    pub fn spec(&self) -> CertificateSpec {
        let CertificateConfig { names, ca_name, lifetimes, settle, .. } = self.certificates.clone();
        let named = |secret: &str| format!("{}/{secret}", self.namespace);
        let (serving_secret, ca_secret) = (named(&self.secrets.serving), named(&self.secrets.ca));
        CertificateSpec { serving_secret, ca_secret, names, ca_name, lifetimes, settle }
    }
}

impl fmt::Display for ServiceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}
