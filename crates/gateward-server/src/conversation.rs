//! One connection while it is open: what is under way on it, and when it has been used for long enough.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::connections::ConnectionState;
use crate::patience::Activity;

/// What is known of one connection.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    activity: Arc<Activity>,
    state: Arc<ConnectionState>,
    /// From when on it ends with the next answer; `None` means never.
    end: Option<Instant>,
    goodbye: Notify,
}

impl Conversation {
    /// A connection that begins now. Its number decides by how much its age differs from others'.
    pub(crate) fn new(state: Arc<ConnectionState>, age: Duration, number: u64) -> Self {
        Self { state, end: Instant::now().checked_add(spread(age, number)), ..Self::default() }
    }

    /// What its requests tell those who look for room.
    pub(crate) fn state(&self) -> &Arc<ConnectionState> {
        &self.state
    }

    /// What its requests tell the watch over its bytes.
    pub(crate) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }

    /// Whether it has been used for long enough.
    pub(crate) fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// Ends it as soon as all is answered, where an answer itself can't say so.
    pub(crate) fn say_goodbye(&self) {
        self.goodbye.notify_one();
    }

    /// Waits until it is to be ended.
    pub(crate) async fn goodbye(&self) {
        self.goodbye.notified().await;
    }
}

/// An age within a tenth more or less. Connections that were opened together, such as those of an API server to a replica
/// that just became ready, don't end together: neighbouring numbers are far apart.
fn spread(age: Duration, number: u64) -> Duration {
    /// 2⁶⁴ divided by the golden ratio: its multiples fill a circle evenly, however many there are.
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    let place = u32::try_from(number.wrapping_mul(GOLDEN) >> 32).unwrap_or_default();
    let tenth = age / 10;
    let more = tenth.mul_f64(2.0 * f64::from(place) / f64::from(u32::MAX));
    (tenth * 9).saturating_add(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGE: Duration = Duration::from_mins(5);

    #[test]
    fn ages_differ_by_a_tenth_at_most_and_fill_it() {
        let mut ages: Vec<u64> = (0..100).map(|number| spread(AGE, number).as_secs()).collect();
        ages.sort_unstable();
        assert!(ages[0] >= 270 && ages[0] < 272, "{ages:?}");
        assert!(ages[99] <= 330 && ages[99] > 328, "{ages:?}");
        let widest = ages.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(widest <= Some(2), "{ages:?}");
    }

    #[test]
    fn neighbours_are_far_apart() {
        for number in 0..100 {
            let apart = spread(AGE, number).abs_diff(spread(AGE, number + 1));
            assert!(apart > Duration::from_secs(20), "{number}: {apart:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_over_when_it_has_its_age() {
        let conversation = Conversation::new(Arc::default(), AGE, 0);
        assert!(!conversation.is_over());
        tokio::time::advance(Duration::from_secs(269)).await;
        assert!(!conversation.is_over());
        tokio::time::advance(Duration::from_secs(61)).await;
        assert!(conversation.is_over());
    }

    #[tokio::test(start_paused = true)]
    async fn an_endless_age_is_never_over() {
        let conversation = Conversation::new(Arc::default(), Duration::MAX, 1);
        tokio::time::advance(Duration::from_hours(24 * 365)).await;
        assert!(!conversation.is_over());
    }
}
