//! The end of a server, step by step. Each step is a type of its own, so none can be left out or come too early.

use std::future::Future;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::phase::Phase;
use crate::readiness::Listener;
use crate::server::Serving;

/// How long the steps of the end take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drain {
    /// How long all are served after readiness has failed: until every API server knows that the pod is gone. Default
    /// 10 s: one failed probe, and some seconds for endpoints to spread.
    pub grace: Duration,
    /// How long requests in flight are waited for after that. Default 15 s: longer than the usual `timeoutSeconds` of
    /// 10, and together with the grace below the 30 s that a pod has.
    pub finish: Duration,
}

impl Default for Drain {
    fn default() -> Self {
        Self { grace: Duration::from_secs(10), finish: Duration::from_secs(15) }
    }
}

impl Serving {
    /// Ends the server: [`Leaving`] for the grace, then closing, until all is answered or the time is over.
    pub async fn drain(self, drain: Drain) -> Drained {
        self.drain_hastened(drain, std::future::pending).await
    }

    /// The same, but whenever `hurry` ends, so does what is waited for: first the grace, then requests in flight.
    pub async fn drain_hastened(self, drain: Drain, mut hurry: impl AsyncFnMut()) -> Drained {
        let leaving = self.leave();
        // Which of the two ended it makes no difference.
        let _ = timeout(drain.grace, hurry()).await;
        let closing = leaving.close().await;
        closing.finish_until(async { drop(timeout(drain.finish, hurry()).await) }).await
    }

    /// Begins the end: readiness fails, everything is still served.
    pub fn leave(self) -> Leaving {
        Leaving::of(self)
    }
}

/// Readiness has failed. New connections are accepted and everything is answered, but each answer carries
/// `Connection: close`; connections that rest stay open.
#[derive(Debug)]
#[must_use = "the server is cut off when this is dropped"]
pub struct Leaving(Serving);

impl Leaving {
    pub(crate) fn of(server: Serving) -> Self {
        server.readiness.listener(Listener::Leaving);
        server.phase.send_replace(Phase::Leaving);
        Self(server)
    }

    /// Closes the listener and every connection that rests.
    pub async fn close(mut self) -> Closing {
        self.0.phase.send_replace(Phase::Closing);
        // It ends by itself, and how does not matter.
        let _ = (&mut self.0.accepting).await;
        Closing(self.0)
    }
}

/// The listener is closed; requests in flight are still answered.
#[derive(Debug)]
#[must_use = "the server is cut off when this is dropped"]
pub struct Closing(Serving);

impl Closing {
    /// Waits until every connection has ended, and cuts off what is left after `limit`.
    pub async fn finish(self, limit: Duration) -> Drained {
        self.finish_until(sleep(limit)).await
    }

    async fn finish_until(self, over: impl Future<Output = ()>) -> Drained {
        let cut = tokio::select! {
            biased;
            () = self.0.connections.empty() => 0,
            () = over => self.0.connections.taken(),
        };
        self.0.phase.send_replace(Phase::Cut);
        Drained { cut }
    }
}

/// The server has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// How many connections had to be cut off.
    pub cut: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a pod has unless its manifest says otherwise, between the signal to end and the one that nobody survives.
    const POD_GRACE: Duration = Duration::from_secs(30);

    #[test]
    fn the_default_ends_before_the_pod_is_killed_and_leaves_time_for_the_rest() {
        let Drain { grace, finish } = Drain::default();
        assert!(grace + finish + Duration::from_secs(5) <= POD_GRACE);
    }

    #[test]
    fn the_default_outlasts_endpoints_that_spread_and_a_review_that_takes_its_time() {
        let Drain { grace, finish } = Drain::default();
        assert!(grace >= Duration::from_secs(10));
        assert!(finish > Duration::from_secs(10));
    }
}
