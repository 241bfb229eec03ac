//! How far the end of a server has come.

/// The phases of a server, in order. A phase is never left backwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// Everything is as it should be.
    Serving,
    /// Readiness has failed; all are served, and told to come back over another connection.
    Leaving,
    /// No new connections; those that rest are closed, requests in flight are answered.
    Closing,
    /// What is left is cut off.
    Cut,
}
