//! Graceful shutdown, step by step. Each step is a type, so none can be left out or come too early.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::stream::{self, Stream, StreamExt as _};
use tokio::time::{sleep, timeout};

use crate::phase::ServerPhase;
use crate::readiness::ListenerState;
use crate::server::RunningServer;

/// How long the steps of a graceful shutdown take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drain {
    /// How long the server serves on after readiness has failed: until every API server has removed the endpoint.
    /// Default 10 s: one failed probe, and some seconds for endpoints to propagate.
    pub grace: Duration,
    /// How long the server waits for requests in flight after that. Default 15 s: longer than the usual
    /// `timeoutSeconds` of 10, and together with the grace below `terminationGracePeriodSeconds`, 30 by default.
    pub finish: Duration,
}

impl Default for Drain {
    fn default() -> Self {
        Self { grace: Duration::from_secs(10), finish: Duration::from_secs(15) }
    }
}

impl RunningServer {
    /// Stops the server: drains for the grace period, then closes, until all requests are served or the time is over.
    pub async fn drain(self, drain: Drain) -> Drained {
        self.drain_with_skip(drain, stream::pending()).await
    }

    /// The same, but each item of `skip` ends the current wait: first the grace period, then the wait for requests in
    /// flight.
    pub async fn drain_with_skip(self, drain: Drain, skip: impl Stream<Item = ()> + Send) -> Drained {
        let mut skip = pin!(skip);
        let draining = self.start_drain();
        // Timeout and skip end the wait alike.
        let _ = timeout(drain.grace, skip.next()).await;
        let closing = draining.close().await;
        closing.finish_until(async { drop(timeout(drain.finish, skip.next()).await) }).await
    }

    /// Starts to drain: readiness fails, and every request is still served.
    pub fn start_drain(self) -> DrainingServer {
        self.readiness.set_listener(ListenerState::Draining);
        self.phase.send_replace(ServerPhase::Draining);
        DrainingServer(self)
    }
}

/// A server whose readiness has failed. It accepts connections and serves every request, but each response carries
/// `Connection: close`; idle connections stay open.
#[derive(Debug)]
#[must_use = "dropping the server aborts all connections"]
pub struct DrainingServer(RunningServer);

impl DrainingServer {
    /// Closes the listener and every idle connection.
    pub async fn close(mut self) -> ClosingServer {
        self.0.phase.send_replace(ServerPhase::Closing);
        // The task ends by itself; a panic in it changes nothing here.
        let _ = (&mut self.0.accepting).await;
        ClosingServer(self.0)
    }
}

/// A server whose listener is closed. It still serves requests in flight.
#[derive(Debug)]
#[must_use = "dropping the server aborts all connections"]
pub struct ClosingServer(RunningServer);

impl ClosingServer {
    /// Waits until every connection has ended, and aborts the remaining ones after `limit`.
    pub async fn finish(self, limit: Duration) -> Drained {
        self.finish_until(sleep(limit)).await
    }

    async fn finish_until(self, over: impl Future<Output = ()>) -> Drained {
        let aborted = tokio::select! {
            biased;
            () = self.0.connections.all_closed() => 0,
            () = over => self.0.connections.count(),
        };
        self.0.phase.send_replace(ServerPhase::Aborted);
        Drained { aborted }
    }
}

/// The result of a drain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// How many connections were aborted.
    pub aborted: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The default `terminationGracePeriodSeconds`: SIGKILL follows SIGTERM after this time.
    const POD_GRACE: Duration = Duration::from_secs(30);

    #[test]
    fn the_default_ends_five_seconds_before_sigkill() {
        let Drain { grace, finish } = Drain::default();
        assert!(grace + finish + Duration::from_secs(5) <= POD_GRACE);
    }

    #[test]
    fn the_default_outlasts_endpoint_propagation_and_a_slow_review() {
        let Drain { grace, finish } = Drain::default();
        assert!(grace >= Duration::from_secs(10));
        assert!(finish > Duration::from_secs(10));
    }
}
