//! The operator's own controllers, beside the server.

use std::future::{Future, pending, ready};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{Fuse, FusedFuture as _};
use gateward_cluster::Client;
use gateward_core::BoxFuture;
use gateward_server::{Panicked, catch_panic};
use tokio::sync::oneshot;

use crate::operator::{ControllersError, Operator};
use crate::shutdown_signal::ShutdownSignal;

/// How long controllers may take to end: with the time that the lease takes, less than the server drains.
const ENDING: Duration = Duration::from_secs(15);

/// What the operator does beside the server.
pub(super) struct Controllers<'a> {
    work: Fuse<BoxFuture<'a, Result<(), ControllersError>>>,
    shutdown: oneshot::Sender<()>,
}

impl<'a> Controllers<'a> {
    /// Those of an operator. They work while they are polled.
    pub(super) fn start<P: Operator>(operator: &'a P, client: Client) -> Self {
        Self::of(|shutdown| operator.controllers(client, shutdown))
    }

    /// None: there is no API server for them.
    pub(super) fn none() -> Self {
        Self::of(|_| ready(Ok(())))
    }

    fn of<F>(work: impl FnOnce(ShutdownSignal) -> F + Send + 'a) -> Self
    where
        F: Future<Output = Result<(), ControllersError>> + Send + 'a,
    {
        let (shutdown, asked) = oneshot::channel();
        // A sender that is gone asks for the end too.
        let signal = ShutdownSignal::when(asked.map(drop));
        let work: BoxFuture<'a, _> = Box::pin(async move {
            // A panic ends the server as an error does: the leases are given back before.
            let ended = catch_panic(async move { work(signal).await }).await;
            ended.unwrap_or_else(|Panicked| Err("one of them panicked".into()))
        });
        Self { work: work.fuse(), shutdown }
    }

    /// Lets them work until one of them fails.
    pub(super) async fn failure(&mut self) -> ControllersError {
        match (&mut self.work).await {
            Err(error) => error,
            Ok(()) => pending().await,
        }
    }

    /// Asks them to end, and lets them finish what they do.
    pub(super) async fn stop(self) {
        let Self { work, shutdown } = self;
        if work.is_terminated() {
            return;
        }
        // They may have ended just now.
        let _ = shutdown.send(());
        match tokio::time::timeout(ENDING, work).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the controllers have ended with an error"),
            Err(_) => tracing::warn!(limit = ?ENDING, "the controllers did not end in time; what they do is abandoned"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test]
    async fn an_error_is_a_failure() {
        let mut controllers = Controllers::of(|_| ready(Err("no such kind".into())));
        assert_eq!(controllers.failure().await.to_string(), "no such kind");
    }

    #[tokio::test]
    async fn a_panic_is_a_failure_too() {
        let mut controllers = Controllers::of(|_| async { panic!("no such kind") });
        assert_eq!(controllers.failure().await.to_string(), "one of them panicked");
    }

    #[tokio::test]
    async fn controllers_that_panic_at_the_end_keep_nothing_else_from_ending() {
        let controllers = Controllers::of(|shutdown| async {
            shutdown.await;
            panic!("half of it is written")
        });
        controllers.stop().await;
    }

    #[tokio::test(start_paused = true)]
    async fn an_end_without_an_error_is_none_and_needs_no_stop() {
        let mut controllers = Controllers::none();
        let waited = tokio::time::timeout(Duration::from_hours(1), controllers.failure()).await;
        assert!(waited.is_err());
        controllers.stop().await;
    }

    #[tokio::test(start_paused = true)]
    async fn controllers_that_are_asked_to_end_finish_what_they_do() {
        let done = Arc::new(AtomicBool::new(false));
        let finished = Arc::clone(&done);
        let mut controllers = Controllers::of(|shutdown| async move {
            shutdown.await;
            tokio::time::sleep(Duration::from_secs(10)).await;
            finished.store(true, Ordering::SeqCst);
            Ok(())
        });
        let waited = tokio::time::timeout(Duration::from_secs(1), controllers.failure()).await;
        assert!(waited.is_err());
        controllers.stop().await;
        assert!(done.load(Ordering::SeqCst));
    }

    #[tokio::test(start_paused = true)]
    async fn controllers_that_never_end_are_abandoned() {
        let begun = tokio::time::Instant::now();
        Controllers::of(|_| pending()).stop().await;
        assert_eq!(begun.elapsed(), ENDING);
    }
}
