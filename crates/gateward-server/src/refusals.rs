//! What is said of connections that found no room: counted each, logged once a minute.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::journal;
use crate::metrics::{Metrics, Port};

/// How long the log keeps silent after a line.
const PAUSE: Duration = Duration::from_mins(1);

/// The account of one listener.
#[derive(Debug)]
pub(crate) struct Refusals {
    port: Port,
    metrics: Metrics,
    account: Mutex<Account>,
}

/// What was not logged yet.
#[derive(Debug, Default)]
struct Account {
    logged: Option<Instant>,
    unsaid: Counts,
}

/// Connections that found no room, and connections that were closed to make room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) refused: u64,
    pub(crate) evicted: u64,
    /// Times that the operating system had nothing left to accept with.
    pub(crate) failed: u64,
}

impl Refusals {
    pub(crate) fn new(port: Port, metrics: Metrics) -> Self {
        Self { port, metrics, account: Mutex::default() }
    }

    /// The port whose account this is.
    pub(crate) fn port(&self) -> Port {
        self.port
    }

    /// A connection was closed at once.
    pub(crate) fn refused(&self) {
        self.metrics.refused(self.port);
        self.note(|counts| counts.refused += 1, None);
    }

    /// A connection was closed to make room for another.
    pub(crate) fn evicted(&self) {
        self.metrics.evicted(self.port);
        self.note(|counts| counts.evicted += 1, None);
    }

    /// The operating system accepts nothing.
    pub(crate) fn failed(&self, error: &io::Error) {
        self.note(|counts| counts.failed += 1, Some(error));
    }

    fn note(&self, count: impl FnOnce(&mut Counts), error: Option<&io::Error>) {
        let mut account = self.account.lock().unwrap_or_else(PoisonError::into_inner);
        count(&mut account.unsaid);
        if let Some(counts) = account.due(Instant::now()) {
            journal::no_room(self.port, counts, error);
        }
    }
}

impl Account {
    /// What is to be logged now, if the last line is old enough.
    fn due(&mut self, now: Instant) -> Option<Counts> {
        if self.logged.is_some_and(|last| now.duration_since(last) < PAUSE) {
            return None;
        }
        self.logged = Some(now);
        Some(std::mem::take(&mut self.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_logged_at_once_and_the_rest_once_a_minute() {
        let (mut account, start) = (Account::default(), Instant::now());
        let mut refuse_at = |second| {
            account.unsaid.refused += 1;
            account.due(start + Duration::from_secs(second)).map(|counts| counts.refused)
        };
        assert_eq!([0, 1, 59, 60, 61, 119].map(&mut refuse_at), [Some(1), None, None, Some(3), None, None]);
        assert_eq!(refuse_at(120), Some(3));
    }
}
