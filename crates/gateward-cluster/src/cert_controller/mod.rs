//! Controller that rotates the serving certificate and the CA and injects `caBundle`.
//!
//! On every replica, [`injection_watch`] watches the injection targets and [`crate::secrets`] the serving Secret. On
//! the leader, [`reconciler`] reads, decides and writes, and [`restore`] restores `caBundle`s that others have changed.
//! [`status_store`] collects what all of them know.

mod apply;
mod context;
mod injection_watch;
mod reconciler;
mod restore;
mod snapshot;
mod status_store;

use std::sync::Arc;
use std::time::Duration;

use gateward_certs::CaBundle;
use gateward_certs::secret::ServingCertificate;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

use crate::config::ControllerConfig;
use crate::connection::Connection;
use crate::fail_point;
use crate::injected::InjectedCaBundles;
use crate::lease::{LeaderElector, LeaderState};
use crate::replicas::Replicas;
use crate::secrets::{ManagedSecret, SecretWatcher};
use crate::status::{ControllerStatus, Leader};
use crate::watch::notify_on_change;
use context::ControllerContext;
use injection_watch::InjectionWatch;
use reconciler::CertificateReconciler;
pub(crate) use snapshot::observed_state;
use status_store::StatusTopic;

/// Controller that rotates the serving certificate and the CA and injects `caBundle`. It runs on every replica; only
/// the leader writes.
///
/// It never fails: while the API server is away it tries again, and the last certificate stays in use. Dropping it ends
/// it like a crash; [`CertController::stop`] releases the lease, so that another replica leads at once.
pub struct CertController {
    served: watch::Receiver<Option<ServingCertificate>>,
    own_bundle: watch::Receiver<CaBundle>,
    trust: watch::Receiver<InjectedCaBundles>,
    status: watch::Receiver<ControllerStatus>,
    stop: watch::Sender<bool>,
    /// The watches, which end last.
    following: JoinSet<()>,
    /// The reconciler, the restorer and the elector.
    writing: JoinSet<()>,
}

/// Why a controller can't start.
#[derive(Debug, thiserror::Error)]
#[error("the cryptography for asking replicas is not usable: {0}")]
pub struct CertControllerError(#[from] rustls::Error);

impl CertController {
    /// Starts the controller within a tokio runtime. The API server may still be away.
    pub fn start(connection: &Connection, config: &ControllerConfig) -> Result<Self, CertControllerError> {
        let (elector, leadership) = LeaderElector::new(connection, config);
        let replicas = Replicas::new(connection, config)?;
        let context = Arc::new(ControllerContext::new(connection, config, replicas, leadership));
        let (stop, stopped) = watch::channel(false);
        let (release, releases) = mpsc::channel(1);
        let (changes, changed) = mpsc::unbounded_channel();

        let mut writing = JoinSet::new();
        writing.spawn(run_elector(elector, releases));
        let (reconciler, last) =
            (CertificateReconciler::new(Arc::clone(&context), stopped.clone(), release.clone()), release);
        let restoring = restore::restore_changed(Arc::clone(&context), changed, stopped);
        writing.spawn(async move {
            tokio::join!(restoring, reconciler.run());
            // The elector releases the lease once the last sender is dropped: all writes have ended.
            drop(last);
        });

        let mut following = JoinSet::new();
        let watch = Arc::new(InjectionWatch::new(Arc::clone(&context), changes));
        let trust = watch.trust();
        for scope in context.targets.scopes() {
            let watch = Arc::clone(&watch);
            following.spawn(async move { watch.watch(scope).await });
        }
        following.spawn(async move { watch.publish().await });
        let (served, own_bundle) = watch_secrets(&mut following, connection, &context);
        following.spawn(publish_leader(Arc::clone(&context)));
        Ok(Self { served, own_bundle, trust, status: context.status.status(), stop, following, writing })
    }

    /// The newest usable certificate of the serving Secret; `None` until there is one. A Secret that is damaged or
    /// deleted later changes nothing.
    pub fn serving_certificate(&self) -> watch::Receiver<Option<ServingCertificate>> {
        self.served.clone()
    }

    /// The CAs in `ca.crt` of the serving Secret, which the self-check uses while there is no injection target.
    pub fn own_bundle(&self) -> watch::Receiver<CaBundle> {
        self.own_bundle.clone()
    }

    /// The `caBundle`s of the injection targets.
    pub fn trust(&self) -> watch::Receiver<InjectedCaBundles> {
        self.trust.clone()
    }

    /// The status of certificates and injection targets.
    pub fn status(&self) -> watch::Receiver<ControllerStatus> {
        self.status.clone()
    }

    /// Stops writing and releases the lease, so that another replica leads at once.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.writing.join_next().await.is_some() {}
        self.following.shutdown().await;
    }
}

/// Runs until all senders are dropped.
async fn run_elector(mut elector: LeaderElector, mut releases: mpsc::Receiver<Duration>) {
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

/// Watches both Secrets: the serving Secret to serve it, and both to wake the reconciler.
fn watch_secrets(
    tasks: &mut JoinSet<()>,
    connection: &Connection,
    context: &Arc<ControllerContext>,
) -> (watch::Receiver<Option<ServingCertificate>>, watch::Receiver<CaBundle>) {
    let store = context.secrets.clone();
    let wakeup = Arc::new(Notify::new());
    let serving_wakeups = vec![Arc::clone(&wakeup), Arc::clone(&context.wakeup)];
    tasks.spawn(notify_on_change(store.metadata(), store.name(ManagedSecret::Serving).to_owned(), serving_wakeups));
    tasks.spawn(notify_on_change(
        store.metadata(),
        store.name(ManagedSecret::Ca).to_owned(),
        vec![Arc::clone(&context.wakeup)],
    ));
    let watcher = SecretWatcher::new(connection, store, context.spec.serving_secret.clone());
    let (served, own_bundle, status) = (watcher.served(), watcher.own_bundle(), watcher.status());
    tasks.spawn(publish_serving_certificate(Arc::clone(context), served.clone(), status));
    tasks.spawn(watcher.run(wakeup));
    (served, own_bundle)
}

async fn publish_serving_certificate(
    context: Arc<ControllerContext>,
    mut served: watch::Receiver<Option<ServingCertificate>>,
    mut status: watch::Receiver<crate::secrets::SecretStatus>,
) {
    loop {
        let (certificate, now) = (served.borrow_and_update().clone(), status.borrow_and_update().clone());
        context.status.update(|facts| (facts.served, facts.ca) = (certificate, now.ca));
        context.status.warn(StatusTopic::Secret, now.fault);
        let ended = tokio::select! {
            changed = served.changed() => changed.is_err(),
            changed = status.changed() => changed.is_err(),
        };
        if ended {
            return;
        }
    }
}

async fn publish_leader(context: Arc<ControllerContext>) {
    let mut leadership = context.leadership.clone();
    let mut status = Leader::Unknown;
    loop {
        let leader = match leadership.state() {
            LeaderState::Unknown => Leader::Unknown,
            LeaderState::Leading(_) => Leader::ThisReplica,
            LeaderState::Following(holder) => Leader::Other(holder),
        };
        if leader != status {
            status.clone_from(&leader);
            context.status.update(|facts| facts.leader = leader);
        }
        leadership.changed().await;
    }
}
