//! The end of a server.

use std::future::Future;

use gateward_server::{Drain, Drained};

use super::listen::BoundListeners;
use super::shutdown::Shutdown;

/// Ends well: readiness fails, and everything is still answered for a while. Meanwhile `giving_back` lets another replica
/// write at once.
pub(super) async fn stop(
    listening: BoundListeners,
    giving_back: impl Future<Output = ()>,
    drain: Drain,
    shutdown: impl Shutdown,
) -> Drained {
    tracing::info!(grace = ?drain.grace, "shutting down");
    // Probes are answered to the end.
    let BoundListeners { serving, health: _health, .. } = listening;
    let draining = serving.drain_with_skip(drain, shutdown.hurries());
    let ((), drained) = tokio::join!(giving_back, draining);
    tracing::info!(cut = drained.aborted, "stopped");
    drained
}
