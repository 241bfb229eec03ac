//! Decides whether the serving certificate or the CA is reissued.

use super::{CaState, ServingCertificateState};

/// What is reissued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reissue {
    /// Nothing.
    Keep,
    /// A new serving certificate from the same CA: the `caBundle`s stay.
    ServingCertificate,
    /// A new CA, and then a serving certificate from it. Where the old CA is still trusted somewhere, the
    /// new one has to be brought in beside it: see [`crate::rotation`].
    Ca,
    /// The CA whose key is in the serving Secret is adopted.
    Adopt,
}

/// Decides what is reissued.
///
/// A CA in a Secret of its own goes before one in the serving Secret; a CA that only ages is replaced while
/// it still signs, so that no deadline is critical.
pub fn reissue(serving: &ServingCertificateState, ca: &CaState, legacy: &CaState) -> Reissue {
    match (ca, serving) {
        (CaState::Usable(_), ServingCertificateState::Complete(_)) => Reissue::Keep,
        (CaState::Usable(_), _) => Reissue::ServingCertificate,
        (CaState::Expiring(_), _) => Reissue::Ca,
        _ if legacy.usable().is_some() => Reissue::Adopt,
        _ => Reissue::Ca,
    }
}
