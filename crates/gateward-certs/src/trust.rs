//! Keeps the bundle that the cainjector of cert-manager injects, while cert-manager changes the CA.
//!
//! The cainjector writes the `caBundle` of one object after the other, and may replace what is there: it merges by default
//! only since cert-manager 1.19. So it is given a Secret of ours (`cert-manager.io/inject-ca-from-secret`), whose `ca.crt`
//! the leader keeps:
//!
//! | the bundle holds | it goes on when |
//! |---|---|
//! | the old and the new CA, as soon as the serving Secret names the new one | each injection target was read back with both |
//! | the same, while each replica goes over to the new certificate by itself | each replica was probed, and the new CA verifies what it serves, stable for a while |
//! | the new CA | |
//!
//! At every moment, the `caBundle` of each injection target verifies each replica. [`next_step`] decides on one write or
//! one wait, and keeps nothing between two steps but the hash of the last wait.
//!
//! # Obligations of the caller
//!
//! - It reads in the order that [`ObservedTrust`] gives, and guards a write by the resourceVersion of the bundle's Secret,
//!   or by creating it.
//! - It writes while it holds a lease.
//! - A replica that serves a certificate goes over to another one once each injection target that verifies the first
//!   verifies the second, stable for [`ObservedTrust::settle`].
//! - A replica turns ready after its certificate verifies against every `caBundle`, stable for as long.

use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, SystemTime};

use crate::ca_bundle::CaBundle;
use crate::rotation::{InjectionTarget, Phase, Replica, SecretChange, StateHash, Wait};
use crate::secret::{CA_CRT, SecretData};
use crate::validity::Validity;

/// The annotation by which the cainjector is allowed to read a Secret.
pub const ALLOW_INJECTION_ANNOTATION: &str = "cert-manager.io/allow-direct-injection";

/// The state of the cluster, read in this order: the bundle's Secret, the replicas, the injection targets, the serving
/// Secret, and the bundle's Secret again. If its resourceVersion has changed in between, everything is read anew.
#[derive(Debug, Clone)]
pub struct ObservedTrust<'a> {
    /// The serving Secret, as `namespace/name`: for messages.
    pub serving_name: &'a str,
    /// The Secret with the bundle.
    pub bundle_secret: Option<BundleSecret>,
    /// The serving Secret, which cert-manager writes.
    pub serving_secret: Option<SecretData>,
    /// CAs beside those that the serving Secret names.
    pub configured: CaBundle,
    /// All injection targets.
    pub targets: Vec<InjectionTarget>,
    /// All pods that requests may reach, now or soon.
    pub replicas: Vec<Replica>,
    /// The present time, by the API server's clock.
    pub now: SystemTime,
    /// The hash of the last [`Wait::Settling`] that this very process has waited for.
    pub settled: Option<StateHash>,
    /// How long a state has to be stable before a step relies on it.
    pub settle: Duration,
}

/// The Secret with the bundle.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BundleSecret {
    /// Its data.
    pub data: SecretData,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
}

/// One write or one wait. Its text is what `certs status` prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustStep {
    /// The Secret with the bundle is to be written.
    Write(BundleWrite),
    /// Nothing is to be done before something changes or time has passed.
    Wait(Wait),
}

/// What is to be written to the Secret with the bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleWrite {
    /// The whole bundle.
    pub bundle: CaBundle,
    /// What it is for.
    pub purpose: BundlePurpose,
}

/// What a bundle is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundlePurpose {
    /// CAs that are missing are added.
    Add,
    /// CAs that no replica needs any more are removed.
    Remove,
}

impl BundleWrite {
    /// The contents. `observed` is the state that the step was decided on.
    pub fn contents(&self, observed: &ObservedTrust<'_>) -> SecretChange {
        let data = observed.bundle_secret.as_ref().map(|secret| secret.data.clone()).unwrap_or_default();
        SecretChange {
            data: data.with(CA_CRT, self.bundle.to_pem()),
            annotations: [(ALLOW_INJECTION_ANNOTATION.to_owned(), Some("true".to_owned()))].into(),
        }
    }
}

impl ObservedTrust<'_> {
    /// The CAs that the serving Secret and the configuration name: the bundle holds them and, in the end, no others.
    pub fn roots(&self) -> CaBundle {
        let named = self.serving_secret.as_ref().and_then(|data| data.field(CA_CRT)).unwrap_or_default();
        CaBundle::parse_lossy(named).0.merged(&self.configured)
    }

    /// The CAs in the bundle's Secret, with those of the injection targets where it is damaged or not there.
    fn present(&self) -> (CaBundle, Completeness) {
        let carried = || {
            let bundles = self.targets.iter().map(|target| CaBundle::parse_lossy(&target.bundle).0);
            bundles.fold(CaBundle::default(), |all, bundle| all.merged(&bundle)).without_expired(self.now)
        };
        let Some(secret) = &self.bundle_secret else { return (carried(), Completeness::Lacking) };
        let (bundle, flaws) = CaBundle::parse_lossy(secret.data.field(CA_CRT).unwrap_or_default());
        if bundle.is_empty() || !flaws.is_empty() {
            return (bundle.merged(&carried()), Completeness::Lacking);
        }
        let allowed = secret.annotations.get(ALLOW_INJECTION_ANNOTATION).is_some_and(|value| value == "true");
        (bundle, if allowed { Completeness::Complete } else { Completeness::Lacking })
    }
}

/// Whether the Secret with the bundle can be injected as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Completeness {
    Complete,
    Lacking,
}

/// Decides the next step, by nothing but its argument.
pub fn next_step(observed: &ObservedTrust<'_>) -> TrustStep {
    let roots = observed.roots();
    if roots.is_empty() {
        return TrustStep::Wait(Wait::ServingSecret { why: lacking_root(observed) });
    }
    let (present, completeness) = observed.present();
    if completeness == Completeness::Lacking || !present.contains_all(&roots) {
        let bundle = present.without_expired(observed.now).merged(&roots);
        return TrustStep::Write(BundleWrite { bundle, purpose: BundlePurpose::Add });
    }
    if let Some(wait) = wait_for_injection(observed, &roots) {
        return TrustStep::Wait(wait);
    }
    if present.len() == roots.len() {
        return TrustStep::Wait(Wait::Idle { until: earliest_end(observed, &roots) });
    }
    match wait_for_replicas(observed, &roots) {
        Some(wait) => TrustStep::Wait(wait),
        None => TrustStep::Write(BundleWrite { bundle: roots, purpose: BundlePurpose::Remove }),
    }
}

/// How far a change of the CA has come; `None` while the bundle holds no CA beside those that are to stay.
///
/// It is [`Phase::Publish`] until each injection target has the new CA, and [`Phase::Switch`] until each replica serves a
/// certificate of it. There is no [`Phase::Retire`]: nothing waits for the cainjector to remove the old CA.
pub fn phase(observed: &ObservedTrust<'_>) -> Option<Phase> {
    let roots = observed.roots();
    let (present, completeness) = observed.present();
    let outgoing = present.filtered(|anchor| !roots.contains(anchor));
    if roots.is_empty() || outgoing.is_empty() {
        return None;
    }
    let published = completeness == Completeness::Complete
        && present.contains_all(&roots)
        && wait_for_injection(observed, &roots).is_none();
    Some(if published { Phase::Switch } else { Phase::Publish })
}

fn lacking_root(observed: &ObservedTrust<'_>) -> String {
    let name = observed.serving_name;
    match &observed.serving_secret {
        None => format!("cert-manager to make Secret {name}: see whether it is installed, and its Certificate ready"),
        Some(_) => format!(
            "a CA: Secret {name} names none in ca.crt, as some issuers leave it; set webhook.caBundle to the CA of the \
             issuer"
        ),
    }
}

/// Waits until the cainjector has given each injection target the CAs.
fn wait_for_injection(observed: &ObservedTrust<'_>, roots: &CaBundle) -> Option<Wait> {
    let lacks = |target: &&InjectionTarget| !CaBundle::parse_lossy(&target.bundle).0.contains_all(roots);
    let lacking: Vec<_> = observed.targets.iter().filter(lacks).map(|target| target.id.clone()).collect();
    (!lacking.is_empty()).then_some(Wait::Injection { lacking })
}

/// Waits until these CAs alone verify what each replica stably serves.
fn wait_for_replicas(observed: &ObservedTrust<'_>, roots: &CaBundle) -> Option<Wait> {
    let replicas = &observed.replicas;
    let named = |replica: &Replica| replica.name.clone();
    let lags = |replica: &&Replica| replica.served.is_some() && !roots.verifies_chain(&replica.chain(), None);
    let lagging: Vec<_> = replicas.iter().filter(lags).map(named).collect();
    let is_silent = |replica: &&Replica| replica.gets_requests && replica.served.is_none();
    let silent: Vec<_> = replicas.iter().filter(is_silent).map(named).collect();
    if !lagging.is_empty() || !silent.is_empty() {
        return Some(Wait::Replicas { lagging, silent });
    }
    if replicas.iter().all(|replica| replica.served.is_none()) {
        return Some(Wait::NoReplica);
    }
    let hash = StateHash::of_state(&observed.targets, replicas);
    let reached = "every injection target has the new CA, and every replica serves a certificate of it";
    (observed.settled != Some(hash)).then_some(Wait::Settling { hash, time: observed.settle, reached })
}

/// When the first certificate that is needed ends.
fn earliest_end(observed: &ObservedTrust<'_>, roots: &CaBundle) -> SystemTime {
    let served = observed.replicas.iter().flat_map(|replica| replica.served.iter());
    let served = served.filter_map(|certificate| Validity::of(certificate).ok());
    let ends = roots.iter().map(|anchor| anchor.validity().not_after()).chain(served.map(|it| it.not_after()));
    ends.min().unwrap_or(observed.now)
}

impl fmt::Display for TrustStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(BundleWrite { purpose: BundlePurpose::Add, .. }) => {
                f.write_str("write the CAs of cert-manager's certificate into the Secret that the cainjector injects")
            }
            Self::Write(BundleWrite { purpose: BundlePurpose::Remove, .. }) => f.write_str(
                "remove the old CA from the Secret that the cainjector injects: every replica serves a certificate of the \
                 new one",
            ),
            Self::Wait(wait) => wait.fmt(f),
        }
    }
}
