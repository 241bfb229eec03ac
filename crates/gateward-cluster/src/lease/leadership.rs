//! Whether this replica is the leader.

use std::time::{Duration, Instant, SystemTime};

use tokio::sync::watch;

use crate::status::Leader;

/// Who holds the lease, as this replica knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LeaderState {
    /// No leader, or it isn't known.
    Unknown,
    /// This replica leads while the lease is valid.
    Leading(LeaseValidity),
    /// Another replica leads: the holder of the lease.
    Following(String),
}

/// Until when this replica may write.
///
/// Both clocks count, because the monotonic clock stops while a machine is suspended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LeaseValidity {
    until: Instant,
    until_by_the_wall: SystemTime,
}

impl LeaseValidity {
    pub(super) fn starting(now: Instant, wall: SystemTime, time: Duration) -> Self {
        Self { until: now + time, until_by_the_wall: wall + time }
    }

    fn remaining(&self, now: Instant, wall: SystemTime) -> Option<Duration> {
        let by_the_wall = self.until_by_the_wall.duration_since(wall).ok()?;
        Some(self.until.checked_duration_since(now)?.min(by_the_wall)).filter(|left| !left.is_zero())
    }
}

/// Whether this replica leads, for the tasks that write.
#[derive(Debug, Clone)]
pub(crate) struct Leadership(watch::Receiver<LeaderState>);

impl Leadership {
    pub(super) fn new() -> (watch::Sender<LeaderState>, Self) {
        let (sender, receiver) = watch::channel(LeaderState::Unknown);
        (sender, Self(receiver))
    }

    /// For how long this replica may still write; `None` if it may not.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        match &*self.0.borrow() {
            LeaderState::Leading(validity) => validity.remaining(Instant::now(), SystemTime::now()),
            _ => None,
        }
    }

    /// Who holds the lease.
    pub(crate) fn leader(&self) -> Leader {
        let remaining = self.remaining();
        match &*self.0.borrow() {
            LeaderState::Leading(_) if remaining.is_some() => Leader::ThisReplica,
            LeaderState::Following(holder) => Leader::Other(holder.clone()),
            LeaderState::Leading(_) | LeaderState::Unknown => Leader::Unknown,
        }
    }

    /// Waits until the leader changes, or the lease is renewed or expires. It never returns once the elector has ended.
    pub(crate) async fn changed(&mut self) {
        let end = self.remaining();
        let changed = async {
            if self.0.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        match end {
            Some(end) => drop(tokio::time::timeout(end, changed).await),
            None => changed.await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_secs(10);

    #[test]
    fn a_lease_expires() {
        let (now, wall) = (Instant::now(), SystemTime::now());
        let validity = LeaseValidity::starting(now, wall, TIME);
        let second = Duration::from_secs(1);
        assert_eq!(validity.remaining(now + second, wall + second), Some(Duration::from_secs(9)));
        assert_eq!(validity.remaining(now + TIME, wall + TIME), None);
    }

    #[test]
    fn a_lease_expires_while_the_machine_is_suspended() {
        let (now, wall) = (Instant::now(), SystemTime::now());
        let validity = LeaseValidity::starting(now, wall, TIME);
        assert_eq!(validity.remaining(now, wall + Duration::from_hours(1)), None);
    }

    #[test]
    fn a_clock_that_is_set_back_lengthens_no_lease() {
        let (now, wall) = (Instant::now(), SystemTime::now());
        let validity = LeaseValidity::starting(now, wall, TIME);
        assert_eq!(validity.remaining(now + TIME, wall - Duration::from_hours(1)), None);
    }
}
