//! Configuration of the controller: the names of its objects, and the certificates it issues.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gateward_certs::rotation::{CertificateSpec, RotationAnnotations};
use gateward_certs::{CommonName, KeySource, Lifetimes, Provision, ServerNames};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::permissions::ResourceName;

/// Configuration of a [`CertController`](crate::CertController).
#[derive(Clone)]
pub struct ControllerConfig {
    /// The namespace of Secrets, lease and Pods.
    pub namespace: String,
    /// Who provides certificates and `caBundle`s.
    pub provision: Provision,
    /// The Secrets.
    pub secrets: SecretNames,
    /// The Lease for leader election.
    pub lease: LeaseConfig,
    /// The injection targets.
    pub targets: InjectionRules,
    /// The replicas.
    pub replicas: ReplicaConfig,
    /// The certificates to issue.
    pub certificates: IssuanceConfig,
    /// The namespaces that are served.
    pub namespaces: ServedNamespaces,
    /// The field manager of all writes.
    pub field_manager: String,
    /// What the keys of the operator's annotations begin with.
    pub annotation_prefix: String,
}

/// The namespaces that an operator serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServedNamespaces {
    /// All of them, but what operators of one namespace have claimed.
    All(ClaimsConfig),
    /// One, which a Lease claims.
    One(NamespaceLeaseConfig),
}

/// How an operator of the whole cluster treats claimed namespaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClaimsConfig {
    /// The names of Leases that claim the namespace that they are in; without one, none is claimed.
    pub leases: Vec<String>,
    /// Whether claimed namespaces are left out of our own webhooks too.
    pub claimed: ClaimedNamespaces,
}

/// Whether claimed namespaces are left out of our own webhooks at the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClaimedNamespaces {
    /// They aren't: our webhooks are called and pass what is claimed.
    #[default]
    Called,
    /// They are, so that an operator of one namespace doesn't depend on this one.
    Excluded,
}

/// The Lease by which an operator of one namespace claims it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceLeaseConfig {
    /// The namespace.
    pub namespace: String,
    /// The name of the Lease.
    pub name: String,
    /// The release that holds it.
    pub release: String,
    /// Its periods.
    pub times: NamespaceLeaseTimes,
}

/// How long a lease counts after each renewal, and how often it is renewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamespaceLeaseTimes {
    /// The time without a renewal after which the cluster-wide operator takes over.
    pub duration: Duration,
    /// The time between two renewals.
    pub renew_interval: Duration,
}

impl Default for NamespaceLeaseTimes {
    /// Those of the Dynamo Operator: 30 and 10 seconds.
    fn default() -> Self {
        Self { duration: Duration::from_secs(30), renew_interval: Duration::from_secs(10) }
    }
}

/// The names of the Secrets.
#[derive(Debug, Clone)]
pub struct SecretNames {
    /// The serving Secret.
    pub serving: String,
    /// The CA's Secret, which no Pod mounts: of [`Provision::Automatic`].
    pub ca: String,
    /// The Secret with the bundle that cert-manager injects: of [`Provision::CertManager`].
    pub bundle: String,
    /// The labels of those that are ours, set when they are created or written.
    pub labels: BTreeMap<String, String>,
}

/// The Lease for leader election.
#[derive(Debug, Clone)]
pub struct LeaseConfig {
    /// Its name.
    pub name: String,
    /// The Pod's name. A suffix that differs in each process completes the holder identity.
    pub holder: String,
    /// Its periods.
    pub times: LeaseTimes,
}

/// The periods of leader election, as client-go names them.
///
/// A leader that can't renew the lease stops writing after [`renew_deadline`](Self::renew_deadline); others acquire it
/// after
/// [`lease_duration`](Self::lease_duration) at the earliest, so that two replicas never lead at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTimes {
    /// How often the leader renews the lease, and the others read it.
    pub retry_period: Duration,
    /// For how long after its last renewal the leader may write.
    pub renew_deadline: Duration,
    /// The time without a renewal after which another replica acquires it. The API server stores whole seconds.
    pub lease_duration: Duration,
}

impl Default for LeaseTimes {
    /// Those of Kubernetes' own leases: 2, 10 and 15 seconds.
    fn default() -> Self {
        let [retry_period, renew_deadline, lease_duration] = [2, 10, 15].map(Duration::from_secs);
        Self { retry_period, renew_deadline, lease_duration }
    }
}

/// Which objects are injection targets.
#[derive(Debug, Clone)]
pub struct InjectionRules {
    /// The ValidatingWebhookConfiguration that is ours to write.
    pub validating: String,
    /// The MutatingWebhookConfiguration that is ours to write.
    pub mutating: String,
    /// The labels by which configurations are found beside those. One of another name is reported, and not written.
    pub labels: BTreeMap<String, String>,
    /// The CustomResourceDefinitions that we convert. They may be created later.
    pub crds: Vec<String>,
    /// The kinds that our webhooks validate and default. Other webhooks for them are conflicts.
    pub kinds: Vec<ResourceName>,
    /// The Service that the API server calls: entries that call another one, or a URL, are not ours.
    pub service: ServiceName,
    /// The annotation of a CRD that names the Service of the release that has its objects converted, as
    /// `namespace/name`: see [`converted_by`](crate::crds::converted_by).
    pub converted_by: String,
    /// The stanzas `spec.conversion` to restore, without a `caBundle`, by the names of their CRDs.
    pub conversion: BTreeMap<String, Value>,
}

#[cfg(test)]
impl InjectionRules {
    /// Those of a release `zoo` that has the Service `zoo/otter`, and neither labels, CRDs nor kinds.
    pub(crate) fn of_zoo() -> Self {
        Self {
            validating: "zoo-validating".to_owned(),
            mutating: "zoo-mutating".to_owned(),
            labels: BTreeMap::new(),
            crds: Vec::new(),
            kinds: Vec::new(),
            service: ServiceName { namespace: "zoo".to_owned(), name: "otter".to_owned() },
            converted_by: "otter.zoo.org/converted-by".to_owned(),
            conversion: BTreeMap::new(),
        }
    }
}

/// A Service.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServiceName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// How replicas are listed and probed.
#[derive(Debug, Clone)]
pub struct ReplicaConfig {
    /// The labels of their Pods.
    pub labels: BTreeMap<String, String>,
    /// The port on which they serve.
    pub port: u16,
}

/// The certificates to issue.
#[derive(Clone)]
pub struct IssuanceConfig {
    /// The DNS names of the serving certificate.
    pub names: ServerNames,
    /// The common name of new CAs.
    pub ca_name: CommonName,
    /// How long they live.
    pub lifetimes: Lifetimes,
    /// Where new keys come from.
    pub keys: Arc<dyn KeySource + Send + Sync>,
    /// How long a state has to be stable: [`CertificateSpec::SETTLE`], less in tests.
    pub settle: Duration,
}

impl ControllerConfig {
    /// The spec that rotation decides by.
    pub fn spec(&self) -> CertificateSpec {
        let IssuanceConfig { names, ca_name, lifetimes, settle, .. } = self.certificates.clone();
        let named = |secret: &str| format!("{}/{secret}", self.namespace);
        let (serving_secret, ca_secret) = (named(&self.secrets.serving), named(&self.secrets.ca));
        let annotations = RotationAnnotations::of(&self.annotation_prefix);
        CertificateSpec { serving_secret, ca_secret, annotations, names, ca_name, lifetimes, settle }
    }
}

impl fmt::Display for ServiceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}
