//! The decisions, each rule in the order of its urgency.

use std::time::SystemTime;

use super::ca_secret::OutgoingCas;
use super::progress::{Cause, Phase};
use super::state::{RotationState, ca};
use super::step::{CaSecretWrite, Incoming, Signer, Step, Wait};
use crate::ca::Ca;
use crate::ca_bundle::{CaBundle, TrustAnchor};
use crate::secret::{CaState, ServingCertificateState};

impl RotationState<'_> {
    pub(super) fn next_step(&self) -> Step {
        match (self.ca_secret.present.usable(), &self.ca_secret.outgoing) {
            (None, _) => self.replace_lost_ca(),
            (Some(present), None) => self.steady(present),
            (Some(present), Some(outgoing)) => self.rotating(present, outgoing),
        }
    }

    /// There is no usable CA.
    fn replace_lost_ca(&self) -> Step {
        if let Some(wait) = self.wait_for_clocks() {
            return wait;
        }
        let known = self.ca_secret.outgoing.as_ref();
        let outgoing = known.map(|outgoing| self.current(&outgoing.bundle)).unwrap_or_default().merged(&self.carried());
        if known.is_none() && self.legacy_ca().usable().is_some() {
            ca(CaSecretWrite::Adopt)
        } else if outgoing.is_empty() {
            ca(CaSecretWrite::Create)
        } else {
            let ended = matches!(self.ca_secret.present, CaState::Expired(_));
            ca(CaSecretWrite::Begin {
                incoming: Incoming::New,
                outgoing,
                outgoing_signer: known.and_then(signer_of),
                cause: if ended { Cause::Expiring } else { Cause::Lost },
            })
        }
    }

    /// There is one CA.
    fn steady(&self, present: &Ca) -> Step {
        let known = CaBundle::from(present.trust_anchor().clone());
        let serving = self.serving(&known);
        self.introduce_present_ca(&known, &serving)
            .or_else(|| self.reissue_certificate(&serving, Signer::Present))
            .or_else(|| self.begin_rotation(present))
            .or_else(|| self.renew_certificate(&serving, Signer::Present, present))
            .or_else(|| self.remove_ca_key())
            .or_else(|| self.write_exact_bundles(&known))
            .or_else(|| self.ca_secret.has_leftovers().then(|| ca(CaSecretWrite::Finish)))
            .or_else(|| self.drop_fulfilled_request(present))
            .or_else(|| self.wait_for_clocks())
            .unwrap_or_else(|| Step::Wait(Wait::Idle { until: next_renewal(present, &serving) }))
    }

    /// Other CAs than the present one are in use: it is introduced beside them, like a new one.
    fn introduce_present_ca(&self, known: &CaBundle, serving: &ServingCertificateState) -> Option<Step> {
        let outgoing = self.unknown_cas_in_use(known, serving)?;
        let (incoming, cause) = (Incoming::Present, Cause::Replaced);
        Some(ca(CaSecretWrite::Begin { incoming, outgoing, outgoing_signer: None, cause }))
    }

    /// A request names another CA than the present one: it is fulfilled.
    fn drop_fulfilled_request(&self, present: &Ca) -> Option<Step> {
        let fingerprint = present.trust_anchor().fingerprint();
        let request = self.ca_secret.request.filter(|request| !request.concerns(fingerprint));
        request.map(|_| ca(CaSecretWrite::DropRequest))
    }

    fn begin_rotation(&self, present: &Ca) -> Option<Step> {
        let fingerprint = present.trust_anchor().fingerprint();
        let requested = self.ca_secret.request.is_some_and(|request| request.concerns(fingerprint));
        let cause = match self.ca_secret.present {
            CaState::Expiring(_) => Cause::Expiring,
            _ if requested => Cause::Requested,
            _ => return None,
        };
        self.time?;
        let (outgoing, outgoing_signer) = (present.trust_anchor().clone().into(), Some(Signer::Present));
        Some(ca(CaSecretWrite::Begin { incoming: Incoming::New, outgoing, outgoing_signer, cause }))
    }

    /// One CA takes over from others.
    fn rotating(&self, present: &Ca, outgoing: &OutgoingCas) -> Step {
        let known = outgoing.bundle.merged(&present.trust_anchor().clone().into());
        let serving = self.serving(&known);
        if let Some(step) = self.complete_outgoing(present.trust_anchor(), outgoing, &known, &serving) {
            return step;
        }
        match self.ca_secret.phase() {
            Some(Phase::Switch) => self.switching(present, &known),
            _ => self.publishing(outgoing, &known, &serving),
        }
    }

    /// The outgoing CAs are completed where they can't be read, or where others are in use beside them.
    fn complete_outgoing(
        &self,
        present: &TrustAnchor,
        outgoing: &OutgoingCas,
        known: &CaBundle,
        serving: &ServingCertificateState,
    ) -> Option<Step> {
        let unknown = self.unknown_cas_in_use(known, serving);
        if !outgoing.damaged && unknown.is_none() {
            return None;
        }
        let carried = if outgoing.damaged { self.carried() } else { unknown.unwrap_or_default() };
        let all = outgoing.bundle.merged(&carried).filtered(|anchor| anchor != present);
        if all.is_empty() {
            return Some(ca(CaSecretWrite::Retire));
        }
        Some(ca(CaSecretWrite::Begin {
            incoming: Incoming::Present,
            outgoing: all,
            outgoing_signer: signer_of(outgoing),
            cause: self.ca_secret.progress.and_then(|progress| progress.cause).unwrap_or(Cause::Replaced),
        }))
    }

    fn publishing(&self, outgoing: &OutgoingCas, known: &CaBundle, serving: &ServingCertificateState) -> Step {
        let signer = outgoing.ca.usable().filter(|signer| self.is_known_everywhere(signer.trust_anchor()));
        signer
            .and_then(|signer| {
                let repaired = self.reissue_certificate(serving, Signer::Outgoing);
                repaired.or_else(|| self.renew_certificate(serving, Signer::Outgoing, signer))
            })
            .or_else(|| self.add_missing_cas(known))
            .or_else(|| self.remove_ca_key())
            .or_else(|| self.wait_for_targets())
            .unwrap_or_else(|| ca(CaSecretWrite::Switch))
    }

    fn switching(&self, present: &Ca, known: &CaBundle) -> Step {
        let serving = self.serving(&present.trust_anchor().clone().into());
        let changed = self
            .reissue_certificate(&serving, Signer::Present)
            .or_else(|| self.renew_certificate(&serving, Signer::Present, present));
        self.add_missing_cas(known)
            .or_else(|| changed.map(|change| self.wait_for_targets().unwrap_or(change)))
            .or_else(|| self.remove_ca_key())
            .or_else(|| self.wait_for_clocks().filter(|_| !serving.is_signed_by_ca()))
            .or_else(|| self.wait_for_replicas(present.trust_anchor()))
            .unwrap_or_else(|| ca(CaSecretWrite::Retire))
    }
}

/// Where the key of one of the outgoing CAs lies, if it still signs.
fn signer_of(outgoing: &OutgoingCas) -> Option<Signer> {
    outgoing.ca.usable().map(|_| Signer::Outgoing)
}

fn next_renewal(present: &Ca, serving: &ServingCertificateState) -> SystemTime {
    let ca = present.validity().renewal_time();
    serving.certificate().map_or(ca, |certificate| ca.min(certificate.validity().renewal_time()))
}
