//! How long an answer of the API server is waited for, and how long until the next try.

use std::fmt;
use std::time::Duration;

use kube::core::Status;

use crate::failure::{RequestFailure, with_timeout};

/// How long one request may take. It is far less than a lease lasts.
pub(crate) const SHORT_TIMEOUT: Duration = Duration::from_secs(4);

/// How long a reading may take: CRDs are large, and API servers may have little CPU.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a write may take that is guarded by what it was decided on. An API server takes seconds for a large CRD where
/// it has little CPU, and gives up the work where nobody waits for it. Such a write may end after the lease has: it
/// changes nothing that another replica has written.
const WRITE_TIMEOUT: Duration = Duration::from_secs(25);

/// A request that brought nothing.
#[derive(Debug)]
pub(crate) struct RequestError(RequestFailure);

impl RequestError {
    /// Whether the object has changed, gone or appeared meanwhile, so that a look at it tells more than another try.
    pub(crate) fn is_stale(&self) -> bool {
        self.status().is_some_and(|it| it.is_conflict() || it.is_already_exists() || it.is_not_found())
    }

    /// The same for a JSON Patch: where one of its tests fails, the API server calls it invalid.
    pub(crate) fn is_stale_patch(&self) -> bool {
        self.is_stale() || self.status().is_some_and(Status::is_invalid)
    }

    /// Whether the API server doesn't let this replica do it.
    pub(crate) fn is_forbidden(&self) -> bool {
        self.status().is_some_and(Status::is_forbidden)
    }

    fn status(&self) -> Option<&Status> {
        match &self.0 {
            RequestFailure::Failed(kube::Error::Api(status)) => Some(status),
            _ => None,
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.reason())
    }
}

/// Waits for an answer as long as one may take.
pub(crate) async fn with_short_timeout<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, RequestError> {
    with_timeout(SHORT_TIMEOUT, request).await.map_err(RequestError)
}

/// Waits for what is read: nothing is lost where it comes late, since what is written on it is guarded.
pub(crate) async fn with_read_timeout<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, RequestError> {
    with_timeout(READ_TIMEOUT, request).await.map_err(RequestError)
}

/// Waits for the answer to a write that is guarded.
pub(crate) async fn with_write_timeout<T>(request: impl Future<Output = kube::Result<T>>) -> Result<T, RequestError> {
    with_timeout(WRITE_TIMEOUT, request).await.map_err(RequestError)
}

/// How long to wait between tries that fail: twice as long each time, up to a limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Backoff {
    next: Duration,
}

/// How long something has been failing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorStreak {
    /// Not at all, or for a moment, as when an API server restarts.
    Short,
    /// So long that a person should know.
    Long,
}

impl Backoff {
    const FIRST: Duration = Duration::from_millis(250);
    const LONGEST: Duration = Duration::from_secs(15);

    pub(crate) fn new() -> Self {
        Self { next: Self::FIRST }
    }

    /// How long to wait after one more failure.
    pub(crate) fn fail(&mut self) -> Duration {
        let wait = self.next;
        self.next = (wait * 2).min(Self::LONGEST);
        wait
    }

    /// After a success; gives what was before it.
    pub(crate) fn reset(&mut self) -> ErrorStreak {
        let before = self.streak();
        self.next = Self::FIRST;
        before
    }

    /// Whether failures have gone on for some seconds.
    pub(crate) fn streak(&self) -> ErrorStreak {
        if self.next >= 16 * Self::FIRST { ErrorStreak::Long } else { ErrorStreak::Short }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_tried_again_ever_more_seldom_and_a_success_ends_that() {
        let mut backoff = Backoff::new();
        let waits: Vec<_> = (0..8).map(|_| backoff.fail().as_millis()).collect();
        assert_eq!(waits, [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
        assert_eq!(backoff.reset(), ErrorStreak::Long);
        assert_eq!((backoff.streak(), backoff.fail()), (ErrorStreak::Short, Backoff::FIRST));
    }
}
