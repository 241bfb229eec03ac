//! Keeps certificates and bundles right, beside the server.
//!
//! On every replica, [`injection_watch`] follows those who carry bundles and [`crate::secrets`] the serving Secret. On the one
//! that holds the lease, [`reconciler`] looks, decides and writes, and [`repair`] restores at once what someone has taken
//! away. What all of them know is put together by [`status`].

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

/// What keeps certificates and bundles right, as long as it lives: on every replica it follows the serving Secret, on
/// one of them it writes.
///
/// It never fails: while the API server is away it tries again, and what was there stays in use. Dropped, it ends at
/// once, as if the process had; [`CertController::stop`] is the way that costs the other replicas nothing.
pub struct CertController {
    served: watch::Receiver<Option<ServingCertificate>>,
    own_bundle: watch::Receiver<CaBundle>,
    trust: watch::Receiver<InjectedCaBundles>,
    status: watch::Receiver<ControllerStatus>,
    stop: watch::Sender<bool>,
    /// What follows; ended at last.
    following: JoinSet<()>,
    /// What writes, and then the lease.
    writing: JoinSet<()>,
}

/// Why a keeper can't start.
#[derive(Debug, thiserror::Error)]
#[error("the cryptography for asking replicas is not usable: {0}")]
pub struct CertControllerError(#[from] rustls::Error);

impl CertController {
    /// Starts to work. Must be called within a runtime. The API server need not be there yet.
    pub fn start(connection: &Connection, config: &ControllerConfig) -> Result<Self, CertControllerError> {
        let (holder, leadership) = LeaderElector::new(connection, config);
        let replicas = Replicas::new(connection, config)?;
        let context = Arc::new(ControllerContext::new(connection, config, replicas, leadership));
        let (stop, stopped) = watch::channel(false);
        let (release, asked) = mpsc::channel(1);
        let (changes, changed) = mpsc::unbounded_channel();

        let mut writing = JoinSet::new();
        writing.spawn(run_elector(holder, asked));
        let (leader, last) =
            (CertificateReconciler::new(Arc::clone(&context), stopped.clone(), release.clone()), release);
        let restoring = restore::restore_changed(Arc::clone(&context), changed, stopped);
        writing.spawn(async move {
            tokio::join!(restoring, leader.run());
            // Nobody can ask for anything any more: so the lease is given back, now that nothing is written.
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

    /// What this replica is to show: the newest usable pair of the serving Secret. Nothing until there was one; what
    /// is damaged or deleted later changes nothing.
    pub fn serving_certificate(&self) -> watch::Receiver<Option<ServingCertificate>> {
        self.served.clone()
    }

    /// The CAs that stand beside the certificate in its Secret: what callers are to trust, where there are none
    /// yet who do.
    pub fn own_bundle(&self) -> watch::Receiver<CaBundle> {
        self.own_bundle.clone()
    }

    /// What the injection targets trust.
    pub fn trust(&self) -> watch::Receiver<InjectedCaBundles> {
        self.trust.clone()
    }

    /// What is known.
    pub fn status(&self) -> watch::Receiver<ControllerStatus> {
        self.status.clone()
    }

    /// Stops writing and gives the lease back, so that another replica goes on at once.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.writing.join_next().await.is_some() {}
        self.following.shutdown().await;
    }
}

/// Until nobody can ask for anything any more, which is when nobody writes any more.
async fn run_elector(mut holder: LeaderElector, mut asked: mpsc::Receiver<Duration>) {
    loop {
        fail_point::unpaused().await;
        let wait = holder.tick().await;
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            release = asked.recv() => match release {
                Some(time) => holder.release(time).await,
                None => return holder.release(Duration::ZERO).await,
            }
        }
    }
}

/// Follows both Secrets: the server's to show it, and both so that the leader hears of changes.
fn watch_secrets(
    tasks: &mut JoinSet<()>,
    connection: &Connection,
    context: &Arc<ControllerContext>,
) -> (watch::Receiver<Option<ServingCertificate>>, watch::Receiver<CaBundle>) {
    let store = context.secrets.clone();
    let wakeup = Arc::new(Notify::new());
    let of_the_serving = vec![Arc::clone(&wakeup), Arc::clone(&context.wakeup)];
    tasks.spawn(notify_on_change(store.metadata(), store.name(ManagedSecret::Serving).to_owned(), of_the_serving));
    tasks.spawn(notify_on_change(
        store.metadata(),
        store.name(ManagedSecret::Ca).to_owned(),
        vec![Arc::clone(&context.wakeup)],
    ));
    let watcher = SecretWatcher::new(connection, store, context.spec.serving_secret.clone());
    let (served, beside, status) = (watcher.served(), watcher.own_bundle(), watcher.status());
    tasks.spawn(publish_serving_certificate(Arc::clone(context), served.clone(), status));
    tasks.spawn(watcher.run(wakeup));
    (served, beside)
}

async fn publish_serving_certificate(
    context: Arc<ControllerContext>,
    mut served: watch::Receiver<Option<ServingCertificate>>,
    mut status: watch::Receiver<crate::secrets::SecretStatus>,
) {
    loop {
        let (pair, now) = (served.borrow_and_update().clone(), status.borrow_and_update().clone());
        context.status.update(|facts| (facts.served, facts.ca) = (pair, now.ca));
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
