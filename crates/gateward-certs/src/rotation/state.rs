//! The state of a rotation: the observed state, parsed, with the conditions that the decisions use.

use std::time::{Duration, SystemTime};

use super::ca_secret::ParsedCaSecret;
use super::observed::{InjectionTarget, ObservedState, StateHash};
use super::step::{CaBundleWrite, CaSecretWrite, ServingSecretWrite, Signer, Step, Wait, Write};
use crate::ca::Ca;
use crate::ca_bundle::{CaBundle, TrustAnchor};
use crate::secret::{CA_KEY, CaFields, CaState, ServingCertificateRules, ServingCertificateState};
use crate::validity::{CLOCK_SKEW, Validity};

/// How far this pod's clock may be from the API server's: a certificate is dated back by more than this, so what is
/// made here now is valid there now.
const AGREEMENT: Duration = Duration::from_secs(CLOCK_SKEW.as_secs() / 2);

/// The parsed [`ObservedState`], on which the next step is decided.
pub(super) struct RotationState<'a> {
    pub(super) observed: &'a ObservedState<'a>,
    /// The present time, if this pod and the API server agree on it. Where they don't, dates are not checked and
    /// nothing is dated.
    pub(super) time: Option<SystemTime>,
    pub(super) now: SystemTime,
    pub(super) ca_secret: ParsedCaSecret,
    pub(super) targets: Vec<ParsedTarget<'a>>,
}

/// An injection target with its parsed `caBundle`.
pub(super) struct ParsedTarget<'a> {
    pub(super) target: &'a InjectionTarget,
    pub(super) bundle: CaBundle,
    flawed: bool,
}

impl ParsedTarget<'_> {
    fn lacks(&self, wanted: &CaBundle) -> bool {
        !self.bundle.contains_all(wanted)
    }

    fn write(&self, bundle: CaBundle) -> CaBundleWrite {
        CaBundleWrite { target: self.target.id.clone(), bundle }
    }
}

impl<'a> RotationState<'a> {
    pub(super) fn of(observed: &'a ObservedState<'a>, now: SystemTime) -> Self {
        let time = agreed(now, observed.api_server_time);
        let targets = observed.targets.iter().map(|target| {
            let (bundle, flaws) = CaBundle::parse_lossy(&target.bundle);
            ParsedTarget { target, bundle, flawed: !flaws.is_empty() }
        });
        Self { observed, time, now, ca_secret: ParsedCaSecret::read(observed, time), targets: targets.collect() }
    }

    /// The state of the serving certificate, given the trusted CAs.
    pub(super) fn serving(&self, trusted: &CaBundle) -> ServingCertificateState {
        let spec = self.observed.spec;
        let rules =
            ServingCertificateRules { secret: &spec.serving_secret, names: &spec.names, trusted, now: self.time };
        ServingCertificateState::of(self.observed.serving_secret.as_ref(), &rules)
    }

    /// All CAs of any injection target that have not expired.
    pub(super) fn carried(&self) -> CaBundle {
        let all: CaBundle = self.targets.iter().flat_map(|parsed| parsed.bundle.iter().cloned()).collect();
        self.current(&all)
    }

    /// The CAs that have not expired.
    pub(super) fn current(&self, bundle: &CaBundle) -> CaBundle {
        self.time.map_or_else(|| bundle.clone(), |time| bundle.without_expired(time))
    }

    /// CAs that may be in use, although the CA's Secret doesn't know them: some injection target trusts them, and
    /// they signed a served certificate, or the signer is unknown.
    pub(super) fn unknown_cas_in_use(&self, known: &CaBundle, serving: &ServingCertificateState) -> Option<CaBundle> {
        let unknown = self.carried().filtered(|anchor| !known.contains(anchor));
        if unknown.is_empty() {
            return None;
        }
        let mut served = self.observed.replicas.iter().filter_map(|replica| replica.served.as_ref());
        let in_use = |shown| !known.verifies(shown) && unknown.verifies(shown);
        (!serving.is_signed_by_ca() || served.any(in_use)).then_some(unknown)
    }

    /// A new serving certificate, if the present one has another fault than its age.
    pub(super) fn reissue_certificate(&self, serving: &ServingCertificateState, signer: Signer) -> Option<Step> {
        let sound = matches!(serving, ServingCertificateState::Complete(_) | ServingCertificateState::Expiring(_));
        (!sound && self.time.is_some()).then(|| issue(serving, signer))
    }

    /// A new serving certificate, if the present one is to be renewed and the next one would live longer.
    pub(super) fn renew_certificate(&self, serving: &ServingCertificateState, signer: Signer, ca: &Ca) -> Option<Step> {
        let ServingCertificateState::Expiring(certificate) = serving else { return None };
        let next = self.server_validity(ca)?;
        let gained = next.not_after() > certificate.validity().not_after()
            && self.time.is_some_and(|now| next.renewal_time() > now);
        gained.then(|| issue(serving, signer))
    }

    /// From when to when a serving certificate is valid that the CA issues now.
    pub(super) fn server_validity(&self, ca: &Ca) -> Option<Validity> {
        let lifetime = self.observed.spec.lifetimes.serving.duration();
        Validity::starting(self.time?, lifetime).ok()?.within(&ca.validity())
    }

    /// The CA whose key is in the serving Secret.
    pub(super) fn legacy_ca(&self) -> CaState {
        let (data, name) = (self.observed.serving_secret.as_ref(), &self.observed.spec.serving_secret);
        CaState::of(data, name, CaFields::LEGACY, self.time)
    }

    /// Removes the CA's key from the serving Secret.
    pub(super) fn remove_ca_key(&self) -> Option<Step> {
        let left = self.observed.serving_secret.as_ref().is_some_and(|data| data.has(CA_KEY));
        left.then_some(Step::Write(Write::ServingSecret(ServingSecretWrite::DropOldKey)))
    }

    /// Writes `caBundle`s that differ from exactly these CAs.
    ///
    /// No CA is removed while it isn't known what some replica serves.
    pub(super) fn write_exact_bundles(&self, wanted: &CaBundle) -> Option<Step> {
        let differs = |parsed: &ParsedTarget<'_>| parsed.lacks(wanted) || parsed.bundle.len() != wanted.len();
        let others = self.targets.iter().filter(|parsed| parsed.flawed || differs(parsed));
        let exact: Vec<_> = others.map(|parsed| parsed.write(wanted.clone())).collect();
        let silent = self.silent();
        if exact.is_empty() || silent.is_empty() {
            return bundles(exact);
        }
        self.add_missing_cas(wanted).or(Some(Step::Wait(Wait::Replicas { lagging: Vec::new(), silent })))
    }

    /// Writes `caBundle`s that lack one of these CAs. Their other CAs stay until they expire.
    pub(super) fn add_missing_cas(&self, wanted: &CaBundle) -> Option<Step> {
        let lacking = self.targets.iter().filter(|parsed| parsed.flawed || parsed.lacks(wanted));
        bundles(lacking.map(|parsed| parsed.write(self.current(&parsed.bundle).merged(wanted))).collect())
    }

    /// Whether every injection target that trusts anything trusts this CA.
    pub(super) fn is_known_everywhere(&self, anchor: &TrustAnchor) -> bool {
        self.targets.iter().all(|parsed| parsed.bundle.is_empty() || parsed.bundle.contains(anchor))
    }

    /// Waits until every API server has observed the `caBundle`s.
    pub(super) fn wait_for_targets(&self) -> Option<Step> {
        let hash = StateHash::of_targets(&self.observed.targets);
        self.settles(hash, "every injection target has the old and the new CA")
    }

    /// Waits until every replica stably serves a certificate of this CA.
    pub(super) fn wait_for_replicas(&self, anchor: &TrustAnchor) -> Option<Step> {
        let replicas = &self.observed.replicas;
        let shows_another = |served: &Option<_>| served.as_ref().is_some_and(|served| !anchor.signed(served));
        let lagging = replicas.iter().filter(|replica| shows_another(&replica.served));
        let lagging: Vec<_> = lagging.map(|replica| replica.name.clone()).collect();
        let silent = self.silent();
        if !lagging.is_empty() || !silent.is_empty() {
            return Some(Step::Wait(Wait::Replicas { lagging, silent }));
        }
        if replicas.iter().all(|replica| replica.served.is_none()) {
            return Some(Step::Wait(Wait::NoReplica));
        }
        self.settles(StateHash::of_replicas(replicas), "every replica serves a certificate of the new CA")
    }

    /// The replicas that get requests, but didn't answer us.
    fn silent(&self) -> Vec<String> {
        let silent = self.observed.replicas.iter().filter(|replica| replica.gets_requests && replica.served.is_none());
        silent.map(|replica| replica.name.clone()).collect()
    }

    /// Waits while the clocks of this pod and of the API server differ.
    pub(super) fn wait_for_clocks(&self) -> Option<Step> {
        match (self.time, self.observed.api_server_time) {
            (None, Some(theirs)) => Some(Step::Wait(Wait::ClocksDisagree { ours: self.now, theirs })),
            _ => None,
        }
    }

    fn settles(&self, hash: StateHash, reached: &'static str) -> Option<Step> {
        let time = self.observed.spec.settle;
        (self.observed.settled != Some(hash)).then_some(Step::Wait(Wait::Settling { hash, time, reached }))
    }
}

pub(super) fn ca(write: CaSecretWrite) -> Step {
    Step::Write(Write::CaSecret(write))
}

fn issue(serving: &ServingCertificateState, signer: Signer) -> Step {
    Step::Write(Write::ServingSecret(ServingSecretWrite::Issue { signer, because: serving.to_string() }))
}

fn bundles(writes: Vec<CaBundleWrite>) -> Option<Step> {
    (!writes.is_empty()).then_some(Step::Write(Write::CaBundles(writes)))
}

/// The API server's time where it is known, since it is the one that checks certificates.
fn agreed(ours: SystemTime, theirs: Option<SystemTime>) -> Option<SystemTime> {
    let Some(theirs) = theirs else { return Some(ours) };
    let apart = ours.duration_since(theirs).unwrap_or_else(|ahead| ahead.duration());
    (apart <= AGREEMENT).then_some(theirs)
}
