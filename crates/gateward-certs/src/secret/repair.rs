//! What is to be done about the Secrets.

use super::{AuthorityState, LeafState};

/// What is to be done about the server's certificate and its authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Nothing.
    Keep,
    /// A new server certificate from the same authority: nobody needs to trust anything new.
    NewLeaf,
    /// A new authority, and then a server certificate from it. Where the old authority is still trusted somewhere, the
    /// new one has to be brought in beside it: see [`crate::rotation`].
    NewAuthority,
    /// The authority whose key lies in the old place is taken over.
    Adopt,
}

/// Decides the repair.
///
/// An authority in a Secret of its own goes before one in the old place; an authority that only ages is replaced while
/// it still signs, so that nothing depends on the day.
pub fn repair(leaf: &LeafState, authority: &AuthorityState, old_place: &AuthorityState) -> Repair {
    match (authority, leaf) {
        (AuthorityState::Usable(_), LeafState::Complete(_)) => Repair::Keep,
        (AuthorityState::Usable(_), _) => Repair::NewLeaf,
        (AuthorityState::Expiring(_), _) => Repair::NewAuthority,
        _ if old_place.usable().is_some() => Repair::Adopt,
        _ => Repair::NewAuthority,
    }
}
