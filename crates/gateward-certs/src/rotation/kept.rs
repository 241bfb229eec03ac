//! The authority's Secret, taken apart.

use std::time::SystemTime;

use super::progress::{PROGRESS, Phase, Progress, REQUEST, Request};
use super::view::View;
use crate::bundle::Bundle;
use crate::secret::{AuthorityFields, AuthorityState, CERTIFICATE};

/// The field with the authorities that are on their way out.
pub(super) const OLD_CERTIFICATES: &str = "old.crt";
/// The field with the key of one of them, if it is still known.
pub(super) const OLD_PRIVATE_KEY: &str = "old.key";

const OUTGOING: AuthorityFields = AuthorityFields { certificate: OLD_CERTIFICATES, private_key: OLD_PRIVATE_KEY };

/// What the authority's Secret says.
///
/// Whether authorities are exchanged stands in the data: they change in one write with the phase, so an annotation that
/// is damaged, missing or left over costs a repetition and no more.
pub(super) struct Kept {
    /// The authority that signs from now on, or once it is known everywhere.
    pub(super) present: AuthorityState,
    /// The authorities that are being replaced.
    pub(super) outgoing: Option<Outgoing>,
    /// What the annotation says; `None` where it says nothing that fits the data.
    pub(super) progress: Option<Progress>,
    /// Whether there is such an annotation.
    has_progress: bool,
    /// Whether a key of an authority on its way out was left without its certificate.
    has_stray_key: bool,
    pub(super) request: Option<Request>,
    /// What is wrong with the annotations, in words.
    pub(super) notes: Vec<String>,
}

/// Authorities on their way out.
pub(super) struct Outgoing {
    pub(super) bundle: Bundle,
    /// Whether something can't be read there.
    pub(super) damaged: bool,
    /// The one whose key is known.
    pub(super) authority: AuthorityState,
}

impl Kept {
    pub(super) fn read(view: &View<'_>, time: Option<SystemTime>) -> Self {
        let name = view.wanted.authority_secret.as_str();
        let data = view.authority.as_ref().map(|secret| &secret.data);
        let present = AuthorityState::of(data, name, AuthorityFields::OWN, time);
        let outgoing = data.filter(|data| data.has(OLD_CERTIFICATES)).map(|data| {
            let (bundle, flaws) = Bundle::salvage(data.field(OLD_CERTIFICATES).unwrap_or_default());
            let damaged = bundle.is_empty() || !flaws.is_empty();
            Outgoing { bundle, damaged, authority: AuthorityState::of(Some(data), name, OUTGOING, time) }
        });
        let has_stray_key = outgoing.is_none() && data.is_some_and(|data| data.has(OLD_PRIVATE_KEY));
        let (progress, has_progress, request, notes) = (None, false, None, Vec::new());
        let mut kept = Self { present, outgoing, progress, has_progress, has_stray_key, request, notes };
        kept.read_annotations(view);
        kept
    }

    fn read_annotations(&mut self, view: &View<'_>) {
        let Some(secret) = &view.authority else { return };
        if let Some(text) = secret.annotations.get(PROGRESS) {
            self.has_progress = true;
            match text.parse() {
                Ok(progress) => self.progress = Some(progress).filter(|progress| self.fits(progress)),
                Err(error) => self.notes.push(error.to_string()),
            }
        }
        if let Some(text) = secret.annotations.get(REQUEST) {
            match text.parse() {
                Ok(request) => self.request = Some(request),
                Err(error) => self.notes.push(error.to_string()),
            }
        }
    }

    /// Whether an annotation speaks of the authority that is there.
    fn fits(&self, progress: &Progress) -> bool {
        self.present.usable().is_some_and(|present| present.anchor().fingerprint() == progress.to)
    }

    /// Whether there is something to clear away once nothing is exchanged any more.
    pub(super) fn has_leftovers(&self) -> bool {
        self.has_progress || self.has_stray_key
    }

    /// The phase; `None` while nothing is exchanged.
    pub(super) fn phase(&self) -> Option<Phase> {
        match (&self.outgoing, self.progress) {
            (Some(_), Some(Progress { phase: Phase::Switch, .. })) => Some(Phase::Switch),
            (Some(_), _) => Some(Phase::Publish),
            (None, _) => self.has_progress.then_some(Phase::Retire),
        }
    }
}

/// The authorities that a Secret tells to trust, whatever else is wrong with it.
pub(super) fn trusted_by(secret: &super::AuthoritySecret) -> Bundle {
    let field = |name| Bundle::salvage(secret.data.field(name).unwrap_or_default()).0;
    field(OLD_CERTIFICATES).merged(&field(CERTIFICATE))
}
