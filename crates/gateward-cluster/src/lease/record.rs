//! The record in a lease, and the action that follows from it.
//!
//! No clock of another machine is trusted: the time since the last renewal is measured from when the record was first
//! observed here, by a clock that doesn't jump.

use std::time::{Duration, Instant};

/// The record in a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeaseRecord {
    /// Who holds it; `None` if it was released.
    pub(super) holder: Option<String>,
    /// For how long it is valid after each renewal.
    pub(super) duration: Duration,
    /// The object's resourceVersion: it changes with every renewal.
    pub(super) version: String,
}

/// A record, and since when it has been observed unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ObservedRecord {
    pub(super) record: LeaseRecord,
    pub(super) since: Instant,
}

/// What the elector does with a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseAction {
    /// Creates it: there is none.
    Create,
    /// Renews it: this replica holds it.
    Renew,
    /// Takes it: it is released or has expired.
    Acquire,
    /// Waits: another replica holds it.
    Wait,
}

impl ObservedRecord {
    /// The next observation: the time restarts only if the record has changed.
    pub(super) fn after(before: Option<Self>, record: LeaseRecord, now: Instant) -> Self {
        match before {
            Some(before) if before.record == record => before,
            _ => Self { record, since: now },
        }
    }
}

/// The action of the replica `me`.
pub(super) fn decide(me: &str, seen: Option<&ObservedRecord>, now: Instant) -> LeaseAction {
    let Some(ObservedRecord { record, since }) = seen else { return LeaseAction::Create };
    match &record.holder {
        None => LeaseAction::Acquire,
        Some(holder) if holder == me => LeaseAction::Renew,
        Some(_) if now.saturating_duration_since(*since) >= record.duration => LeaseAction::Acquire,
        Some(_) => LeaseAction::Wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DURATION: Duration = Duration::from_secs(15);

    fn record(holder: Option<&str>, version: &str) -> LeaseRecord {
        LeaseRecord { holder: holder.map(str::to_owned), duration: DURATION, version: version.to_owned() }
    }

    fn seen(record: LeaseRecord, since: Instant) -> ObservedRecord {
        ObservedRecord { record, since }
    }

    #[test]
    fn a_lease_that_is_not_there_is_made_and_one_given_back_is_taken() {
        let now = Instant::now();
        assert_eq!(decide("me", None, now), LeaseAction::Create);
        assert_eq!(decide("me", Some(&seen(record(None, "1"), now)), now), LeaseAction::Acquire);
    }

    #[test]
    fn ones_own_lease_is_renewed_however_old_it_is() {
        let then = Instant::now();
        let mine = seen(record(Some("me"), "1"), then);
        assert_eq!(decide("me", Some(&mine), then + 10 * DURATION), LeaseAction::Renew);
    }

    #[test]
    fn another_holder_loses_its_lease_after_it_was_silent_for_as_long_as_it_lasts() {
        let then = Instant::now();
        let theirs = seen(record(Some("other"), "1"), then);
        assert_eq!(decide("me", Some(&theirs), then + Duration::from_millis(14_999)), LeaseAction::Wait);
        assert_eq!(decide("me", Some(&theirs), then + DURATION), LeaseAction::Acquire);
    }

    #[test]
    fn every_renewal_starts_the_time_anew() {
        let then = Instant::now();
        let later = then + Duration::from_secs(14);
        let first = ObservedRecord::after(None, record(Some("other"), "1"), then);
        let same = ObservedRecord::after(Some(first.clone()), record(Some("other"), "1"), later);
        assert_eq!(same, first);
        let renewed = ObservedRecord::after(Some(same), record(Some("other"), "2"), later);
        assert_eq!(renewed.since, later);
        assert_eq!(decide("me", Some(&renewed), then + DURATION), LeaseAction::Wait);
    }

    #[test]
    fn a_holder_of_another_name_is_another_holder() {
        let then = Instant::now();
        let earlier_process = seen(record(Some("otter-1_a"), "1"), then);
        assert_eq!(decide("otter-1_b", Some(&earlier_process), then), LeaseAction::Wait);
    }
}
