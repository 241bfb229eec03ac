//! The state of an open connection: its requests, its age, and whether the server wants to close it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::connection::timeouts::Activity;
use crate::limits::connection_limit::RequestProgress;

/// The state of one connection, shared by its requests.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    activity: Arc<Activity>,
    progress: Arc<RequestProgress>,
    /// From when on it closes with its next response; `None` means never.
    max_age_at: Option<Instant>,
    close_requested: Notify,
}

impl ConnectionState {
    /// A connection that may send requests from now on. `number` spreads the ages of connections.
    pub(crate) fn new(progress: Arc<RequestProgress>, age: Duration, number: u64) -> Self {
        progress.handshake_done();
        Self { progress, max_age_at: Instant::now().checked_add(spread(age, number)), ..Self::default() }
    }

    /// The progress of its requests, for eviction.
    pub(crate) fn progress(&self) -> &Arc<RequestProgress> {
        &self.progress
    }

    /// The activity of its requests, for the timeouts.
    pub(crate) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// Whether it has been open for its maximum age.
    pub(crate) fn has_reached_max_age(&self) -> bool {
        self.max_age_at.is_some_and(|end| Instant::now() >= end)
    }

    /// Closes it after all requests in flight, where a response itself can't say so.
    pub(crate) fn request_close(&self) {
        self.close_requested.notify_one();
    }

    /// Waits until [`Self::request_close`] is called.
    pub(crate) async fn close_requested(&self) {
        self.close_requested.notified().await;
    }
}

/// An age that differs from `age` by up to a tenth. Connections that opened together, such as those of an API server to a
/// replica that just became ready, don't close together: neighbouring numbers are far apart.
fn spread(age: Duration, number: u64) -> Duration {
    /// 2⁶⁴ divided by the golden ratio: its multiples fill a circle evenly, however many there are.
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let position = u32::try_from(number.wrapping_mul(GOLDEN) >> 32).unwrap_or_default();
    let tenth = age / 10;
    let more = tenth.mul_f64(2.0 * f64::from(position) / f64::from(u32::MAX));
    (tenth * 9).saturating_add(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGE: Duration = Duration::from_mins(5);

    #[test]
    fn ages_are_spread_evenly_over_a_tenth_more_and_less() {
        let mut ages: Vec<u64> = (0..100).map(|number| spread(AGE, number).as_secs()).collect();
        ages.sort_unstable();
        assert!(ages[0] >= 270 && ages[0] < 272, "{ages:?}");
        assert!(ages[99] <= 330 && ages[99] > 328, "{ages:?}");
        let widest = ages.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(widest <= Some(2), "{ages:?}");
    }

    #[test]
    fn neighbouring_numbers_are_far_apart() {
        for number in 0..100 {
            let apart = spread(AGE, number).abs_diff(spread(AGE, number + 1));
            assert!(apart > Duration::from_secs(20), "{number}: {apart:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_reaches_its_maximum_age() {
        let connection = ConnectionState::new(Arc::default(), AGE, 0);
        assert!(!connection.has_reached_max_age());
        tokio::time::advance(Duration::from_secs(269)).await;
        assert!(!connection.has_reached_max_age());
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(connection.has_reached_max_age());
    }

    #[tokio::test(start_paused = true)]
    async fn an_unlimited_age_is_never_reached() {
        let connection = ConnectionState::new(Arc::default(), Duration::MAX, 1);
        tokio::time::advance(Duration::from_hours(24 * 365)).await;
        assert!(!connection.has_reached_max_age());
    }
}
