//! Keeps certificates and bundles right, beside the server.
//!
//! On every replica, [`hear`] follows those who carry bundles and [`crate::secrets`] the server's Secret. On the one
//! that holds the lease, [`writer`] looks, decides and writes, and [`repair`] restores at once what someone has taken
//! away. What all of them know is put together by [`board`].

mod act;
mod board;
mod hear;
mod look;
mod means;
mod repair;
mod writer;

use std::sync::Arc;
use std::time::Duration;

use gateward_certs::CaBundle;
use gateward_certs::secret::ServingCertificate;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

use crate::connection::Connection;
use crate::fail_point;
use crate::lease::{Held, LeaseHolder};
use crate::news::tell_of;
use crate::replicas::Replicas;
use crate::report::{Report, Writer as Writing};
use crate::secrets::{Follower, Which};
use crate::setup::Setup;
use crate::trust::Trust;
use board::Topic;
use hear::Ears;
pub(crate) use look::view;
use means::Means;
use writer::Writer;

/// What keeps certificates and bundles right, as long as it lives: on every replica it follows the server's Secret, on
/// one of them it writes.
///
/// It never fails: while the API server is away it tries again, and what was there stays in use. Dropped, it ends at
/// once, as if the process had; [`Keeper::stop`] is the way that costs the other replicas nothing.
pub struct Keeper {
    served: watch::Receiver<Option<ServingCertificate>>,
    own_bundle: watch::Receiver<CaBundle>,
    trust: watch::Receiver<Trust>,
    report: watch::Receiver<Report>,
    stop: watch::Sender<bool>,
    /// What follows; ended at last.
    following: JoinSet<()>,
    /// What writes, and then the lease.
    writing: JoinSet<()>,
}

/// Why a keeper can't start.
#[derive(Debug, thiserror::Error)]
#[error("the cryptography for asking replicas is not usable: {0}")]
pub struct KeeperError(#[from] rustls::Error);

impl Keeper {
    /// Starts to work. Must be called within a runtime. The API server need not be there yet.
    pub fn start(connection: &Connection, setup: &Setup) -> Result<Self, KeeperError> {
        let (holder, tenure) = LeaseHolder::new(connection, setup);
        let replicas = Replicas::new(connection, setup)?;
        let means = Arc::new(Means::new(connection, setup, replicas, tenure));
        let (stop, stopped) = watch::channel(false);
        let (aside, asked) = mpsc::channel(1);
        let (changes, changed) = mpsc::unbounded_channel();

        let mut writing = JoinSet::new();
        writing.spawn(tend_lease(holder, asked));
        let (writer, last) = (Writer::new(Arc::clone(&means), stopped.clone(), aside.clone()), aside);
        let repairs = repair::repair(Arc::clone(&means), changed, stopped);
        writing.spawn(async move {
            tokio::join!(repairs, writer.run());
            // Nobody can ask for anything any more: so the lease is given back, now that nothing is written.
            drop(last);
        });

        let mut following = JoinSet::new();
        let ears = Arc::new(Ears::new(Arc::clone(&means), changes));
        let trust = ears.trust();
        for scope in means.consumers.scopes() {
            let ears = Arc::clone(&ears);
            following.spawn(async move { ears.listen(scope).await });
        }
        following.spawn(async move { ears.publish().await });
        let (served, own_bundle) = follow_secrets(&mut following, connection, &means);
        following.spawn(tell_who_writes(Arc::clone(&means)));
        Ok(Self { served, own_bundle, trust, report: means.board.report(), stop, following, writing })
    }

    /// What this replica is to show: the newest usable pair of the server's Secret. Nothing until there was one; what
    /// is damaged or deleted later changes nothing.
    pub fn served(&self) -> watch::Receiver<Option<ServingCertificate>> {
        self.served.clone()
    }

    /// The authorities that stand beside the certificate in its Secret: what callers are to trust, where there are none
    /// yet who do.
    pub fn own_bundle(&self) -> watch::Receiver<CaBundle> {
        self.own_bundle.clone()
    }

    /// What the consumers trust.
    pub fn trust(&self) -> watch::Receiver<Trust> {
        self.trust.clone()
    }

    /// What is known.
    pub fn report(&self) -> watch::Receiver<Report> {
        self.report.clone()
    }

    /// Stops writing and gives the lease back, so that another replica goes on at once.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        while self.writing.join_next().await.is_some() {}
        self.following.shutdown().await;
    }
}

/// Until nobody can ask for anything any more, which is when nobody writes any more.
async fn tend_lease(mut holder: LeaseHolder, mut asked: mpsc::Receiver<Duration>) {
    loop {
        fail_point::unpaused().await;
        let wait = holder.tend().await;
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            aside = asked.recv() => match aside {
                Some(time) => holder.step_aside(time).await,
                None => return holder.step_aside(Duration::ZERO).await,
            }
        }
    }
}

/// Follows both Secrets: the server's to show it, and both so that the writer hears of changes.
fn follow_secrets(
    tasks: &mut JoinSet<()>,
    connection: &Connection,
    means: &Arc<Means>,
) -> (watch::Receiver<Option<ServingCertificate>>, watch::Receiver<CaBundle>) {
    let store = means.secrets.clone();
    let news = Arc::new(Notify::new());
    let of_the_leaf = vec![Arc::clone(&news), Arc::clone(&means.news)];
    tasks.spawn(tell_of(store.metadata(), store.name(Which::Leaf).to_owned(), of_the_leaf));
    tasks.spawn(tell_of(store.metadata(), store.name(Which::Ca).to_owned(), vec![Arc::clone(&means.news)]));
    let follower = Follower::new(connection, store, means.wanted.serving_secret.clone());
    let (served, beside, told) = (follower.served(), follower.beside(), follower.told());
    tasks.spawn(note_what_is_served(Arc::clone(means), served.clone(), told));
    tasks.spawn(follower.follow(news));
    (served, beside)
}

async fn note_what_is_served(
    means: Arc<Means>,
    mut served: watch::Receiver<Option<ServingCertificate>>,
    mut told: watch::Receiver<crate::secrets::Told>,
) {
    loop {
        let (pair, told_now) = (served.borrow_and_update().clone(), told.borrow_and_update().clone());
        means.board.note(|facts| (facts.served, facts.authority) = (pair, told_now.authority));
        means.board.warn(Topic::Secret, told_now.fault);
        let ended = tokio::select! {
            changed = served.changed() => changed.is_err(),
            changed = told.changed() => changed.is_err(),
        };
        if ended {
            return;
        }
    }
}

async fn tell_who_writes(means: Arc<Means>) {
    let mut tenure = means.tenure.clone();
    let mut told = Writing::Nobody;
    loop {
        let writer = match tenure.held() {
            Held::Unknown => Writing::Nobody,
            Held::Ours(_) => Writing::Us,
            Held::Theirs(holder) => Writing::Other(holder),
        };
        if writer != told {
            told.clone_from(&writer);
            means.board.note(|facts| facts.writer = writer);
        }
        tenure.changed().await;
    }
}
