//! A Lease by which an operator of one namespace claims it, and for how long it counts.
//!
//! No clock of another machine is trusted: `renewTime` is only compared with what it was before, and the time since it
//! changed is measured here, by a clock that doesn't jump.

use std::time::{Duration, Instant, SystemTime};

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::jiff::Timestamp;

use crate::any_lease::shown_holder;

/// What is added to the duration of a lease before it has expired: for clocks that run at different rates, and for news
/// that is late.
pub(crate) const ALLOWANCE: Duration = Duration::from_secs(5);

/// The longest duration that counts, whatever a lease says.
const LONGEST: Duration = Duration::from_hours(1);

/// A lease, as far as it claims its namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamespaceLease {
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// Who holds it; `None` if it was released.
    pub(crate) holder: Option<String>,
    /// For how long it counts after each renewal. A lease that doesn't say so has expired.
    pub(crate) duration: Option<Duration>,
    /// When its holder says that it has renewed it. A lease that doesn't say so has expired.
    pub(crate) renewed: Option<Timestamp>,
    /// The uid and the resourceVersion, which guard writes.
    pub(crate) version: LeaseVersion,
}

/// Which state of which object a write is meant for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LeaseVersion {
    pub(crate) uid: String,
    pub(crate) resource_version: String,
}

/// A lease, and since when no renewal of it has been observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObservedLease {
    pub(crate) lease: NamespaceLease,
    pub(crate) since: Instant,
}

impl NamespaceLease {
    /// Reads a lease, which anyone in its namespace may have written.
    pub(crate) fn read(lease: &Lease) -> Self {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let spec = lease.spec.clone().unwrap_or_default();
        let holder = spec.holder_identity.filter(|holder| !holder.is_empty());
        let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        Self {
            namespace: text(&lease.metadata.namespace),
            name: text(&lease.metadata.name),
            holder: holder.as_deref().map(shown_holder),
            duration: seconds.filter(|seconds| *seconds > 0).map(Duration::from_secs),
            renewed: spec.renew_time.map(|time| time.0),
            version: LeaseVersion {
                uid: text(&lease.metadata.uid),
                resource_version: text(&lease.metadata.resource_version),
            },
        }
    }

    /// Whether it claims its namespace, by the clocks of its holder and of the API server: for a single look. Who
    /// watches it goes by its renewals.
    pub(crate) fn is_live_at(&self, now: SystemTime) -> bool {
        let (Some(_), Some(duration), Some(renewed)) = (&self.holder, self.duration, self.renewed) else {
            return false;
        };
        now < SystemTime::from(renewed) + duration.min(LONGEST) + ALLOWANCE
    }

    /// Whether both are the same renewal of the same holder, whatever else was written.
    fn is_same_renewal(&self, other: &Self) -> bool {
        self.version.uid == other.version.uid && self.holder == other.holder && self.renewed == other.renewed
    }
}

impl ObservedLease {
    /// The next observation: the time restarts only with a renewal or another holder.
    pub(crate) fn after(before: Option<&Self>, lease: NamespaceLease, now: Instant) -> Self {
        let since = before.filter(|before| before.lease.is_same_renewal(&lease)).map_or(now, |before| before.since);
        Self { lease, since }
    }

    /// When it expires unless it is renewed; `None` for a lease that claims nothing.
    pub(crate) fn expiry(&self) -> Option<Instant> {
        let NamespaceLease { holder, duration, renewed, .. } = &self.lease;
        let (Some(_), Some(duration), Some(_)) = (holder, duration, renewed) else { return None };
        Some(self.since + (*duration).min(LONGEST) + ALLOWANCE)
    }

    /// Whether it claims its namespace.
    pub(crate) fn is_live(&self, now: Instant) -> bool {
        self.expiry().is_some_and(|expiry| now < expiry)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::any_lease::HOLDER;

    const SECOND: Duration = Duration::from_secs(1);

    fn lease(spec: &Value) -> NamespaceLease {
        let metadata =
            json!({"name": "dynamo-operator-ns-lock", "namespace": "team-a", "uid": "u", "resourceVersion": "7"});
        NamespaceLease::read(&serde_json::from_value(json!({"metadata": metadata, "spec": spec})).unwrap())
    }

    fn held(renewed: &str) -> NamespaceLease {
        lease(&json!({"holderIdentity": "a/1", "leaseDurationSeconds": 30, "renewTime": renewed}))
    }

    #[test]
    fn a_single_look_goes_by_the_time_that_the_holder_wrote() {
        let renewed = SystemTime::from("2027-01-15T08:00:00Z".parse::<Timestamp>().unwrap());
        let live = |lease: &NamespaceLease, after: u32| lease.is_live_at(renewed + after * SECOND);
        let lease_of = |holder: &str| {
            let renewed = "2027-01-15T08:00:00.000000Z";
            lease(&json!({"holderIdentity": holder, "leaseDurationSeconds": 30, "renewTime": renewed}))
        };
        assert!(live(&lease_of("a/1"), 34) && !live(&lease_of("a/1"), 35));
        assert!(!live(&lease_of(""), 0) && !live(&lease(&json!({"holderIdentity": "a/1"})), 0));
    }

    #[test]
    fn a_lease_counts_for_its_duration_and_the_allowance_after_the_last_renewal_that_was_seen() {
        let start = Instant::now();
        let first = ObservedLease::after(None, held("2027-01-15T08:00:00.000000Z"), start);
        assert!(first.is_live(start + 34 * SECOND) && !first.is_live(start + 35 * SECOND));
        let same = ObservedLease::after(Some(&first), held("2027-01-15T08:00:00.000000Z"), start + 20 * SECOND);
        assert_eq!(same.since, start);
        let renewed = ObservedLease::after(Some(&same), held("2027-01-15T08:00:10.000000Z"), start + 20 * SECOND);
        assert!(renewed.is_live(start + 54 * SECOND));
    }

    #[test]
    fn the_time_that_the_holder_writes_is_not_compared_with_any_clock() {
        let start = Instant::now();
        for renewed in ["1970-01-01T00:00:00.000000Z", "2999-01-01T00:00:00.000000Z"] {
            let seen = ObservedLease::after(None, held(renewed), start);
            assert!(seen.is_live(start + 34 * SECOND) && !seen.is_live(start + 35 * SECOND), "{renewed}");
        }
    }

    #[test]
    fn other_writes_renew_nothing() {
        let start = Instant::now();
        let first = ObservedLease::after(None, held("2027-01-15T08:00:00.000000Z"), start);
        let mut labelled = first.lease.clone();
        labelled.version.resource_version = "8".into();
        assert_eq!(ObservedLease::after(Some(&first), labelled, start + SECOND).since, start);
    }

    #[test]
    fn a_lease_without_holder_renewal_or_duration_has_expired() {
        let now = Instant::now();
        let renewed = "2027-01-15T08:00:00.000000Z";
        for spec in [
            Value::Null,
            json!({"holderIdentity": "", "leaseDurationSeconds": 30, "renewTime": renewed}),
            json!({"holderIdentity": "a", "leaseDurationSeconds": 30}),
            json!({"holderIdentity": "a", "renewTime": renewed}),
            json!({"holderIdentity": "a", "leaseDurationSeconds": 0, "renewTime": renewed}),
            json!({"holderIdentity": "a", "leaseDurationSeconds": -1, "renewTime": renewed}),
        ] {
            assert!(!ObservedLease::after(None, lease(&spec), now).is_live(now), "{spec}");
        }
    }

    #[test]
    fn no_lease_counts_for_more_than_an_hour() {
        let now = Instant::now();
        let spec =
            json!({"holderIdentity": "a", "leaseDurationSeconds": i32::MAX, "renewTime": "2027-01-15T08:00:00.0Z"});
        assert!(!ObservedLease::after(None, lease(&spec), now).is_live(now + LONGEST + ALLOWANCE));
    }

    #[test]
    fn a_holder_of_any_length_is_cut_and_controls_no_terminal() {
        assert_eq!(lease(&json!({"holderIdentity": "a\n\u{1b}[2J\u{202e}b"})).holder.as_deref(), Some("a[2Jb"));
        let spec = json!({"holderIdentity": "é".repeat(10_000)});
        assert_eq!(lease(&spec).holder.unwrap().chars().count(), HOLDER);
    }
}
