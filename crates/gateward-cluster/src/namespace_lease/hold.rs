//! Holds the lease by which this release claims its namespace.

use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams, Preconditions};
use tokio::sync::watch;
use tracing::{debug, info, warn};

use super::holder::{Holder, Role, Step, Successor, next_step};
use super::record::{LeaseVersion, NamespaceLease, ObservedLease};
use crate::any_lease::AnyLease;
use crate::config::{ControllerConfig, NamespaceLeaseConfig};
use crate::connection::Connection;
use crate::lease::Leadership;
use crate::request::{Backoff, ErrorStreak, RequestError, with_short_timeout};

/// How often a leaving replica tries again when the lease has changed under it.
const ATTEMPTS: u32 = 4;

/// Holds the lease while this replica leads.
pub(crate) struct LeaseHolder {
    leases: Api<AnyLease>,
    pods: Api<Pod>,
    selector: String,
    /// The name of our Pod.
    pod: String,
    /// Who we are, once the uid of our Pod is known.
    us: Option<Holder>,
    config: NamespaceLeaseConfig,
    leadership: Leadership,
    parameters: PostParams,
    observed: Option<ObservedLease>,
    state: watch::Sender<HolderState>,
}

/// Whether the namespace is claimed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HolderState {
    /// It isn't known yet.
    #[default]
    Unknown,
    /// Another replica holds the lease, or will.
    Following,
    /// This replica holds the lease.
    Holding,
    /// An operator of another release holds the lease.
    HeldBy(String),
    /// The lease can't be read or written: the cluster-wide operator takes over when it expires.
    Failing(String),
}

impl LeaseHolder {
    pub(crate) fn new(
        connection: &Connection,
        config: &ControllerConfig,
        lease: &NamespaceLeaseConfig,
        leadership: Leadership,
    ) -> Self {
        let selector: Vec<_> = config.replicas.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Self {
            leases: Api::namespaced(connection.client(), &lease.namespace),
            pods: Api::namespaced(connection.client(), &config.namespace),
            selector: selector.join(","),
            pod: config.lease.holder.clone(),
            us: None,
            config: lease.clone(),
            leadership,
            parameters: PostParams { field_manager: Some(config.field_manager.clone()), ..PostParams::default() },
            observed: None,
            state: watch::Sender::default(),
        }
    }

    pub(crate) fn state(&self) -> watch::Receiver<HolderState> {
        self.state.subscribe()
    }

    /// Holds the lease until `stop`, and hands it over or deletes it then.
    pub(crate) async fn run(&mut self, mut stop: watch::Receiver<bool>) {
        let mut backoff = Backoff::new();
        loop {
            let wait = match self.tick().await {
                Ok(wait) => {
                    backoff.reset();
                    wait
                }
                Err(why) => {
                    let wait = backoff.fail().min(self.config.times.renew_interval);
                    // Somebody may have been first: the next look shows who.
                    if !why.is_stale() || backoff.streak() == ErrorStreak::Long {
                        self.publish(HolderState::Failing(why.to_string()));
                    }
                    wait
                }
            };
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => break,
                () = tokio::time::sleep(wait) => {}
                () = self.leadership_begins_or_ends() => {}
            }
        }
        self.leave().await;
    }

    /// The elector renews its lease far more often than this one is.
    async fn leadership_begins_or_ends(&self) {
        let mut leadership = self.leadership.clone();
        let leads = leadership.remaining().is_some();
        while leadership.remaining().is_some() == leads {
            leadership.changed().await;
        }
    }

    /// Does what is to be done. Returns the time until the next look.
    async fn tick(&mut self) -> Result<Duration, RequestError> {
        let Some(us) = self.us().await? else { return Ok(Duration::from_secs(1)) };
        loop {
            let role = if self.leadership.remaining().is_some() { Role::Leading } else { Role::Following };
            let lease = if role == Role::Leading { self.look().await? } else { None };
            let step = next_step(self.observed.as_ref(), &us, &role, &self.config.times, Instant::now());
            match step {
                Step::Create => {
                    let created = AnyLease(self.held(None, &us, &step));
                    with_short_timeout(self.leases.create(&self.parameters, &created)).await?;
                }
                Step::Renew(_) | Step::TakeOver(_) => self.write(self.held(lease, &us, &step)).await?,
                Step::Wait(time) => {
                    self.publish(if role == Role::Leading { self.state_for(&us) } else { HolderState::Following });
                    return Ok(time);
                }
                Step::HandOver { .. } | Step::Delete(_) | Step::End => return Ok(self.config.times.renew_interval),
            }
        }
    }

    fn state_for(&self, us: &Holder) -> HolderState {
        match self.observed.as_ref().and_then(|seen| seen.lease.holder.clone()) {
            Some(holder) if holder == us.to_string() => HolderState::Holding,
            Some(holder) => HolderState::HeldBy(holder),
            None => HolderState::Unknown,
        }
    }

    async fn leave(&mut self) {
        for _ in 0..ATTEMPTS {
            match self.try_to_leave().await {
                Ok(()) => return,
                Err(why) if why.is_stale() => {}
                Err(why) => {
                    let namespace = &self.config.namespace;
                    warn!(namespace, "the namespace stays claimed until its lease expires: {why}");
                    return;
                }
            }
        }
    }

    async fn try_to_leave(&mut self) -> Result<(), RequestError> {
        // Without knowing who we are, we hold nothing.
        let Some(mut holder) = self.us.clone() else { return Ok(()) };
        let namespace = self.config.namespace.clone();
        loop {
            let lease = self.look().await?;
            let role = Role::Leaving(self.successor().await);
            let step = next_step(self.observed.as_ref(), &holder, &role, &self.config.times, Instant::now());
            match &step {
                Step::HandOver { to, .. } => {
                    holder = holder.sibling(to.clone());
                    self.write(self.held(lease, &holder, &step)).await?;
                    info!(namespace, to = %holder, "handed the namespace's lease over");
                }
                Step::Delete(version) => {
                    with_short_timeout(self.leases.delete(&self.config.name, &exactly(version))).await?;
                    info!(namespace, "deleted the namespace's lease: no replica is left");
                    return Ok(());
                }
                _ => return Ok(()),
            }
            // One that ends at the same moment may have looked before the lease was its own.
            if self.serves(&holder).await {
                return Ok(());
            }
        }
    }

    /// Whether a replica goes on serving, as far as it can be read.
    async fn serves(&self, holder: &Holder) -> bool {
        let Ok(pods) = self.list().await else { return true };
        pods.iter().any(|pod| pod.metadata.uid.as_ref() == Some(&holder.pod) && is_ready(pod))
    }

    async fn look(&mut self) -> Result<Option<Lease>, RequestError> {
        let lease = with_short_timeout(self.leases.get_opt(&self.config.name)).await?;
        let now = Instant::now();
        let lease = lease.map(|lease| lease.0);
        let read = lease.as_ref().map(NamespaceLease::read);
        self.observed = read.map(|read| ObservedLease::after(self.observed.as_ref(), read, now));
        Ok(lease)
    }

    /// The resourceVersion in the object guards the write.
    async fn write(&self, lease: Lease) -> Result<(), RequestError> {
        let lease = AnyLease(lease);
        with_short_timeout(self.leases.replace(&self.config.name, &self.parameters, &lease)).await.map(drop)
    }

    /// The lease, held by a replica from now on. Other fields stay.
    fn held(&self, lease: Option<Lease>, holder: &Holder, step: &Step) -> Lease {
        let mut lease = lease.unwrap_or_else(|| Lease {
            metadata: ObjectMeta { name: Some(self.config.name.clone()), ..ObjectMeta::default() },
            spec: None,
        });
        let now = Some(MicroTime(Timestamp::now()));
        let spec: &mut LeaseSpec = lease.spec.get_or_insert_default();
        if !matches!(step, Step::Renew(_)) {
            spec.acquire_time.clone_from(&now);
            spec.lease_transitions =
                Some(spec.lease_transitions.map_or(0, |transitions| transitions.saturating_add(1)));
        }
        spec.renew_time = now;
        spec.holder_identity = Some(holder.to_string());
        let seconds = self.config.times.duration.as_millis().div_ceil(1_000);
        spec.lease_duration_seconds = Some(i32::try_from(seconds).unwrap_or(i32::MAX).max(1));
        lease
    }

    /// Who we are; `None` while our Pod isn't listed.
    async fn us(&mut self) -> Result<Option<Holder>, RequestError> {
        if self.us.is_none() {
            let pods = self.list().await?;
            let ours = pods.iter().find(|pod| pod.metadata.name.as_ref() == Some(&self.pod));
            let pod = ours.and_then(|pod| pod.metadata.uid.clone());
            self.us = pod.map(|pod| Holder { release: self.config.release.clone(), pod });
        }
        Ok(self.us.clone())
    }

    async fn successor(&self) -> Successor {
        match self.list().await {
            Ok(pods) => match pods.iter().find(|pod| pod.metadata.name.as_ref() != Some(&self.pod) && is_ready(pod)) {
                Some(pod) => pod.metadata.uid.clone().map_or(Successor::Unknown, Successor::Replica),
                None => Successor::None,
            },
            Err(why) => {
                debug!("the replicas can't be listed: {why}");
                Successor::Unknown
            }
        }
    }

    async fn list(&self) -> Result<Vec<Pod>, RequestError> {
        let parameters = ListParams::default().labels(&self.selector);
        with_short_timeout(self.pods.list(&parameters)).await.map(|list| list.items)
    }

    /// Publishes whether the namespace is claimed.
    fn publish(&self, state: HolderState) {
        if *self.state.borrow() != state {
            log(&self.config.namespace, &state);
            self.state.send_replace(state);
        }
    }
}

fn log(namespace: &str, state: &HolderState) {
    match state {
        HolderState::Holding => info!(namespace, "claims the namespace"),
        HolderState::HeldBy(holder) => {
            warn!(namespace, holder, "another operator claims the namespace; both judge what is written in it");
        }
        HolderState::Failing(why) => warn!(namespace, "the namespace's lease: {why}"),
        HolderState::Following | HolderState::Unknown => debug!(namespace, ?state, "the namespace's lease"),
    }
}

/// Only this state of this object is deleted.
fn exactly(version: &LeaseVersion) -> DeleteParams {
    let preconditions =
        Preconditions { uid: Some(version.uid.clone()), resource_version: Some(version.resource_version.clone()) };
    DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() }
}

/// Whether a Pod serves and goes on doing so.
fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let ready = conditions.into_iter().any(|condition| condition.type_ == "Ready" && condition.status == "True");
    ready && pod.metadata.deletion_timestamp.is_none()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pod_that_ends_or_is_not_ready_is_no_successor() {
        let pod = |ready: &str| json!({"metadata": {}, "status": {"conditions": [{"type": "Ready", "status": ready}]}});
        let read = |pod| is_ready(&serde_json::from_value(pod).unwrap());
        assert!(read(pod("True")) && !read(pod("False")) && !read(json!({"metadata": {}})));
        let mut ending = pod("True");
        ending["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z".into();
        assert!(!read(ending));
    }

    #[test]
    fn a_lease_is_deleted_only_as_it_was_seen() {
        let version = LeaseVersion { uid: "u".into(), resource_version: "7".into() };
        let preconditions = exactly(&version).preconditions.unwrap();
        assert_eq!((preconditions.uid.as_deref(), preconditions.resource_version.as_deref()), (Some("u"), Some("7")));
    }
}
