//! Connections that a listener refuses or evicts: each is counted, and they are logged at most once a minute.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tracing::warn;

use crate::access_log::TARGET;
use crate::metrics::Metrics;
use crate::port::Port;

/// The least time between two log lines.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

/// Counts and logs the connections that one listener refuses or evicts.
#[derive(Debug)]
pub(crate) struct Refusals {
    port: Port,
    metrics: Metrics,
    pending: Mutex<Pending>,
}

/// The counts since the last log line.
#[derive(Debug, Default)]
struct Pending {
    logged: Option<Instant>,
    counts: RefusalCounts,
}

/// Counts since the last log line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct RefusalCounts {
    refused: u64,
    evicted: u64,
    /// Failures of the operating system to accept a connection.
    failed: u64,
}

impl Refusals {
    pub(crate) fn new(port: Port, metrics: Metrics) -> Self {
        Self { port, metrics, pending: Mutex::default() }
    }

    /// The port of the listener.
    pub(crate) fn port(&self) -> Port {
        self.port
    }

    /// A connection was refused: closed at once.
    pub(crate) fn refused(&self) {
        self.metrics.refused(self.port);
        self.note(|counts| counts.refused += 1, None);
    }

    /// A connection was evicted for another one.
    pub(crate) fn evicted(&self) {
        self.metrics.evicted(self.port);
        self.note(|counts| counts.evicted += 1, None);
    }

    /// The operating system failed to accept a connection.
    pub(crate) fn failed(&self, error: &io::Error) {
        self.note(|counts| counts.failed += 1, Some(error));
    }

    fn note(&self, count: impl FnOnce(&mut RefusalCounts), error: Option<&io::Error>) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        count(&mut pending.counts);
        if let Some(counts) = pending.due(Instant::now()) {
            log(self.port, counts, error);
        }
    }
}

impl Pending {
    /// The counts to log now, if the last line is old enough.
    fn due(&mut self, now: Instant) -> Option<RefusalCounts> {
        if self.logged.is_some_and(|last| now.duration_since(last) < LOG_INTERVAL) {
            return None;
        }
        self.logged = Some(now);
        Some(std::mem::take(&mut self.counts))
    }
}

fn log(port: Port, RefusalCounts { refused, evicted, failed }: RefusalCounts, error: Option<&io::Error>) {
    let port = port.as_str();
    match error {
        None => warn!(target: TARGET, port, refused, evicted, failed, "connection limit reached"),
        Some(error) => warn!(target: TARGET, port, refused, evicted, failed, %error, "cannot accept connections"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_logged_at_once_and_the_rest_once_a_minute() {
        let (mut pending, start) = (Pending::default(), Instant::now());
        let mut refuse_at = |second| {
            pending.counts.refused += 1;
            pending.due(start + Duration::from_secs(second)).map(|counts| counts.refused)
        };
        assert_eq!([0, 1, 59, 60, 61, 119].map(&mut refuse_at), [Some(1), None, None, Some(3), None, None]);
        assert_eq!(refuse_at(120), Some(3));
    }
}
