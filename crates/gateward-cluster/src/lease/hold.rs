//! Takes, renews and gives back the lease.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant, SystemTime};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{ObjectMeta, PostParams};
use tokio::sync::watch;
use tracing::{debug, info, warn};

use super::LeaseTimes;
use super::record::{Move, Observation, Record, decide};
use super::tenure::{Held, Tenure, Term};
use crate::connection::Connection;
use crate::patience::{RequestError, answered};
use crate::setup::Setup;

/// Looks after the lease for as long as it is run.
pub(crate) struct LeaseHolder {
    api: Api<Lease>,
    name: String,
    me: String,
    times: LeaseTimes,
    field_manager: String,
    seen: Option<Observation>,
    /// What the API server doesn't let this replica do about it.
    forbidden: Option<String>,
    /// Not before this it is taken again.
    aside_until: Option<Instant>,
    held: watch::Sender<Held>,
}

impl LeaseHolder {
    pub(crate) fn new(connection: &Connection, setup: &Setup) -> (Self, Tenure) {
        let (held, tenure) = Tenure::new();
        let holder = Self {
            api: Api::namespaced(connection.client(), &setup.namespace),
            name: setup.lease.name.clone(),
            me: format!("{}_{:016x}", setup.lease.holder, random()),
            times: setup.lease.times,
            field_manager: setup.field_manager.clone(),
            seen: None,
            forbidden: None,
            aside_until: None,
            held,
        };
        (holder, tenure)
    }

    /// Looks at the lease once and does what is to be done; gives how long to wait for the next time.
    pub(crate) async fn tend(&mut self) -> Duration {
        let failure = self.look_and_act().await.err();
        // An API server that restarts is told of by others; what is forbidden stays so.
        let forbidden = failure.as_ref().filter(|why| why.is_forbidden()).map(ToString::to_string);
        match &failure {
            Some(why) if forbidden.is_some() && self.forbidden != forbidden => {
                warn!(lease = self.name, "this replica can't write: {why}");
            }
            Some(why) => debug!(lease = self.name, "the writer's lease: {why}"),
            None => {}
        }
        self.forbidden = forbidden;
        self.times.renewal
    }

    /// Gives the lease back, and doesn't take it for a while. Nothing may be written any more when this is called.
    pub(crate) async fn step_aside(&mut self, time: Duration) {
        self.aside_until = Some(Instant::now() + time);
        self.held.send_replace(Held::Unknown);
        if let Err(why) = self.give_back().await {
            debug!(lease = self.name, "the writer's lease could not be given back: {why}");
        }
    }

    async fn look_and_act(&mut self) -> Result<(), RequestError> {
        let lease = answered(self.api.get_opt(&self.name)).await?;
        let now = Instant::now();
        let record = lease.as_ref().map(|lease| record(lease, self.times.duration));
        let before = self.seen.take();
        self.seen = record.map(|record| Observation::after(before, record, now));
        if self.aside_until.is_some_and(|until| now < until) {
            self.tell(None);
            return Ok(());
        }
        let moved = decide(&self.me, self.seen.as_ref(), now);
        match moved {
            Move::Wait => self.tell(None),
            Move::Create | Move::Renew | Move::Take => {
                let term = Term::starting(Instant::now(), SystemTime::now(), self.times.deadline);
                match self.write(lease, moved).await {
                    Ok(()) => self.tell(Some(term)),
                    // Another one was first: the next look tells who.
                    Err(why) if why.is_stale() => self.tell(None),
                    Err(why) => return Err(why),
                }
            }
        }
        Ok(())
    }

    async fn write(&mut self, lease: Option<Lease>, moved: Move) -> Result<(), RequestError> {
        let parameters = PostParams { field_manager: Some(self.field_manager.clone()), ..PostParams::default() };
        let lease = held(lease, &self.name, &self.me, self.times.duration, moved);
        let written = match moved {
            Move::Create => answered(self.api.create(&parameters, &lease)).await?,
            _ => answered(self.api.replace(&self.name, &parameters, &lease)).await?,
        };
        let record = record(&written, self.times.duration);
        self.seen = Some(Observation { record, since: Instant::now() });
        Ok(())
    }

    async fn give_back(&mut self) -> Result<(), RequestError> {
        let Some(mut lease) = answered(self.api.get_opt(&self.name)).await? else { return Ok(()) };
        if record(&lease, self.times.duration).holder.as_deref() != Some(&self.me) {
            return Ok(());
        }
        lease.spec.get_or_insert_default().holder_identity = None;
        let parameters = PostParams { field_manager: Some(self.field_manager.clone()), ..PostParams::default() };
        answered(self.api.replace(&self.name, &parameters, &lease)).await?;
        info!(lease = self.name, "gave the writer's lease back");
        Ok(())
    }

    /// Tells who holds the lease now.
    fn tell(&self, term: Option<Term>) {
        let holder = self.seen.as_ref().and_then(|seen| seen.record.holder.clone());
        let held = match (term, holder) {
            (Some(term), _) => Held::Ours(term),
            (None, Some(holder)) if holder != self.me => Held::Theirs(holder),
            (None, _) => Held::Unknown,
        };
        let before = self.held.send_replace(held.clone());
        match (&before, &held) {
            (Held::Ours(_), Held::Ours(_)) => {}
            (_, Held::Ours(_)) => info!(lease = self.name, "this replica writes certificates and bundles"),
            (Held::Ours(_), _) => warn!(lease = self.name, "this replica doesn't write any more"),
            (before, after) if before != after => debug!(lease = self.name, ?after, "the writer's lease"),
            _ => {}
        }
    }
}

/// What a lease says to somebody who only looks at it once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glimpse {
    pub(crate) holder: Option<String>,
    /// By which moment it is renewed, or lost.
    pub(crate) until: Option<SystemTime>,
}

/// Looks at the lease once.
pub(crate) async fn glimpse(connection: &Connection, setup: &Setup) -> Result<Glimpse, RequestError> {
    let api: Api<Lease> = Api::namespaced(connection.client(), &setup.namespace);
    let Some(lease) = answered(api.get_opt(&setup.lease.name)).await? else {
        return Ok(Glimpse { holder: None, until: None });
    };
    let Record { holder, duration, .. } = record(&lease, setup.lease.times.duration);
    let renewed = lease.spec.and_then(|spec| spec.renew_time).map(|time| SystemTime::from(time.0));
    Ok(Glimpse { holder, until: renewed.map(|renewed| renewed + duration) })
}

/// What stands in a lease. Where it names no duration, it is ours.
fn record(lease: &Lease, ours: Duration) -> Record {
    let spec = lease.spec.clone().unwrap_or_default();
    let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    Record {
        holder: spec.holder_identity.filter(|holder| !holder.is_empty()),
        duration: seconds.filter(|seconds| *seconds > 0).map_or(ours, Duration::from_secs),
        version: lease.metadata.resource_version.clone().unwrap_or_default(),
    }
}

/// A lease as this replica holds it: what else stands in it stays, and with it the resourceVersion that guards the
/// write.
fn held(lease: Option<Lease>, name: &str, me: &str, duration: Duration, moved: Move) -> Lease {
    let mut lease = lease.unwrap_or_else(|| Lease {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        spec: None,
    });
    let now = Some(MicroTime(Timestamp::now()));
    let spec: &mut LeaseSpec = lease.spec.get_or_insert_default();
    if moved != Move::Renew {
        spec.acquire_time.clone_from(&now);
        spec.lease_transitions = Some(spec.lease_transitions.map_or(0, |transitions| transitions.saturating_add(1)));
    }
    spec.renew_time = now;
    spec.holder_identity = Some(me.to_owned());
    spec.lease_duration_seconds = Some(whole_seconds(duration));
    lease
}

/// Rounded up: a holder must never look sooner dead than it is.
fn whole_seconds(duration: Duration) -> i32 {
    i32::try_from(duration.as_millis().div_ceil(1000)).unwrap_or(i32::MAX).max(1)
}

/// Another number in each process: the standard library seeds its maps by it.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DURATION: Duration = Duration::from_secs(15);

    fn lease(spec: LeaseSpec) -> Lease {
        let metadata = ObjectMeta { resource_version: Some("7".to_owned()), ..ObjectMeta::default() };
        Lease { metadata, spec: Some(spec) }
    }

    #[test]
    fn a_lease_without_a_holder_is_nobodys() {
        let empty = lease(LeaseSpec { holder_identity: Some(String::new()), ..LeaseSpec::default() });
        let expected = Record { holder: None, duration: DURATION, version: "7".to_owned() };
        assert_eq!(record(&empty, DURATION), expected);
    }

    #[test]
    fn another_holders_own_duration_counts() {
        let theirs = LeaseSpec { lease_duration_seconds: Some(40), ..LeaseSpec::default() };
        assert_eq!(record(&lease(theirs), DURATION).duration, Duration::from_secs(40));
        let nonsense = LeaseSpec { lease_duration_seconds: Some(-1), ..LeaseSpec::default() };
        assert_eq!(record(&lease(nonsense), DURATION).duration, DURATION);
    }

    #[test]
    fn a_lease_that_is_taken_counts_the_change_and_one_that_is_renewed_does_not() {
        let theirs = lease(LeaseSpec { lease_transitions: Some(3), ..LeaseSpec::default() });
        let taken = held(Some(theirs), "writer", "me", DURATION, Move::Take);
        assert_eq!(taken.metadata.resource_version.as_deref(), Some("7"));
        let spec = taken.spec.clone().unwrap();
        assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some("me"), Some(4)));
        let renewed = held(Some(taken), "writer", "me", DURATION, Move::Renew).spec.unwrap();
        assert_eq!((renewed.acquire_time, renewed.lease_transitions), (spec.acquire_time, Some(4)));
    }

    #[test]
    fn a_duration_is_rounded_up_to_whole_seconds() {
        assert_eq!(whole_seconds(Duration::from_millis(1_500)), 2);
        assert_eq!(whole_seconds(Duration::ZERO), 1);
    }

    #[test]
    fn two_processes_of_one_pod_are_two_holders() {
        assert_ne!(random(), random());
    }
}
