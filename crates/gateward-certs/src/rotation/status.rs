//! The status of certificates and CA rotation.

use std::time::SystemTime;

use super::ca_secret::ParsedCaSecret;
use super::observed::ObservedState;
use super::progress::{Cause, Phase};
use super::state::RotationState;
use super::step::Step;
use crate::ca_bundle::CaBundle;
use crate::secret::{CaState, ServingCertificateState};

/// The state of the certificates.
#[derive(Debug)]
pub struct RotationStatus {
    /// How far a CA rotation has come; `None` while none is under way.
    pub phase: Option<Phase>,
    /// The CA.
    pub ca: CaState,
    /// The CAs that are being replaced.
    pub outgoing: CaBundle,
    /// The serving certificate.
    pub serving: ServingCertificateState,
    /// What happens next, and why.
    pub next: Step,
    /// Annotations that can't be parsed.
    pub notes: Vec<String>,
    /// Since when it is in this phase, if that is known.
    pub since: Option<SystemTime>,
    /// Why CAs are rotated, if that is known.
    pub cause: Option<Cause>,
}

impl RotationStatus {
    /// The status of an observed state.
    pub fn of(observed: &ObservedState<'_>, now: SystemTime) -> Self {
        let state = RotationState::of(observed, now);
        let next = state.next_step();
        let phase = state.ca_secret.phase();
        let outgoing = state.ca_secret.outgoing.as_ref().map(|outgoing| outgoing.bundle.clone()).unwrap_or_default();
        let mut trusted: CaBundle =
            state.ca_secret.present.usable().map(|it| it.trust_anchor().clone()).into_iter().collect();
        if phase != Some(Phase::Switch) {
            trusted = trusted.merged(&outgoing);
        }
        let serving = state.serving(&trusted);
        let ParsedCaSecret { present, progress, notes, .. } = state.ca_secret;
        let cause = progress.and_then(|progress| progress.cause);
        let since = progress.and_then(|progress| progress.since);
        Self { phase, ca: present, outgoing, serving, next, notes, since, cause }
    }
}
