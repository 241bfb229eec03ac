//! What stands in a lease, and what follows from it.
//!
//! No clock of another machine is trusted: how long a holder has been silent is measured from when its record was first
//! seen here, by a clock that doesn't jump.

use std::time::{Duration, Instant};

/// What stands in a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeaseRecord {
    /// Who holds it; `None` if it was given back.
    pub(super) holder: Option<String>,
    /// For how long it holds after each renewal.
    pub(super) duration: Duration,
    /// The object's resourceVersion: it changes with every renewal.
    pub(super) version: String,
}

/// A record, and since when it has stood unchanged as far as it was seen here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ObservedRecord {
    pub(super) record: LeaseRecord,
    pub(super) since: Instant,
}

/// What is to be done about a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeaseAction {
    /// There is none yet.
    Create,
    /// It is held here already.
    Renew,
    /// Nobody holds it any more.
    Acquire,
    /// Another one holds it.
    Wait,
}

impl ObservedRecord {
    /// After another look: time only starts anew where the record has changed.
    pub(super) fn after(before: Option<Self>, record: LeaseRecord, now: Instant) -> Self {
        match before {
            Some(before) if before.record == record => before,
            _ => Self { record, since: now },
        }
    }
}

/// What is to be done by the replica `me`.
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
