//! The `caBundle`s that API servers use, for the self-check of a replica.

use std::time::Instant;

/// The `caBundle`s by which API servers may verify a replica at present.
///
/// A replica is ready once each of these verifies its certificate and [`InjectedCaBundles::valid_from`] is past: until
/// then some API server may not have observed them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InjectedCaBundles {
    /// Each bundle once, as PEM: the present ones of the injection targets, and those replaced a moment ago. Empty
    /// bundles are left out.
    pub bundles: Vec<Vec<u8>>,
    /// When every API server has observed them; `None` until all watches have synced.
    pub valid_from: Option<Instant>,
}
