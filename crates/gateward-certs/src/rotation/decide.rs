//! The decisions, each rule in the order of its urgency.

use std::time::SystemTime;

use super::kept::Outgoing;
use super::progress::{Cause, Phase};
use super::situation::{Situation, authority};
use super::step::{AuthorityWrite, Incoming, Signer, Step, Wait};
use crate::authority::Authority;
use crate::bundle::{Anchor, Bundle};
use crate::secret::{AuthorityFields, AuthorityState, LeafState, Repair, repair};

impl Situation<'_> {
    pub(super) fn next_step(&self) -> Step {
        match (self.kept.present.usable(), &self.kept.outgoing) {
            (None, _) => self.lost(),
            (Some(present), None) => self.steady(present),
            (Some(present), Some(outgoing)) => self.exchanging(present, outgoing),
        }
    }

    /// There is no authority that signs what clients take.
    fn lost(&self) -> Step {
        if let Some(wait) = self.clocks_agree() {
            return wait;
        }
        let known = self.kept.outgoing.as_ref();
        let outgoing = known.map(|outgoing| self.current(&outgoing.bundle)).unwrap_or_default().merged(&self.carried());
        if known.is_none() && self.repair() == Repair::Adopt {
            authority(AuthorityWrite::Adopt)
        } else if outgoing.is_empty() {
            authority(AuthorityWrite::Create)
        } else {
            let ended = matches!(self.kept.present, AuthorityState::Expired(_));
            authority(AuthorityWrite::Begin {
                incoming: Incoming::New,
                outgoing,
                outgoing_signer: known.and_then(signer_of),
                cause: if ended { Cause::Expiring } else { Cause::Lost },
            })
        }
    }

    fn repair(&self) -> Repair {
        let (data, name) = (self.view.leaf.as_ref(), &self.view.wanted.leaf_secret);
        let old_place = AuthorityState::of(data, name, AuthorityFields::OLD_PLACE, self.time);
        repair(&self.leaf(&Bundle::default()), &self.kept.present, &old_place)
    }

    /// There is one authority.
    fn steady(&self, present: &Authority) -> Step {
        let known = Bundle::from(present.anchor().clone());
        let leaf = self.leaf(&known);
        self.brought_in_beside(&known, &leaf)
            .or_else(|| self.repaired_leaf(&leaf, Signer::Present))
            .or_else(|| self.next_authority(present))
            .or_else(|| self.renewed_leaf(&leaf, Signer::Present, present))
            .or_else(|| self.without_old_key())
            .or_else(|| self.bundles_exactly(&known))
            .or_else(|| self.kept.has_leftovers().then(|| authority(AuthorityWrite::Finish)))
            .or_else(|| self.met_request(present))
            .or_else(|| self.clocks_agree())
            .unwrap_or_else(|| Step::Wait(Wait::Idle { until: next_renewal(present, &leaf) }))
    }

    /// Others are in use than the present one: it is brought in beside them, as a new one would be.
    fn brought_in_beside(&self, known: &Bundle, leaf: &LeafState) -> Option<Step> {
        let outgoing = self.strangers_in_use(known, leaf)?;
        let (incoming, cause) = (Incoming::Present, Cause::Replaced);
        Some(authority(AuthorityWrite::Begin { incoming, outgoing, outgoing_signer: None, cause }))
    }

    /// A request concerns another authority than the present one: that has been exchanged.
    fn met_request(&self, present: &Authority) -> Option<Step> {
        let fingerprint = present.anchor().fingerprint();
        let request = self.kept.request.filter(|request| !request.concerns(fingerprint));
        request.map(|_| authority(AuthorityWrite::DropRequest))
    }

    fn next_authority(&self, present: &Authority) -> Option<Step> {
        let fingerprint = present.anchor().fingerprint();
        let requested = self.kept.request.is_some_and(|request| request.concerns(fingerprint));
        let cause = match self.kept.present {
            AuthorityState::Expiring(_) => Cause::Expiring,
            _ if requested => Cause::Requested,
            _ => return None,
        };
        self.time?;
        let (outgoing, outgoing_signer) = (present.anchor().clone().into(), Some(Signer::Present));
        Some(authority(AuthorityWrite::Begin { incoming: Incoming::New, outgoing, outgoing_signer, cause }))
    }

    /// One authority takes over from others.
    fn exchanging(&self, present: &Authority, outgoing: &Outgoing) -> Step {
        let known = outgoing.bundle.merged(&present.anchor().clone().into());
        let leaf = self.leaf(&known);
        if let Some(step) = self.mended(present.anchor(), outgoing, &known, &leaf) {
            return step;
        }
        match self.kept.phase() {
            Some(Phase::Switch) => self.switching(present, &known),
            _ => self.publishing(outgoing, &known, &leaf),
        }
    }

    /// The outgoing authorities are completed where they can't be read, or where others are in use beside them.
    fn mended(&self, present: &Anchor, outgoing: &Outgoing, known: &Bundle, leaf: &LeafState) -> Option<Step> {
        let strangers = self.strangers_in_use(known, leaf);
        if !outgoing.damaged && strangers.is_none() {
            return None;
        }
        let carried = if outgoing.damaged { self.carried() } else { strangers.unwrap_or_default() };
        let all = outgoing.bundle.merged(&carried).filtered(|anchor| anchor != present);
        if all.is_empty() {
            return Some(authority(AuthorityWrite::Retire));
        }
        Some(authority(AuthorityWrite::Begin {
            incoming: Incoming::Present,
            outgoing: all,
            outgoing_signer: signer_of(outgoing),
            cause: self.kept.progress.and_then(|progress| progress.cause).unwrap_or(Cause::Replaced),
        }))
    }

    fn publishing(&self, outgoing: &Outgoing, known: &Bundle, leaf: &LeafState) -> Step {
        let signer = outgoing.authority.usable().filter(|signer| self.is_known_everywhere(signer.anchor()));
        signer
            .and_then(|signer| {
                let repaired = self.repaired_leaf(leaf, Signer::Outgoing);
                repaired.or_else(|| self.renewed_leaf(leaf, Signer::Outgoing, signer))
            })
            .or_else(|| self.bundles_at_least(known))
            .or_else(|| self.without_old_key())
            .or_else(|| self.consumers_settle())
            .unwrap_or_else(|| authority(AuthorityWrite::Switch))
    }

    fn switching(&self, present: &Authority, known: &Bundle) -> Step {
        let leaf = self.leaf(&present.anchor().clone().into());
        let changed =
            self.repaired_leaf(&leaf, Signer::Present).or_else(|| self.renewed_leaf(&leaf, Signer::Present, present));
        self.bundles_at_least(known)
            .or_else(|| changed.map(|change| self.consumers_settle().unwrap_or(change)))
            .or_else(|| self.without_old_key())
            .or_else(|| self.clocks_agree().filter(|_| !leaf.is_signed_by_ca()))
            .or_else(|| self.replicas_settle(present.anchor()))
            .unwrap_or_else(|| authority(AuthorityWrite::Retire))
    }
}

/// Where the key of one of the outgoing authorities lies, if it still signs.
fn signer_of(outgoing: &Outgoing) -> Option<Signer> {
    outgoing.authority.usable().map(|_| Signer::Outgoing)
}

fn next_renewal(present: &Authority, leaf: &LeafState) -> SystemTime {
    let authority = present.validity().renewal();
    leaf.pair().map_or(authority, |pair| authority.min(pair.validity().renewal()))
}
