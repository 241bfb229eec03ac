//! What the injection targets trust, for a replica that wants to know whether it can be called.

use std::time::Instant;

/// The bundles by which API servers may judge a replica at present.
///
/// A replica that shows a certificate is ready once each of these verifies it, and [`InjectedCaBundles::valid_from`] is past:
/// until then some API server may not have heard of what is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InjectedCaBundles {
    /// Each bundle once, as PEM: those that injection targets carry, and those that they have carried a moment ago. Injection targets
    /// that carry nothing count for nothing.
    pub bundles: Vec<Vec<u8>>,
    /// When every API server has heard of them; `None` while the injection targets have not been read.
    pub valid_from: Option<Instant>,
}
