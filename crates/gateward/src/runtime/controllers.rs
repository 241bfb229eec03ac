//! The operator's own controllers, beside the server.

use std::future::{Future, pending, ready};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{Fuse, FusedFuture as _};
use gateward_cluster::{Backoff, Client};
use gateward_core::BoxFuture;
use gateward_server::{Readiness, ReportLine, catch_panic};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::operator::{ControllersError, Operator};
use crate::shutdown_signal::ShutdownSignal;

/// How long controllers may take to end: with the time that the lease takes, less than the server drains.
const ENDING: Duration = Duration::from_secs(15);
/// The pause after a first panic, and the longest: controllers that start list all of their objects. Jitter adds up to
/// the same again.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The name of the report in the readiness pages.
const NAME: &str = "controllers";

/// What the operator does beside the server.
pub(super) struct Controllers<'a> {
    work: Fuse<BoxFuture<'a, Result<(), ControllersError>>>,
    shutdown: oneshot::Sender<()>,
}

impl<'a> Controllers<'a> {
    /// Those of an operator. They work while they are polled.
    pub(super) fn start<P: Operator>(operator: &'a P, client: Client, readiness: &Readiness) -> Self {
        Self::of(readiness.clone(), move |shutdown| operator.controllers(client.clone(), shutdown))
    }

    /// None: there is no API server for them.
    pub(super) fn none() -> Self {
        Self::of(Readiness::new(), |_| ready(Ok(())))
    }

    fn of<F>(readiness: Readiness, work: impl FnMut(ShutdownSignal) -> F + Send + 'a) -> Self
    where
        F: Future<Output = Result<(), ControllersError>> + Send + 'a,
    {
        let (shutdown, asked) = oneshot::channel();
        // A sender that is gone asks for the end too.
        let signal = ShutdownSignal::when(asked.map(drop));
        let work: BoxFuture<'a, _> = Box::pin(until_they_end(readiness, work, signal));
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

/// Lets them work until they end, and starts them anew after a panic: what makes one panic, such as an object, does so
/// in each replica, and if that ended servers, API servers would be left without an answer.
async fn until_they_end<F>(
    readiness: Readiness,
    mut work: impl FnMut(ShutdownSignal) -> F,
    shutdown: ShutdownSignal,
) -> Result<(), ControllersError>
where
    F: Future<Output = Result<(), ControllersError>>,
{
    let mut backoff = Backoff::with_delays(FIRST_PAUSE, LONGEST_PAUSE);
    let mut panics = 0_u64;
    loop {
        let begun = Instant::now();
        // To call them may panic too.
        if let Ok(ended) = catch_panic(async { work(shutdown.clone()).await }).await {
            return ended;
        }
        panics += 1;
        if begun.elapsed() > LONGEST_PAUSE {
            backoff = Backoff::with_delays(FIRST_PAUSE, LONGEST_PAUSE);
        }
        let pause = backoff.fail();
        tracing::error!(panics, ?pause, "the controllers panicked; unless the server ends, they start anew");
        let line = format!("panics so far: {panics}; after each they start anew, and the log says where it was");
        readiness.report(NAME, vec![ReportLine::Warning(line)]);
        if tokio::time::timeout(pause, shutdown.clone()).await.is_ok() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn an_error_is_a_failure() {
        let mut controllers = Controllers::of(Readiness::new(), |_| ready(Err("no such kind".into())));
        assert_eq!(controllers.failure().await.to_string(), "no such kind");
    }

    #[tokio::test(start_paused = true)]
    async fn a_panic_is_none_and_they_start_anew_after_pauses_that_grow() {
        let starts = Mutex::new(Vec::new());
        let mut controllers = Controllers::of(Readiness::new(), |_| {
            starts.lock().unwrap().push(Instant::now());
            async { panic!("no such kind") }
        });
        let waited = tokio::time::timeout(Duration::from_mins(5), controllers.failure()).await;
        assert!(waited.is_err());
        drop(controllers);
        let starts = starts.into_inner().unwrap();
        let pauses: Vec<Duration> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(pauses[0] < Duration::from_secs(1), "{pauses:?}");
        assert!(pauses.last().is_some_and(|last| *last >= LONGEST_PAUSE), "{pauses:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_error_after_a_panic_is_a_failure() {
        let mut starts = 0;
        let mut controllers = Controllers::of(Readiness::new(), |_| {
            starts += 1;
            let is_first = starts == 1;
            async move { if is_first { panic!("no such kind") } else { Err("no such version".into()) } }
        });
        assert_eq!(controllers.failure().await.to_string(), "no such version");
    }

    #[tokio::test(start_paused = true)]
    async fn controllers_that_have_panicked_do_not_start_only_to_end() {
        let starts = AtomicUsize::new(0);
        let mut controllers = Controllers::of(Readiness::new(), |_| {
            starts.fetch_add(1, Ordering::SeqCst);
            async { panic!("no such kind") }
        });
        let waited = tokio::time::timeout(FIRST_PAUSE / 2, controllers.failure()).await;
        assert!(waited.is_err());
        let asked = Instant::now();
        controllers.stop().await;
        assert_eq!((starts.into_inner(), asked.elapsed()), (1, Duration::ZERO));
    }

    #[tokio::test]
    async fn controllers_that_panic_at_the_end_keep_nothing_else_from_ending() {
        let controllers = Controllers::of(Readiness::new(), |shutdown| async {
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
        let done = AtomicBool::new(false);
        let finished = &done;
        let mut controllers = Controllers::of(Readiness::new(), |shutdown| async move {
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
        let begun = Instant::now();
        Controllers::of(Readiness::new(), |_| pending()).stop().await;
        assert_eq!(begun.elapsed(), ENDING);
    }
}
