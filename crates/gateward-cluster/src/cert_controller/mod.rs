//! Controller that rotates the serving certificate and the CA and injects `caBundle`.
//!
//! On every replica, [`injection_watch`] watches the injection targets and [`secret_watcher`] the serving Secret. On
//! the leader, [`reconciler`] reads, decides and writes, and [`restore`] restores `caBundle`s that others have changed.
//! All of them report to the one [`status_store`]. [`namespaces`] makes or heeds claims on namespaces.

mod apply;
mod injection_watch;
mod leader;
mod namespaces;
mod own_pair;
mod provided_pair;
mod reconciler;
mod restore;
mod secret_watcher;
mod snapshot;
mod status_store;

use std::sync::Arc;
use std::time::Duration;

use gateward_certs::secret::ServingCertificate;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

use crate::config::ControllerConfig;
use crate::connection::Connection;
use crate::fail_point;
use crate::lease::{LeaderElector, Leadership};
use crate::namespace_lease::{HolderState, NamespaceClaims};
use crate::replicas::Replicas;
use crate::restart_on_panic::restart_on_panic;
use crate::secrets::state_secret;
use crate::status::{ControllerStatus, Leader};
use crate::watch::notify_on_change;
use injection_watch::InjectionWatch;
use leader::LeaderContext;
use namespaces::{Namespaces, Tasks};
use reconciler::CertificateReconciler;
use secret_watcher::SecretWatcher;
pub(crate) use snapshot::{OTHERS_WRITE, observed_state, observed_trust};
use status_store::StatusStore;

/// Controller that rotates the serving certificate and the CA and injects `caBundle`. It runs on every replica; only
/// the leader writes.
///
/// It never fails: while the API server is away it tries again, and the last certificate stays in use. Dropping it ends
/// it like a crash; [`CertController::stop`] releases the lease, so that another replica leads at once.
pub struct CertController {
    status: Arc<StatusStore>,
    stop: watch::Sender<bool>,
    /// The watches, which end last.
    following: JoinSet<()>,
    /// The reconciler, the restorer, the elector, and what writes for claims on namespaces.
    writing: JoinSet<()>,
    namespaces: Namespaces,
}

/// Why a controller can't start.
#[derive(Debug, thiserror::Error)]
#[error("the cryptography for asking replicas is not usable: {0}")]
pub struct CertControllerError(#[from] rustls::Error);

impl CertController {
    /// Starts the controller within a tokio runtime. The API server may still be away.
    pub fn start(connection: &Connection, config: &ControllerConfig) -> Result<Self, CertControllerError> {
        let (mut elector, leadership) =
            LeaderElector::new(connection, &config.namespace, &config.lease, &config.field_manager);
        let replicas = Replicas::new(connection, config)?;
        let status = Arc::new(StatusStore::new(config.targets.clone()));
        let leader = Arc::new(LeaderContext::new(connection, config, leadership.clone(), Arc::clone(&status)));
        let (stop, stopped) = watch::channel(false);
        let (release, mut releases) = mpsc::channel(1);
        let (changes, mut changed) = mpsc::unbounded_channel();

        let mut writing = JoinSet::new();
        writing.spawn(restart_on_panic("elector", async move || run_elector(&mut elector, &mut releases).await));
        let shared = Arc::clone(&leader);
        let mut reconciler =
            CertificateReconciler::new(connection, config, replicas, shared, stopped.clone(), release.clone());
        writing.spawn(restart_on_panic("reconciler", async move || reconciler.run().await));
        let (restoring, until) = (Arc::clone(&leader), stopped.clone());
        let restore = async move || {
            // The elector releases the lease once the last sender is dropped: all writes have ended.
            let _release = &release;
            restore::restore_changed(&restoring, &mut changed, until.clone()).await;
        };
        writing.spawn(restart_on_panic("restorer", restore));

        let mut following = JoinSet::new();
        let settle = config.certificates.settle;
        let configurations = InjectionWatch::spawn(&mut following, connection, &leader, settle, changes);
        let mut tasks = Tasks { following: &mut following, writing: &mut writing, stopped };
        let namespaces = Namespaces::start(connection, config, &leader, configurations, &mut tasks);
        watch_secrets(&mut following, connection, config, &leader);
        let published = Arc::clone(&status);
        let publish = async move || publish_leader(leadership.clone(), &published).await;
        following.spawn(restart_on_panic("leader", publish));
        Ok(Self { status, stop, following, writing, namespaces })
    }

    /// The newest usable certificate of the serving Secret; `None` until there is one. A Secret that is damaged or
    /// deleted later changes nothing.
    pub fn serving_certificate(&self) -> watch::Receiver<Option<ServingCertificate>> {
        self.status.served.subscribe()
    }

    /// The status of certificates and injection targets.
    pub fn status(&self) -> watch::Receiver<ControllerStatus> {
        self.status.status()
    }

    /// What operators of one namespace have claimed; `None` where none can claim.
    pub fn claims(&self) -> Option<NamespaceClaims> {
        self.namespaces.claims.clone()
    }

    /// Whether this release has claimed its namespace; `None` for an operator of the whole cluster.
    pub fn namespace_holder(&self) -> Option<watch::Receiver<HolderState>> {
        self.namespaces.holder.clone()
    }

    /// Stops writing and releases the lease, so that another replica leads at once.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.writing.join_next().await.is_some() {}
        self.following.shutdown().await;
    }
}

/// Runs until all senders are dropped.
async fn run_elector(elector: &mut LeaderElector, releases: &mut mpsc::Receiver<Duration>) {
    loop {
        fail_point::unpaused().await;
        let wait = elector.tick().await;
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            release = releases.recv() => match release {
                Some(time) => elector.release(time).await,
                None => return elector.release(Duration::ZERO).await,
            }
        }
    }
}

/// Watches the serving Secret to serve it, and it and the one with the leader's state to wake the reconciler.
fn watch_secrets(tasks: &mut JoinSet<()>, connection: &Connection, config: &ControllerConfig, leader: &LeaderContext) {
    let (store, reconcile) = (leader.secrets.clone(), Arc::clone(&leader.wakeup));
    let wakeup = Arc::new(Notify::new());
    let mut watch = |secret: &str, wakeups: Vec<Arc<Notify>>| {
        let (api, secret) = (store.metadata(), secret.to_owned());
        let watch = async move || notify_on_change(api.clone(), &secret, &wakeups).await;
        tasks.spawn(restart_on_panic("watch of a Secret", watch));
    };
    watch(&config.secrets.serving, vec![Arc::clone(&wakeup), Arc::clone(&reconcile)]);
    if let Some(state) = state_secret(&config.provision) {
        watch(store.name(state), vec![reconcile]);
    }
    let watcher = SecretWatcher {
        connection: connection.clone(),
        secret: config.spec().serving_secret,
        name: config.certificates.names.first().clone(),
        provision: config.provision.clone(),
        status: Arc::clone(&leader.status),
        store,
    };
    tasks.spawn(restart_on_panic("serving Secret", async move || watcher.run(&wakeup).await));
}

async fn publish_leader(mut leadership: Leadership, status: &StatusStore) {
    let mut published = Leader::Unknown;
    loop {
        let leader = leadership.leader();
        if leader != published {
            published.clone_from(&leader);
            status.update(|facts| facts.status.leader = leader);
        }
        leadership.changed().await;
    }
}
