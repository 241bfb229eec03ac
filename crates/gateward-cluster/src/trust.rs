//! What the consumers trust, for a replica that wants to know whether it can be called.

use std::time::Instant;

/// The bundles by which API servers may judge a replica at present.
///
/// A replica that shows a certificate is ready once each of these vouches for it, and [`Trust::stands_from`] is past:
/// until then some API server may not have heard of what is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    /// Each bundle once, as PEM: those that consumers carry, and those that they have carried a moment ago. Consumers
    /// that carry nothing count for nothing.
    pub bundles: Vec<Vec<u8>>,
    /// When every API server has heard of them; `None` while the consumers have not been read.
    pub stands_from: Option<Instant>,
}
