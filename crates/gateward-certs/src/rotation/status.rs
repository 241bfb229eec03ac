//! What `certs status` shows.

use std::fmt;
use std::time::SystemTime;

use super::kept::Kept;
use super::progress::{Cause, Phase};
use super::situation::Situation;
use super::step::Step;
use super::view::View;
use crate::bundle::{Anchor, Bundle};
use crate::secret::{AuthorityState, LeafState};
use crate::timestamp;

/// The state of the certificates, for people.
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

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.phase {
            None => writeln!(f, "rotation:   none under way")?,
            Some(phase) => {
                write!(f, "rotation:   {phase}")?;
                if let Some(since) = self.since {
                    write!(f, " since {}", timestamp::rfc3339(since))?;
                }
                writeln!(f, "{}", self.cause.as_ref().map(|cause| format!(" ({cause})")).unwrap_or_default())?;
            }
        }
        let name = self.authority.usable().map(|authority| named(authority.anchor())).unwrap_or_default();
        writeln!(f, "authority:  {name}{}", self.authority)?;
        for anchor in &self.outgoing {
            writeln!(
                f,
                "old:        {}valid until {}",
                named(anchor),
                timestamp::rfc3339(anchor.validity().not_after())
            )?;
        }
        writeln!(f, "server:     {}", self.leaf)?;
        writeln!(f, "next:       {}", self.next)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "note:       {note}"))
    }
}

fn named(anchor: &Anchor) -> String {
    format!("{}: ", anchor.fingerprint().short())
}
