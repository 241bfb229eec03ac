//! Which namespaces are served: the watch of claims and the selectors that follow them, or the lease that claims one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tracing::{info, warn};

use super::apply::WriteOutcome;
use super::leader::LeaderContext;
use crate::config::{ClaimedNamespaces, ClaimsConfig, ControllerConfig, ServedNamespaces};
use crate::connection::Connection;
use crate::lease::{LOG_TARGET, Leadership};
use crate::namespace_lease::{
    ExcludedClaims, HolderState, LeaseHolder, LeaseWatch, NamespaceClaims, ObservedClaims, ObservedConfigurations,
    WebhookPresence, marker,
};
use crate::request::Backoff;
use crate::restart_on_panic::restart_on_panic;

/// What claims are made or heeded by.
#[derive(Default)]
pub(super) struct Namespaces {
    /// What others have claimed, for an operator of the whole cluster.
    pub(super) claims: Option<NamespaceClaims>,
    /// Whether this release has claimed its namespace.
    pub(super) holder: Option<watch::Receiver<HolderState>>,
}

/// The tasks of a controller: those that only look, and those that write and end first.
pub(super) struct Tasks<'a> {
    pub(super) following: &'a mut JoinSet<()>,
    pub(super) writing: &'a mut JoinSet<()>,
    pub(super) stopped: watch::Receiver<bool>,
}

impl Namespaces {
    /// Starts what the configuration asks for.
    pub(super) fn start(
        connection: &Connection,
        config: &ControllerConfig,
        leader: &Arc<LeaderContext>,
        configurations: watch::Receiver<ObservedConfigurations>,
        tasks: &mut Tasks<'_>,
    ) -> Self {
        match &config.namespaces {
            ServedNamespaces::All(ClaimsConfig { leases, .. }) if leases.is_empty() => Self::default(),
            ServedNamespaces::All(ClaimsConfig { leases, claimed }) => {
                let watch = Arc::new(LeaseWatch::new(connection.client(), leases, config.certificates.settle));
                for name in leases.clone() {
                    let watch = Arc::clone(&watch);
                    let watch = async move || watch.watch(&name).await;
                    tasks.following.spawn(restart_on_panic("watch of claims", watch));
                }
                let claims = watch.claims();
                let mut selectors = Selectors {
                    leader: Arc::clone(leader),
                    claims: claims.clone(),
                    configurations: configurations.clone(),
                    setting: *claimed,
                    marker: marker(&config.annotation_prefix),
                };
                let stopped = tasks.stopped.clone();
                let select = async move || selectors.run(stopped.clone()).await;
                tasks.writing.spawn(restart_on_panic("selectors", select));
                let publish = async move || watch.publish(configurations.clone()).await;
                tasks.following.spawn(restart_on_panic("claims", publish));
                let presence = WebhookPresence::new(connection.client());
                Self { claims: Some(NamespaceClaims::new(claims, presence)), holder: None }
            }
            ServedNamespaces::One(lease) => {
                let mut holder = LeaseHolder::new(connection, config, lease, leader.leadership.clone());
                let state = holder.state();
                let stopped = tasks.stopped.clone();
                tasks
                    .writing
                    .spawn(restart_on_panic("namespace lease", async move || holder.run(stopped.clone()).await));
                Self { claims: None, holder: Some(state) }
            }
        }
    }
}

/// Keeps the selectors of our own webhooks as the claims ask for, while this replica leads.
struct Selectors {
    leader: Arc<LeaderContext>,
    claims: watch::Receiver<ObservedClaims>,
    configurations: watch::Receiver<ObservedConfigurations>,
    setting: ClaimedNamespaces,
    marker: String,
}

impl Selectors {
    async fn run(&mut self, mut stop: watch::Receiver<bool>) {
        let mut backoff = Backoff::new();
        loop {
            let retry = match self.write().await {
                WriteOutcome::Done => {
                    backoff.reset();
                    None
                }
                // The watch brings the newer state.
                WriteOutcome::LeaseLost => None,
                WriteOutcome::Stale(_) => Some(backoff.fail()),
                WriteOutcome::Deferred(time) => Some(time),
                WriteOutcome::Failed(why) => {
                    warn!(target: LOG_TARGET, "the selectors of the webhook configurations can't be written: {why}");
                    Some(backoff.fail())
                }
            };
            let mut leadership = self.leader.leadership.clone();
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                changed = self.claims.changed() => if changed.is_err() { return },
                changed = self.configurations.changed() => if changed.is_err() { return },
                () = begins(&mut leadership) => {}
                () = wait(retry) => {}
            }
        }
    }

    async fn write(&mut self) -> WriteOutcome {
        let claims = self.claims.borrow_and_update().claims.clone();
        let configurations = self.configurations.borrow_and_update().clone();
        if !configurations.is_complete {
            return WriteOutcome::Done;
        }
        let exclusion = ExcludedClaims { claims: &claims, setting: self.setting, marker: &self.marker };
        let mut outcome = WriteOutcome::Done;
        for own in &configurations.own {
            let Some(patch) = own.patch(&exclusion) else { continue };
            let written = self.leader.write_selectors(own, patch).await;
            if written == WriteOutcome::Done {
                info!(target: LOG_TARGET, configuration = own.name, "wrote which claimed namespaces the webhooks leave out");
            }
            outcome = outcome.or(written);
        }
        outcome
    }
}

async fn begins(leadership: &mut Leadership) {
    if leadership.remaining().is_some() {
        return std::future::pending().await;
    }
    while leadership.remaining().is_none() {
        leadership.changed().await;
    }
}

async fn wait(retry: Option<Duration>) {
    match retry {
        Some(time) => tokio::time::sleep(time).await,
        None => std::future::pending().await,
    }
}
