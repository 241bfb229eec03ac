//! Leader election: acquires, renews and releases the lease.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant, SystemTime};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{DeleteParams, ObjectMeta, PostParams, Preconditions};
use tokio::sync::watch;
use tracing::{debug, info, warn};

use super::leadership::{LeaderState, Leadership, LeaseValidity};
use super::record::{LeaseAction, LeaseRecord, ObservedRecord, decide};
use crate::any_lease::{AnyLease, shown_holder};
use crate::config::{ControllerConfig, LeaseConfig, LeaseTimes};
use crate::connection::Connection;
use crate::request::{RequestError, with_short_timeout};

/// The target of log lines on who may write and what is written, so that a search for "cert-controller" finds them.
pub(crate) const LOG_TARGET: &str = "cert-controller";

/// How many times as long as ours the duration of another holder may be.
const LONGEST: u32 = 20;
/// How many times the lease is deleted that was renewed meanwhile.
const REMOVALS: usize = 5;

/// Takes part in the election for as long as [`tick`](Self::tick) is called.
pub(crate) struct LeaderElector {
    api: Api<AnyLease>,
    name: String,
    me: String,
    times: LeaseTimes,
    parameters: PostParams,
    seen: Option<ObservedRecord>,
    /// The last request for the lease that was forbidden, so that it is logged once.
    forbidden: Option<String>,
    /// The lease is not acquired before this.
    released_until: Option<Instant>,
    state: watch::Sender<LeaderState>,
}

impl LeaderElector {
    /// An elector for a lease in a namespace, which it writes under the name of `manager`.
    pub(crate) fn new(
        connection: &Connection,
        namespace: &str,
        lease: &LeaseConfig,
        manager: &str,
    ) -> (Self, Leadership) {
        let (state, leadership) = Leadership::new();
        let holder = Self {
            api: Api::namespaced(connection.client(), namespace),
            name: lease.name.clone(),
            me: format!("{}_{:016x}", lease.holder, random()),
            times: lease.times,
            parameters: PostParams { field_manager: Some(manager.to_owned()), ..PostParams::default() },
            seen: None,
            forbidden: None,
            released_until: None,
            state,
        };
        (holder, leadership)
    }

    /// Reads the lease, then acquires or renews it if this replica may. Returns the time until the next tick.
    pub(crate) async fn tick(&mut self) -> Duration {
        let failure = self.observe_and_act().await.err();
        // Others report an API server that is away; a missing permission is reported here.
        let forbidden = failure.as_ref().filter(|why| why.is_forbidden()).map(ToString::to_string);
        match &failure {
            Some(why) if forbidden.is_some() && self.forbidden != forbidden => {
                warn!(target: LOG_TARGET, lease = self.name, "this replica can't write: {why}");
            }
            Some(why) => debug!(lease = self.name, "the leader's lease: {why}"),
            None => {}
        }
        self.forbidden = forbidden;
        match *self.state.borrow() {
            LeaderState::Leading(_) => self.times.retry_period,
            _ => jittered(self.times.retry_period, random()),
        }
    }

    /// The last request for the lease, if it was forbidden.
    pub(crate) fn forbidden(&self) -> Option<&str> {
        self.forbidden.as_deref()
    }

    /// Takes the lease from its holder. There is no moment without a holder, in which that one could take it back.
    pub(crate) async fn seize(&mut self) -> Result<(), RequestError> {
        let lease = with_short_timeout(self.api.get_opt(&self.name)).await?;
        let action = if lease.is_some() { LeaseAction::Acquire } else { LeaseAction::Create };
        let validity = LeaseValidity::starting(Instant::now(), SystemTime::now(), self.times.renew_deadline);
        self.write(lease, action).await?;
        self.publish(Some(validity));
        Ok(())
    }

    /// Deletes the lease if this replica holds it. The caller has ended all writes, of which one may still arrive.
    pub(crate) async fn remove(&mut self) -> Result<(), RequestError> {
        self.state.send_replace(LeaderState::Unknown);
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.try_to_remove().await {
                Err(why) if why.is_stale() && attempts < REMOVALS => {}
                removed => return removed,
            }
        }
    }

    async fn try_to_remove(&self) -> Result<(), RequestError> {
        let Some(AnyLease(lease)) = with_short_timeout(self.api.get_opt(&self.name)).await? else { return Ok(()) };
        if record(&lease, self.times.lease_duration).holder.as_deref() != Some(&self.me) {
            return Ok(());
        }
        let preconditions =
            Preconditions { uid: lease.metadata.uid, resource_version: lease.metadata.resource_version };
        let parameters = DeleteParams::default().preconditions(preconditions);
        with_short_timeout(self.api.delete(&self.name, &parameters)).await.map(drop)
    }

    /// Releases the lease and doesn't acquire it for a while. The caller has ended all writes.
    pub(crate) async fn release(&mut self, time: Duration) {
        self.released_until = Some(Instant::now() + time);
        self.state.send_replace(LeaderState::Unknown);
        if let Err(why) = self.clear_holder().await {
            debug!(lease = self.name, "the lease could not be released: {why}");
        }
    }

    async fn observe_and_act(&mut self) -> Result<(), RequestError> {
        let lease = with_short_timeout(self.api.get_opt(&self.name)).await?;
        let now = Instant::now();
        let record = lease.as_ref().map(|lease| record(&lease.0, self.times.lease_duration));
        let before = self.seen.take();
        self.seen = record.map(|record| ObservedRecord::after(before, record, now));
        if self.released_until.is_some_and(|until| now < until) {
            self.publish(None);
            return Ok(());
        }
        let action = decide(&self.me, self.seen.as_ref(), now);
        match action {
            LeaseAction::Wait => self.publish(None),
            LeaseAction::Create | LeaseAction::Renew | LeaseAction::Acquire => {
                let validity = LeaseValidity::starting(Instant::now(), SystemTime::now(), self.times.renew_deadline);
                match self.write(lease, action).await {
                    Ok(()) => self.publish(Some(validity)),
                    // Another replica was first: the next tick reads which one.
                    Err(why) if why.is_stale() => self.publish(None),
                    Err(why) => return Err(why),
                }
            }
        }
        Ok(())
    }

    async fn write(&mut self, lease: Option<AnyLease>, action: LeaseAction) -> Result<(), RequestError> {
        let lease = lease.map(|lease| lease.0);
        let lease = AnyLease(lease_held_by(lease, &self.name, &self.me, self.times.lease_duration, action));
        let AnyLease(written) = match action {
            LeaseAction::Create => with_short_timeout(self.api.create(&self.parameters, &lease)).await?,
            _ => with_short_timeout(self.api.replace(&self.name, &self.parameters, &lease)).await?,
        };
        let record = record(&written, self.times.lease_duration);
        self.seen = Some(ObservedRecord { record, since: Instant::now() });
        Ok(())
    }

    async fn clear_holder(&mut self) -> Result<(), RequestError> {
        let Some(AnyLease(mut lease)) = with_short_timeout(self.api.get_opt(&self.name)).await? else { return Ok(()) };
        if record(&lease, self.times.lease_duration).holder.as_deref() != Some(&self.me) {
            return Ok(());
        }
        lease.spec.get_or_insert_default().holder_identity = None;
        with_short_timeout(self.api.replace(&self.name, &self.parameters, &AnyLease(lease))).await?;
        info!(target: LOG_TARGET, lease = self.name, "released the lease");
        Ok(())
    }

    /// Publishes who holds the lease.
    fn publish(&self, validity: Option<LeaseValidity>) {
        let holder = self.seen.as_ref().and_then(|seen| seen.record.holder.clone());
        let state = match (validity, holder) {
            (Some(validity), _) => LeaderState::Leading(validity),
            (None, Some(holder)) if holder != self.me => LeaderState::Following(shown_holder(&holder)),
            (None, _) => LeaderState::Unknown,
        };
        let before = self.state.send_replace(state.clone());
        match (&before, &state) {
            (LeaderState::Leading(_), LeaderState::Leading(_)) => {}
            (_, LeaderState::Leading(_)) => info!(target: LOG_TARGET, lease = self.name, "acquired leadership"),
            (LeaderState::Leading(_), _) => warn!(target: LOG_TARGET, lease = self.name, "lost leadership"),
            (before, after) if before != after => debug!(lease = self.name, ?after, "the leader's lease"),
            _ => {}
        }
    }
}

/// The lease, read once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeaseStatus {
    pub(crate) holder: Option<String>,
    /// When it expires unless it is renewed.
    pub(crate) until: Option<SystemTime>,
}

/// Reads the lease once.
pub(crate) async fn lease_status(
    connection: &Connection,
    config: &ControllerConfig,
) -> Result<LeaseStatus, RequestError> {
    let api: Api<AnyLease> = Api::namespaced(connection.client(), &config.namespace);
    let Some(AnyLease(lease)) = with_short_timeout(api.get_opt(&config.lease.name)).await? else {
        return Ok(LeaseStatus { holder: None, until: None });
    };
    let LeaseRecord { holder, duration, .. } = record(&lease, config.lease.times.lease_duration);
    let renewed = lease.spec.and_then(|spec| spec.renew_time).map(|time| SystemTime::from(time.0));
    Ok(LeaseStatus { holder, until: renewed.map(|renewed| renewed + duration) })
}

/// The record in a lease. A lease without a duration gets ours, and none counts for very much longer: its writer
/// may never renew it.
fn record(lease: &Lease, ours: Duration) -> LeaseRecord {
    let spec = lease.spec.clone().unwrap_or_default();
    let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    LeaseRecord {
        holder: spec.holder_identity.filter(|holder| !holder.is_empty()),
        duration: seconds.filter(|seconds| *seconds > 0).map_or(ours, Duration::from_secs).min(ours * LONGEST),
        version: lease.metadata.resource_version.clone().unwrap_or_default(),
    }
}

/// The lease held by this replica. Other fields stay, and with them the resourceVersion that guards the write.
fn lease_held_by(lease: Option<Lease>, name: &str, me: &str, duration: Duration, action: LeaseAction) -> Lease {
    let mut lease = lease.unwrap_or_else(|| Lease {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        spec: None,
    });
    let now = Some(MicroTime(Timestamp::now()));
    let spec: &mut LeaseSpec = lease.spec.get_or_insert_default();
    if action != LeaseAction::Renew {
        spec.acquire_time.clone_from(&now);
        spec.lease_transitions = Some(spec.lease_transitions.map_or(0, |transitions| transitions.saturating_add(1)));
    }
    spec.renew_time = now;
    spec.holder_identity = Some(me.to_owned());
    spec.lease_duration_seconds = Some(whole_seconds(duration));
    lease
}

/// Rounded up, so that no replica takes the lease early.
fn whole_seconds(duration: Duration) -> i32 {
    i32::try_from(duration.as_millis().div_ceil(1000)).unwrap_or(i32::MAX).max(1)
}

/// At least the period, less than twice of it: replicas must not acquire a free lease in lockstep.
fn jittered(period: Duration, random: u64) -> Duration {
    period + period / 256 * u32::from(random.to_le_bytes()[0])
}

/// A number that differs in each process: the standard library seeds its maps with it.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DURATION: Duration = Duration::from_secs(15);

    #[test]
    fn a_jittered_period_is_less_than_twice_the_period() {
        let period = Duration::from_secs(2);
        assert_eq!(jittered(period, 0), period);
        assert!((period..2 * period).contains(&jittered(period, u64::MAX)));
        assert_ne!(jittered(period, 1), jittered(period, 2));
    }

    fn lease(spec: LeaseSpec) -> Lease {
        let metadata = ObjectMeta { resource_version: Some("7".to_owned()), ..ObjectMeta::default() };
        Lease { metadata, spec: Some(spec) }
    }

    #[test]
    fn a_lease_with_an_empty_holder_has_none() {
        let empty = lease(LeaseSpec { holder_identity: Some(String::new()), ..LeaseSpec::default() });
        let expected = LeaseRecord { holder: None, duration: DURATION, version: "7".to_owned() };
        assert_eq!(record(&empty, DURATION), expected);
    }

    #[test]
    fn another_holders_own_duration_counts_within_bounds() {
        let theirs = LeaseSpec { lease_duration_seconds: Some(40), ..LeaseSpec::default() };
        assert_eq!(record(&lease(theirs), DURATION).duration, Duration::from_secs(40));
        let endless = LeaseSpec { lease_duration_seconds: Some(i32::MAX), ..LeaseSpec::default() };
        assert_eq!(record(&lease(endless), DURATION).duration, DURATION * LONGEST);
        let nonsense = LeaseSpec { lease_duration_seconds: Some(-1), ..LeaseSpec::default() };
        assert_eq!(record(&lease(nonsense), DURATION).duration, DURATION);
    }

    #[test]
    fn a_lease_that_is_taken_counts_the_change_and_one_that_is_renewed_does_not() {
        let theirs = lease(LeaseSpec { lease_transitions: Some(3), ..LeaseSpec::default() });
        let taken = lease_held_by(Some(theirs), "writer", "me", DURATION, LeaseAction::Acquire);
        assert_eq!(taken.metadata.resource_version.as_deref(), Some("7"));
        let spec = taken.spec.clone().unwrap();
        assert_eq!((spec.holder_identity.as_deref(), spec.lease_transitions), (Some("me"), Some(4)));
        let renewed = lease_held_by(Some(taken), "writer", "me", DURATION, LeaseAction::Renew).spec.unwrap();
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
