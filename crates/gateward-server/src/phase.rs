//! How far a server is on its way from serving to stopped.

/// The phases of a server. A server goes through them in this order and never back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ServerPhase {
    /// Every connection is served and kept.
    Serving,
    /// Readiness has failed. Every connection is served, and closes with its next response.
    Draining,
    /// The listener and idle connections are closed. Requests in flight are still served.
    Closing,
    /// The remaining connections are closed at once.
    Aborted,
}
