//! Timeouts of requests to the API server, and the backoff between retries.

use std::time::Duration;

pub(crate) use crate::failure::RequestError;
use crate::failure::with_timeout;
use backon::ExponentialBuilder;
use kube::runtime::utils::Backoff as _;
use kube::runtime::watcher::ExponentialBackoff;

/// Timeout of a request, far less than the lease duration.
pub(crate) const SHORT_TIMEOUT: Duration = Duration::from_secs(4);

/// Timeout of a read: CRDs are large, and API servers may have little CPU.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout of a write that a resourceVersion guards. An API server with little CPU takes seconds for a large CRD, and
/// aborts when the client disconnects. The write may end after the lease has expired: the guard protects what another
/// leader has written.
const WRITE_TIMEOUT: Duration = Duration::from_secs(25);

/// Sends a request with the short timeout.
pub(crate) async fn with_short_timeout<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, RequestError> {
    with_timeout(SHORT_TIMEOUT, request).await
}

/// Reads with a longer timeout: a late answer does no harm, since the writes that follow are guarded.
pub(crate) async fn with_read_timeout<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, RequestError> {
    with_timeout(READ_TIMEOUT, request).await
}

/// Sends a guarded write.
pub(crate) async fn with_write_timeout<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, RequestError> {
    with_timeout(WRITE_TIMEOUT, request).await
}

/// Exponential backoff between retries with jitter, so that replicas don't return to the API server in lockstep. It is
/// that of kube's watchers with other delays: theirs begin at 0.8 s and end at 30 s, the duration of a lease.
pub struct Backoff {
    delays: ExponentialBackoff,
    failures: u32,
}

/// How long requests have been failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorStreak {
    /// Not at all, or for a moment, as when an API server restarts.
    Short,
    /// Long enough to warn.
    Long,
}

impl Backoff {
    const SHORTEST: Duration = Duration::from_millis(250);
    const LONGEST: Duration = Duration::from_secs(15);
    /// This many failures in a row take some seconds.
    const LONG_STREAK: u32 = 4;

    pub(crate) fn new() -> Self {
        Self::with_delays(Self::SHORTEST, Self::LONGEST)
    }

    /// Delays double from the shortest to the longest; jitter at most doubles each.
    pub fn with_delays(shortest: Duration, longest: Duration) -> Self {
        Self::jittered(ExponentialBuilder::new().with_min_delay(shortest).with_max_delay(longest).with_jitter())
    }

    fn jittered(builder: ExponentialBuilder) -> Self {
        Self { delays: builder.with_factor(2.0).without_max_times().into(), failures: 0 }
    }

    /// Counts a failure; returns the time until the retry.
    pub fn fail(&mut self) -> Duration {
        self.failures = self.failures.saturating_add(1);
        self.delays.next().unwrap_or(Self::LONGEST)
    }

    /// Counts a success; returns the streak that it ends.
    pub(crate) fn reset(&mut self) -> ErrorStreak {
        let before = self.streak();
        self.delays.reset();
        self.failures = 0;
        before
    }

    /// Whether failures have gone on for some seconds.
    pub(crate) fn streak(&self) -> ErrorStreak {
        if self.failures >= Self::LONG_STREAK { ErrorStreak::Long } else { ErrorStreak::Short }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_limit_and_a_success_ends_that() {
        let mut backoff = Backoff::new();
        for delay in [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000].map(Duration::from_millis) {
            let wait = backoff.fail();
            assert!((delay..=2 * delay).contains(&wait), "{wait:?} for {delay:?}");
        }
        assert_eq!(backoff.reset(), ErrorStreak::Long);
        assert_eq!(backoff.streak(), ErrorStreak::Short);
        assert!(backoff.fail() <= 2 * Backoff::SHORTEST);
    }

    #[test]
    fn replicas_wait_for_different_times() {
        let seeded = |seed| {
            let delays = ExponentialBuilder::new().with_min_delay(Backoff::SHORTEST).with_jitter();
            let mut backoff = Backoff::jittered(delays.with_jitter_seed(seed));
            [(); 3].map(|()| backoff.fail())
        };
        assert_eq!(seeded(1), seeded(1));
        assert_ne!(seeded(1), seeded(2));
    }
}
