//! What is to be done about the Secrets.

use super::{CaState, ServingCertificateState};

/// What is to be done about the serving certificate and its CA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reissue {
    /// Nothing.
    Keep,
    /// A new serving certificate from the same CA: nobody needs to trust anything new.
    ServingCertificate,
    /// A new CA, and then a serving certificate from it. Where the old CA is still trusted somewhere, the
    /// new one has to be brought in beside it: see [`crate::rotation`].
    Ca,
    /// The CA whose key lies in the old place is taken over.
    Adopt,
}

/// Decides the repair.
///
/// A CA in a Secret of its own goes before one in the old place; a CA that only ages is replaced while
/// it still signs, so that nothing depends on the day.
pub fn reissue(serving: &ServingCertificateState, ca: &CaState, legacy: &CaState) -> Reissue {
    match (ca, serving) {
        (CaState::Usable(_), ServingCertificateState::Complete(_)) => Reissue::Keep,
        (CaState::Usable(_), _) => Reissue::ServingCertificate,
        (CaState::Expiring(_), _) => Reissue::Ca,
        _ if legacy.usable().is_some() => Reissue::Adopt,
        _ => Reissue::Ca,
    }
}
