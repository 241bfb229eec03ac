//! The progress of a CA rotation, as it is persisted in annotations.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use crate::fingerprint::{Fingerprint, FingerprintError};
use crate::timestamp;

/// The annotations of the CA's Secret. Each begins with the prefix of the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RotationAnnotations {
    /// Says how far a rotation has come: see [`RotationProgress`].
    pub progress: String,
    /// Asks for a rotation: see [`RotationRequest`].
    pub request: String,
}

impl RotationAnnotations {
    /// Those of an operator, by the prefix of its annotations.
    pub fn of(prefix: &str) -> Self {
        Self { progress: format!("{prefix}/ca-rotation"), request: format!("{prefix}/rotate-ca") }
    }
}

/// A longer annotation is not ours.
const LONGEST: usize = 512;
const FORMAT: &str = "v1";

/// How far a CA rotation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The new CA is added to every `caBundle`. The old CA signs the serving certificate.
    Publish,
    /// Every `caBundle` has both CAs. The new CA signs the serving certificate, and every replica is to serve it.
    Switch,
    /// Every replica serves the new certificate. The old CA is removed from every `caBundle`.
    Retire,
}

/// Why CAs are rotated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The old CA is about to expire.
    Expiring,
    /// It was requested.
    Requested,
    /// The key of the old CA is lost or damaged.
    Lost,
    /// The CA's Secret holds another CA than the one that is in use.
    Replaced,
}

/// What the annotation [`RotationAnnotations::progress`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RotationProgress {
    /// How far the rotation has come.
    pub phase: Phase,
    /// Why it was begun.
    pub cause: Option<Cause>,
    /// Since when it is in this phase, by the clock of the replica that wrote so.
    pub since: Option<SystemTime>,
    /// The CA that takes over.
    pub to: Fingerprint,
}

impl fmt::Display for RotationProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORMAT} phase={}", self.phase)?;
        if let Some(cause) = self.cause {
            write!(f, " cause={}", cause.word())?;
        }
        if let Some(since) = self.since {
            write!(f, " since={}", timestamp::rfc3339(since))?;
        }
        write!(f, " to={}", self.to)
    }
}

impl FromStr for RotationProgress {
    type Err = RotationProgressError;

    /// Reads what [`Display`](fmt::Display) writes. Where cause or time can't be read, they are unknown: nothing is
    /// decided by them. Words of a later version are passed over.
    fn from_str(text: &str) -> Result<Self, RotationProgressError> {
        let mut words = text.split(' ');
        if text.len() > LONGEST || words.next() != Some(FORMAT) {
            return Err(RotationProgressError::Format);
        }
        let (mut phase, mut cause, mut since, mut to) = (None, None, None, None);
        for (key, value) in words.filter_map(|word| word.split_once('=')) {
            match key {
                "phase" => phase = Phase::ALL.into_iter().find(|phase| phase.word() == value),
                "cause" => cause = Cause::ALL.into_iter().find(|cause| cause.word() == value),
                "since" => since = timestamp::read(value),
                "to" => to = value.parse().ok(),
                _ => {}
            }
        }
        let phase = phase.ok_or(RotationProgressError::Phase)?;
        Ok(Self { phase, cause, since, to: to.ok_or(RotationProgressError::To)? })
    }
}

impl Phase {
    const ALL: [Self; 3] = [Self::Publish, Self::Switch, Self::Retire];

    fn word(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Switch => "switch",
            Self::Retire => "retire",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Cause {
    const ALL: [Self; 4] = [Self::Expiring, Self::Requested, Self::Lost, Self::Replaced];

    fn word(self) -> &'static str {
        match self {
            Self::Expiring => "expiring",
            Self::Requested => "requested",
            Self::Lost => "lost",
            Self::Replaced => "replaced",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expiring => "the old CA expires",
            Self::Requested => "it was requested",
            Self::Lost => "the old CA's key is lost or damaged",
            Self::Replaced => "the CA's Secret holds another CA than the one in use",
        })
    }
}

/// Why an annotation can't be parsed: what follows its name in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RotationProgressError {
    /// It doesn't start as expected.
    #[error("is not of the form `{FORMAT} phase=…`; the rotation starts over with publishing")]
    Format,
    /// The phase is missing or unknown.
    #[error("names no known phase; the rotation starts over with publishing")]
    Phase,
    /// The CA is missing or unreadable.
    #[error("names no CA; the rotation starts over with publishing")]
    To,
}

/// What the annotation [`RotationAnnotations::request`] asks for.
///
/// ```
/// use gateward_certs::rotation::RotationRequest;
///
/// assert_eq!("now".parse(), Ok(RotationRequest::Now));
/// assert!("tomorrow".parse::<RotationRequest>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RotationRequest {
    /// Rotate the present CA, whichever it is. People write it by hand; twice means two rotations.
    Now,
    /// Rotate this CA. Repeated requests mean one rotation.
    Replace(Fingerprint),
}

impl RotationRequest {
    /// Whether it asks that this CA be rotated.
    pub fn concerns(self, present: Fingerprint) -> bool {
        self == Self::Now || self == Self::Replace(present)
    }
}

impl fmt::Display for RotationRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Now => f.write_str("now"),
            Self::Replace(fingerprint) => fingerprint.fmt(f),
        }
    }
}

impl FromStr for RotationRequest {
    type Err = RotationRequestError;

    fn from_str(text: &str) -> Result<Self, RotationRequestError> {
        if text == "now" { Ok(Self::Now) } else { Ok(Self::Replace(text.parse()?)) }
    }
}

/// A request annotation can't be parsed: what follows its name in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is neither `now` nor the fingerprint of the CA to replace; it is ignored")]
pub struct RotationRequestError;

impl From<FingerprintError> for RotationRequestError {
    fn from(_: FingerprintError) -> Self {
        Self
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn progress() -> impl Strategy<Value = RotationProgress> {
        let cause = prop::option::of(prop::sample::select(Cause::ALL.to_vec()));
        let since =
            prop::option::of((0..4_000_000_000_u64).prop_map(|s| SystemTime::UNIX_EPOCH + Duration::from_secs(s)));
        (prop::sample::select(Phase::ALL.to_vec()), cause, since, any::<u64>()).prop_map(|(phase, cause, since, to)| {
            RotationProgress { phase, cause, since, to: Fingerprint::of(&to.to_be_bytes()) }
        })
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(progress in progress()) {
            prop_assert_eq!(progress.to_string().parse(), Ok(progress));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,600}") {
            prop_assert!(text.parse::<RotationProgress>().is_err());
        }

        #[test]
        fn a_cut_text_is_refused(progress in progress(), cut in 1..40_usize) {
            let text = progress.to_string();
            prop_assert_eq!(text[..text.len() - cut].parse::<RotationProgress>(), Err(RotationProgressError::To));
        }
    }

    #[test]
    fn words_of_a_later_version_are_passed_over() {
        let to = Fingerprint::of(b"otter");
        let read = format!("v1 phase=switch cause=whim since=yesterday mood=good to={to}").parse();
        assert_eq!(read, Ok(RotationProgress { phase: Phase::Switch, cause: None, since: None, to }));
        assert_eq!(format!("v2 phase=switch to={to}").parse::<RotationProgress>(), Err(RotationProgressError::Format));
        assert_eq!(format!("v1 phase=sleep to={to}").parse::<RotationProgress>(), Err(RotationProgressError::Phase));
    }

    #[test]
    fn a_request_of_one_ca_does_not_concern_the_next() {
        let (old, new) = (Fingerprint::of(b"old"), Fingerprint::of(b"new"));
        let request: RotationRequest = old.to_string().parse().unwrap();
        assert!(request.concerns(old) && !request.concerns(new));
        assert!(RotationRequest::Now.concerns(old) && RotationRequest::Now.concerns(new));
    }
}
