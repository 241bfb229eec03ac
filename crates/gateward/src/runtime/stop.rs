//! The end of a server.

use std::future::Future;

use gateward_server::{Drain, Drained};

use super::error::ServerError;
use super::listen::BoundListeners;
use super::shutdown::Shutdown;

/// Ends well: readiness fails, and everything is still answered for a while. Meanwhile `giving_back` lets another replica
/// write at once. An error that ends the server is returned after all that.
pub(super) async fn stop(
    listening: BoundListeners,
    giving_back: impl Future<Output = ()>,
    ended: Result<Drain, ServerError>,
    shutdown: impl Shutdown,
) -> Result<Drained, ServerError> {
    let drain = match &ended {
        Ok(drain) => *drain,
        Err(error) => {
            tracing::error!(%error, "the server can't go on");
            shutdown.drain()
        }
    };
    tracing::info!(grace = ?drain.grace, "shutting down");
    // Probes are answered to the end.
    let BoundListeners { serving, health: _health, .. } = listening;
    let draining = serving.drain_with_skip(drain, shutdown.hurries());
    let ((), drained) = tokio::join!(giving_back, draining);
    tracing::info!(cut = drained.aborted, "stopped");
    ended.map(|_| drained)
}
