//! The CA's Secret, parsed.

use std::time::SystemTime;

use super::observed::{CaSecret, ObservedState};
use super::progress::{Phase, RotationAnnotations, RotationProgress, RotationRequest};
use crate::ca_bundle::CaBundle;
use crate::secret::{CaFields, CaState, TLS_CRT};

/// The field with the CAs that are on their way out.
pub(super) const OLD_CRT: &str = "old.crt";
/// The field with the key of one of them, if it is still known.
pub(super) const OLD_KEY: &str = "old.key";

const OUTGOING: CaFields = CaFields { certificate: OLD_CRT, private_key: OLD_KEY };

/// The parsed CA's Secret.
///
/// The data says whether a CA rotation is under way: the CAs change in one write with the phase, so an annotation that
/// is damaged, missing or left over costs a repetition and no more.
pub(super) struct ParsedCaSecret {
    /// The CA that signs from now on, or once it is known everywhere.
    pub(super) present: CaState,
    /// The CAs that are being replaced.
    pub(super) outgoing: Option<OutgoingCas>,
    /// The annotation; `None` if it doesn't fit the data.
    pub(super) progress: Option<RotationProgress>,
    /// Whether there is such an annotation.
    has_progress: bool,
    /// Whether a key of a CA on its way out was left without its certificate.
    has_stray_key: bool,
    pub(super) request: Option<RotationRequest>,
    /// What is wrong with the annotations, in words.
    pub(super) notes: Vec<String>,
}

/// CAs on their way out.
pub(super) struct OutgoingCas {
    pub(super) bundle: CaBundle,
    /// Whether something can't be read there.
    pub(super) damaged: bool,
    /// The one whose key is known.
    pub(super) ca: CaState,
}

impl ParsedCaSecret {
    pub(super) fn read(observed: &ObservedState<'_>, time: Option<SystemTime>) -> Self {
        let name = observed.spec.ca_secret.as_str();
        let data = observed.ca_secret.as_ref().map(|secret| &secret.data);
        let present = CaState::of(data, name, CaFields::OWN, time);
        let outgoing = data.filter(|data| data.has(OLD_CRT)).map(|data| {
            let (bundle, flaws) = CaBundle::parse_lossy(data.field(OLD_CRT).unwrap_or_default());
            let damaged = bundle.is_empty() || !flaws.is_empty();
            OutgoingCas { bundle, damaged, ca: CaState::of(Some(data), name, OUTGOING, time) }
        });
        let has_stray_key = outgoing.is_none() && data.is_some_and(|data| data.has(OLD_KEY));
        let (progress, has_progress, request, notes) = (None, false, None, Vec::new());
        let mut ca_secret = Self { present, outgoing, progress, has_progress, has_stray_key, request, notes };
        ca_secret.read_annotations(observed);
        ca_secret
    }

    fn read_annotations(&mut self, observed: &ObservedState<'_>) {
        let Some(secret) = &observed.ca_secret else { return };
        let RotationAnnotations { progress, request } = &observed.spec.annotations;
        if let Some(text) = secret.annotations.get(progress) {
            self.has_progress = true;
            match text.parse::<RotationProgress>() {
                Ok(progress) => self.progress = Some(progress).filter(|progress| self.fits(progress)),
                Err(error) => self.notes.push(format!("annotation {progress} {error}")),
            }
        }
        if let Some(text) = secret.annotations.get(request) {
            match text.parse::<RotationRequest>() {
                Ok(request) => self.request = Some(request),
                Err(error) => self.notes.push(format!("annotation {request} {error}")),
            }
        }
    }

    /// Whether an annotation names the present CA.
    fn fits(&self, progress: &RotationProgress) -> bool {
        self.present.usable().is_some_and(|present| present.trust_anchor().fingerprint() == progress.to)
    }

    /// Whether something is left to clean up after a rotation.
    pub(super) fn has_leftovers(&self) -> bool {
        self.has_progress || self.has_stray_key
    }

    /// The phase; `None` while no rotation is under way.
    pub(super) fn phase(&self) -> Option<Phase> {
        match (&self.outgoing, self.progress) {
            (Some(_), Some(RotationProgress { phase: Phase::Switch, .. })) => Some(Phase::Switch),
            (Some(_), _) => Some(Phase::Publish),
            (None, _) => self.has_progress.then_some(Phase::Retire),
        }
    }
}

impl CaSecret {
    /// The CAs in the Secret, whatever else is wrong with it.
    pub fn trusted(&self) -> CaBundle {
        let field = |name| CaBundle::parse_lossy(self.data.field(name).unwrap_or_default()).0;
        field(OLD_CRT).merged(&field(TLS_CRT))
    }
}
