//! What an exchange of authorities has come to, for those who act on it and those who tell of it.

use std::time::SystemTime;

use super::kept::Kept;
use super::progress::{Cause, Phase};
use super::situation::Situation;
use super::step::Step;
use super::view::View;
use crate::bundle::Bundle;
use crate::secret::{AuthorityState, LeafState};

/// The state of the certificates.
#[derive(Debug)]
pub struct Status {
    /// How far an exchange of authorities has come; `None` while none is under way.
    pub phase: Option<Phase>,
    /// The authority.
    pub authority: AuthorityState,
    /// The authorities that are being replaced.
    pub outgoing: Bundle,
    /// The server's certificate.
    pub leaf: LeafState,
    /// What happens next, and why.
    pub next: Step,
    /// What else is to be known: annotations that say nothing.
    pub notes: Vec<String>,
    /// Since when it is in this phase, if that is known.
    pub since: Option<SystemTime>,
    /// Why authorities are exchanged, if that is known.
    pub cause: Option<Cause>,
}

impl Status {
    /// Of a view.
    pub fn of(view: &View<'_>, now: SystemTime) -> Self {
        let situation = Situation::of(view, now);
        let next = situation.next_step();
        let phase = situation.kept.phase();
        let outgoing = situation.kept.outgoing.as_ref().map(|outgoing| outgoing.bundle.clone()).unwrap_or_default();
        let mut trusted: Bundle = situation.kept.present.usable().map(|it| it.anchor().clone()).into_iter().collect();
        if phase != Some(Phase::Switch) {
            trusted = trusted.merged(&outgoing);
        }
        let leaf = situation.leaf(&trusted);
        let Kept { present, progress, notes, .. } = situation.kept;
        let cause = progress.and_then(|progress| progress.cause);
        let since = progress.and_then(|progress| progress.since);
        Self { phase, authority: present, outgoing, leaf, next, notes, since, cause }
    }
}
