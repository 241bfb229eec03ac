//! What a replica of an operator of one namespace does with the lease that claims it.

use std::fmt;
use std::time::{Duration, Instant};

use super::record::{LeaseVersion, ObservedLease};
use crate::config::NamespaceLeaseTimes;

/// A replica as the holder of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) release: String,
    /// The uid of its Pod.
    pub(crate) pod: String,
}

/// What a replica may do at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Role {
    /// It leads, and holds the lease.
    Leading,
    /// Another replica does.
    Following,
    /// It ends.
    Leaving(Successor),
}

/// Who serves the namespace after a replica has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Successor {
    /// Another ready replica, by the uid of its Pod.
    Replica(String),
    /// None: it was the last.
    None,
    /// It can't be read who there is.
    Unknown,
}

/// What is done next with the lease. Every write but a creation names the state that it is meant for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// Creates it: there is none.
    Create,
    /// Renews it: this replica holds it.
    Renew(LeaseVersion),
    /// Takes it: it was released or has expired, or a replica of this release has held it.
    TakeOver(LeaseVersion),
    /// Gives it to another replica of this release.
    HandOver {
        from: LeaseVersion,
        /// The uid of its Pod.
        to: String,
    },
    /// Deletes it: no replica is left.
    Delete(LeaseVersion),
    /// Looks at it again after some time.
    Wait(Duration),
    /// Has nothing more to do with it.
    End,
}

/// The next step of a replica.
pub(crate) fn next_step(
    observed: Option<&ObservedLease>,
    us: &Holder,
    role: &Role,
    times: &NamespaceLeaseTimes,
    now: Instant,
) -> Step {
    match role {
        Role::Leading => lead(observed, us, times, now),
        Role::Following => Step::Wait(times.renew_interval),
        Role::Leaving(successor) => leave(observed, us, successor),
    }
}

fn lead(observed: Option<&ObservedLease>, us: &Holder, times: &NamespaceLeaseTimes, now: Instant) -> Step {
    let Some(seen) = observed else { return Step::Create };
    let version = || seen.lease.version.clone();
    match seen.lease.holder.as_deref() {
        Some(holder) if us.is(holder) => {
            let due = seen.since + times.renew_interval;
            if now >= due { Step::Renew(version()) } else { Step::Wait(due - now) }
        }
        Some(holder) if us.is_sibling(holder) => Step::TakeOver(version()),
        Some(_) if seen.is_live(now) => {
            let left = seen.expiry().map_or(Duration::ZERO, |expiry| expiry.saturating_duration_since(now));
            Step::Wait(left.min(times.renew_interval))
        }
        _ => Step::TakeOver(version()),
    }
}

fn leave(observed: Option<&ObservedLease>, us: &Holder, successor: &Successor) -> Step {
    let Some(seen) = observed.filter(|seen| seen.lease.holder.as_deref().is_some_and(|holder| us.is(holder))) else {
        return Step::End;
    };
    let from = seen.lease.version.clone();
    match successor {
        Successor::Replica(pod) => Step::HandOver { from, to: pod.clone() },
        Successor::None => Step::Delete(from),
        // Another replica takes it over at once; without one it expires.
        Successor::Unknown => Step::End,
    }
}

impl Holder {
    /// The same release, in another Pod.
    pub(crate) fn sibling(&self, pod: String) -> Self {
        Self { release: self.release.clone(), pod }
    }

    fn is(&self, holder: &str) -> bool {
        self.pod_of(holder) == Some(&self.pod)
    }

    fn is_sibling(&self, holder: &str) -> bool {
        self.pod_of(holder).is_some()
    }

    /// The Pod of a holder of this release.
    fn pod_of<'a>(&self, holder: &'a str) -> Option<&'a str> {
        holder.strip_prefix(self.release.as_str())?.strip_prefix('/')
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.release, self.pod)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;

    use super::*;
    use crate::namespace_lease::record::NamespaceLease;

    const SECOND: Duration = Duration::from_secs(1);

    fn us() -> Holder {
        Holder { release: "river".into(), pod: "1".into() }
    }

    fn version() -> LeaseVersion {
        LeaseVersion { uid: "u".into(), resource_version: "7".into() }
    }

    fn held_by(holder: Option<&str>, since: Instant) -> ObservedLease {
        let lease = NamespaceLease {
            namespace: "team-a".into(),
            name: "lock".into(),
            holder: holder.map(str::to_owned),
            duration: Some(30 * SECOND),
            renewed: Some(Timestamp::UNIX_EPOCH),
            version: version(),
        };
        ObservedLease { lease, since }
    }

    #[expect(clippy::option_option, reason = "no lease, a released one, or one that is held")]
    fn step(holder: Option<Option<&str>>, role: &Role, silent_for: Duration) -> Step {
        let since = Instant::now();
        let observed = holder.map(|holder| held_by(holder, since));
        next_step(observed.as_ref(), &us(), role, &NamespaceLeaseTimes::default(), since + silent_for)
    }

    #[test]
    fn the_leader_makes_a_lease_that_is_not_there_and_takes_one_that_was_released() {
        assert_eq!(step(None, &Role::Leading, Duration::ZERO), Step::Create);
        assert_eq!(step(Some(None), &Role::Leading, Duration::ZERO), Step::TakeOver(version()));
    }

    #[test]
    fn the_leader_renews_its_lease_in_the_interval() {
        assert_eq!(step(Some(Some("river/1")), &Role::Leading, 4 * SECOND), Step::Wait(6 * SECOND));
        assert_eq!(step(Some(Some("river/1")), &Role::Leading, 10 * SECOND), Step::Renew(version()));
        assert_eq!(step(Some(Some("river/1")), &Role::Leading, 1_000 * SECOND), Step::Renew(version()));
    }

    #[test]
    fn the_leader_takes_the_lease_of_another_replica_at_once() {
        assert_eq!(step(Some(Some("river/2")), &Role::Leading, Duration::ZERO), Step::TakeOver(version()));
    }

    #[test]
    fn the_lease_of_another_release_is_taken_once_it_has_expired() {
        for other in ["lake/1", "river-2/1", "namespace-restricted-operator-1.5.0", "river"] {
            assert_eq!(step(Some(Some(other)), &Role::Leading, SECOND), Step::Wait(10 * SECOND), "{other}");
            assert_eq!(step(Some(Some(other)), &Role::Leading, 34 * SECOND), Step::Wait(SECOND), "{other}");
            assert_eq!(step(Some(Some(other)), &Role::Leading, 35 * SECOND), Step::TakeOver(version()), "{other}");
        }
    }

    #[test]
    fn other_replicas_write_nothing() {
        for holder in [None, Some(None), Some(Some("river/1")), Some(Some("river/2")), Some(Some("lake/1"))] {
            assert_eq!(step(holder, &Role::Following, 1_000 * SECOND), Step::Wait(10 * SECOND));
        }
    }

    #[test]
    fn at_its_end_a_replica_hands_the_lease_over_and_deletes_it_only_as_the_last() {
        let leaving = |successor| step(Some(Some("river/1")), &Role::Leaving(successor), SECOND);
        let handed = Step::HandOver { from: version(), to: "2".into() };
        assert_eq!(leaving(Successor::Replica("2".into())), handed);
        assert_eq!(leaving(Successor::None), Step::Delete(version()));
        assert_eq!(leaving(Successor::Unknown), Step::End);
    }

    #[test]
    fn at_its_end_a_replica_leaves_the_lease_of_another_alone() {
        for holder in [None, Some(None), Some(Some("river/2")), Some(Some("lake/1"))] {
            for successor in [Successor::None, Successor::Unknown, Successor::Replica("2".into())] {
                assert_eq!(step(holder, &Role::Leaving(successor), 1_000 * SECOND), Step::End);
            }
        }
    }
}
