//! Polls a connection to its end, and shuts it down gracefully or at once.

use std::future::Future;
use std::pin::{Pin, pin};

use tokio::sync::watch;

use crate::connection::state::ConnectionState;
use crate::phase::ServerPhase;

/// Polls a connection of the HTTP library until it ends, the server closes it, or the server aborts it.
pub(super) async fn drive<C: Future<Output = hyper::Result<()>>>(
    connection: C,
    state: &ConnectionState,
    mut phase: watch::Receiver<ServerPhase>,
    graceful_shutdown: impl Fn(Pin<&mut C>),
) -> hyper::Result<()> {
    let mut connection = pin!(connection);
    tokio::select! {
        biased;
        ended = connection.as_mut() => return ended,
        () = state.close_requested() => {}
        // An error means that the server was dropped, which the second wait sees too.
        _ = phase.wait_for(|phase| *phase >= ServerPhase::Closing) => {}
    }
    graceful_shutdown(connection.as_mut());
    tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        _ = phase.wait_for(|phase| *phase >= ServerPhase::Aborted) => Ok(()),
    }
}
