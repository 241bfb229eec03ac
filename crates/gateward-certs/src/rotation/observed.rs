//! The spec of the certificates, and the observed state of the cluster.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, SystemTime};

use rustls_pki_types::CertificateDer;

use crate::fingerprint::Fingerprint;
use crate::names::{CommonName, ServerNames};
use crate::rotation::progress::RotationAnnotations;
use crate::secret::SecretData;
use crate::validity::Lifetimes;

/// The desired certificates.
#[derive(Debug, Clone)]
pub struct CertificateSpec {
    /// The serving Secret, as `namespace/name`: for messages.
    pub serving_secret: String,
    /// The CA's Secret, as `namespace/name`: for messages.
    pub ca_secret: String,
    /// The annotations of the CA's Secret.
    pub annotations: RotationAnnotations,
    /// The DNS names of the serving certificate.
    pub names: ServerNames,
    /// The common name of new CAs.
    pub ca_name: CommonName,
    /// How long new certificates live.
    pub lifetimes: Lifetimes,
    /// How long a state has to be stable before a step relies on it: the time within which every API server observes a
    /// `caBundle` that was written.
    pub settle: Duration,
}

impl CertificateSpec {
    /// The default of [`settle`](Self::settle).
    pub const SETTLE: Duration = Duration::from_secs(5);
}

/// The state of the cluster, read in this order: the CA's Secret, the replicas, the injection targets, the serving
/// Secret, and the CA's Secret again. If its resourceVersion has changed in between, everything is read anew.
///
/// The order matters: so everything was seen within one phase, and a leader that is late finds that the object it wants
/// to write has changed. The CA's Secret is not read from a cache.
///
/// After a failed read there is no observed state, and nothing to decide on.
#[derive(Debug, Clone)]
pub struct ObservedState<'a> {
    /// The desired certificates.
    pub spec: &'a CertificateSpec,
    /// The CA's Secret.
    pub ca_secret: Option<CaSecret>,
    /// The serving Secret.
    pub serving_secret: Option<SecretData>,
    /// All injection targets: each entry of each webhook configuration, each conversion stanza.
    pub targets: Vec<InjectionTarget>,
    /// All pods that requests may reach, now or soon: those that are ready, that start, and that drain.
    pub replicas: Vec<Replica>,
    /// What the API server's clock said (the `Date` of its last answer). It is the API server that checks dates.
    pub api_server_time: Option<SystemTime>,
    /// The hash of the last [`Wait::Settling`](super::Wait::Settling) that this very process has waited for.
    pub settled: Option<StateHash>,
}

impl<'a> ObservedState<'a> {
    /// An empty cluster.
    pub fn empty(spec: &'a CertificateSpec) -> Self {
        let (targets, replicas) = (Vec::new(), Vec::new());
        Self { spec, ca_secret: None, serving_secret: None, targets, replicas, api_server_time: None, settled: None }
    }
}

/// The CA's Secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CaSecret {
    /// Its data.
    pub data: SecretData,
    /// Its annotations: those that aren't ours are passed over.
    pub annotations: BTreeMap<String, String>,
}

/// A webhook entry or a conversion stanza whose `caBundle` is injected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InjectionTarget {
    /// Which one.
    pub id: InjectionTargetId,
    /// What changes whenever the bundle is written, be it with what it held before: the object's uid with its
    /// generation, or its resourceVersion.
    pub revision: String,
    /// The `caBundle`, decoded from base64: PEM, or anything else.
    pub bundle: Vec<u8>,
}

/// Which injection target.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InjectionTargetId {
    /// The object, as kind and name.
    pub object: String,
    /// The entry in it.
    pub entry: String,
}

impl fmt::Display for InjectionTargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.object, self.entry)
    }
}

/// A pod, and the certificate that it serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replica {
    /// The pod's name.
    pub name: String,
    /// Whether requests reach it: it is ready, or it drains and may still be called.
    pub gets_requests: bool,
    /// The certificate that it served when it was probed, if it answered.
    pub served: Option<CertificateDer<'static>>,
    /// What it sent beside that certificate.
    pub intermediates: Vec<CertificateDer<'static>>,
}

impl Replica {
    /// The chain that it served, the end-entity certificate first; empty if it did not answer.
    pub fn chain(&self) -> Vec<CertificateDer<'static>> {
        self.served.iter().chain(self.served.as_ref().map_or(&[][..], |_| &self.intermediates)).cloned().collect()
    }
}

/// A hash of a state, to detect whether it has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateHash(Fingerprint);

impl StateHash {
    /// Of the `caBundle`s of all injection targets.
    pub(super) fn of_targets(targets: &[InjectionTarget]) -> Self {
        let parts = |target: &InjectionTarget| {
            let InjectionTargetId { object, entry } = target.id.clone();
            [object.into_bytes(), entry.into_bytes(), target.revision.clone().into_bytes(), target.bundle.clone()]
        };
        Self::of("targets", targets.iter().map(parts).collect())
    }

    /// Of the certificates of all replicas that answer.
    pub(super) fn of_replicas(replicas: &[Replica]) -> Self {
        let parts = |replica: &Replica| {
            let served = replica.served.as_ref()?;
            Some([replica.name.clone().into_bytes(), served.to_vec()])
        };
        Self::of("replicas", replicas.iter().filter_map(parts).collect())
    }

    /// Of both.
    pub(crate) fn of_state(targets: &[InjectionTarget], replicas: &[Replica]) -> Self {
        let hash = |Self(hash): Self| hash.to_string().into_bytes();
        Self::of("state", vec![[hash(Self::of_targets(targets)), hash(Self::of_replicas(replicas))]])
    }

    fn of<const N: usize>(what: &str, mut parts: Vec<[Vec<u8>; N]>) -> Self {
        parts.sort();
        let mut text = what.as_bytes().to_vec();
        for part in parts.iter().flatten() {
            text.extend((part.len() as u64).to_be_bytes());
            text.extend(part);
        }
        Self(Fingerprint::of(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(entry: &str, revision: &str, bundle: &str) -> InjectionTarget {
        let id = InjectionTargetId { object: "crd".to_owned(), entry: entry.to_owned() };
        InjectionTarget { id, revision: revision.to_owned(), bundle: bundle.into() }
    }

    #[test]
    fn a_hash_does_not_depend_on_the_order_of_reading() {
        let (one, other) = (target("a", "1", "x"), target("b", "1", "x"));
        let hash = StateHash::of_targets(&[one.clone(), other.clone()]);
        assert_eq!(StateHash::of_targets(&[other, one]), hash);
    }

    #[test]
    fn a_hash_changes_with_every_part_of_the_state() {
        let hash = |target| StateHash::of_targets(&[target]);
        let first = hash(target("a", "1", "x"));
        for other in [target("b", "1", "x"), target("a", "2", "x"), target("a", "1", "y"), target("a1", "", "x")] {
            assert_ne!(hash(other), first);
        }
    }
}
