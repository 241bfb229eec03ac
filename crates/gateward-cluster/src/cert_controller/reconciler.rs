//! The reconcile loop of the leader: read, decide, write or wait.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use gateward_certs::KeySource;
use gateward_certs::rotation::{CertificateSpec, StateHash, Wait};
use tokio::sync::{mpsc, watch};
use tracing::{debug, info, warn};

use super::apply::WriteOutcome;
use super::leader::LeaderContext;
use super::snapshot::{Action, Basis, Decision, Snapshot};
use super::status_store::StatusTopic;
use crate::config::ControllerConfig;
use crate::connection::Connection;
use crate::fail_point::{self, Side};
use crate::injection::{ConversionAction, ConversionReadiness};
use crate::lease::LOG_TARGET;
use crate::replicas::Replicas;
use crate::request::Backoff;
use crate::status::LeaderProgress;

/// For how long a leader with a wrong clock releases the lease, and how often at most.
const RELEASE_FOR: Duration = Duration::from_secs(30);
const RELEASE_AT_MOST_EVERY: Duration = Duration::from_mins(10);

/// The retry period of a conversion stanza that could not be restored, or is not taken over yet.
const UNRESTORED: Duration = Duration::from_secs(5);

/// After more conflicts in a row than these, it is no coincidence.
const STALE_WRITES: u32 = 4;

/// Reconciles certificates and injection targets while this replica is the leader.
pub(super) struct CertificateReconciler {
    leader: Arc<LeaderContext>,
    connection: Connection,
    replicas: Replicas,
    spec: CertificateSpec,
    keys: Arc<dyn KeySource + Send + Sync>,
    stop: watch::Receiver<bool>,
    /// Asks the elector to release the lease for a while.
    release: mpsc::Sender<Duration>,
    released_at: Option<Instant>,
    settling: Settling,
    backoff: Backoff,
    /// How many writes in a row have failed with a conflict.
    stale: u32,
    /// The same of conversion stanzas.
    unrestored: u32,
    last_reported: String,
    /// How often in a row the same wait was decided.
    repeated_waits: u32,
    /// Since when replicas of ours can convert.
    answering: Option<Instant>,
}

/// When the next reconcile runs.
enum Requeue {
    /// At once.
    Now,
    /// After a while, or when something changes.
    After(Duration),
    /// After a while, whatever changes.
    Pause(Duration),
}

impl CertificateReconciler {
    pub(super) fn new(
        connection: &Connection,
        config: &ControllerConfig,
        replicas: Replicas,
        leader: Arc<LeaderContext>,
        stop: watch::Receiver<bool>,
        release: mpsc::Sender<Duration>,
    ) -> Self {
        Self {
            leader,
            connection: connection.clone(),
            replicas,
            spec: config.spec(),
            keys: Arc::clone(&config.certificates.keys),
            stop,
            release,
            released_at: None,
            settling: Settling::default(),
            backoff: Backoff::new(),
            stale: 0,
            unrestored: 0,
            last_reported: String::new(),
            repeated_waits: 0,
            answering: None,
        }
    }

    /// Runs until the controller is stopped. A write under way is completed.
    pub(super) async fn run(&mut self) {
        let mut stop = self.stop.clone();
        loop {
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                () = self.wait_for_leadership() => {}
            }
            let read = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                read = Snapshot::read(&self.leader, &self.replicas, &self.connection) => read,
            };
            let next = match read {
                Ok(Some(snapshot)) => {
                    self.leader.status.warn(StatusTopic::ApiServer, None);
                    self.act_on(snapshot).await
                }
                Ok(None) => Requeue::Now,
                Err(why) => {
                    let away = format!("the cluster can't be read: {why}; certificates and caBundles stay as they are");
                    self.leader.status.warn(StatusTopic::ApiServer, Some(away));
                    Requeue::Pause(self.backoff.fail())
                }
            };
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                () = self.wait_for_lost_leadership() => {}
                () = self.requeue(next) => {}
            }
        }
    }

    async fn wait_for_leadership(&self) {
        let mut leadership = self.leader.leadership.clone();
        if leadership.remaining().is_none() {
            self.leader.status.update(|facts| facts.status.progress = None);
        }
        while leadership.remaining().is_none() {
            leadership.changed().await;
        }
    }

    async fn wait_for_lost_leadership(&self) {
        let mut leadership = self.leader.leadership.clone();
        while leadership.remaining().is_some() {
            leadership.changed().await;
        }
    }

    async fn requeue(&self, next: Requeue) {
        match next {
            Requeue::Now => {}
            Requeue::After(time) => drop(tokio::time::timeout(time, self.leader.wakeup.notified()).await),
            Requeue::Pause(time) => tokio::time::sleep(time).await,
        }
    }

    async fn act_on(&mut self, snapshot: Snapshot) -> Requeue {
        self.leader.remember(snapshot.trusted(&self.leader.provision));
        let ours = self.conversion_readiness(&snapshot);
        let waits = snapshot.targets.iter().any(|object| object.conversion == ConversionAction::TakeOver);
        let unrestored = match self.leader.restore_stanzas(&snapshot, ours).await {
            None => None,
            Some(WriteOutcome::Done | WriteOutcome::LeaseLost) => return Requeue::Now,
            Some(WriteOutcome::Stale(_)) if self.unrestored < STALE_WRITES => {
                self.unrestored += 1;
                return Requeue::Pause(self.backoff.fail());
            }
            Some(WriteOutcome::Stale(why) | WriteOutcome::Failed(why)) => Some(why),
            Some(WriteOutcome::Deferred(_)) => Some("another client keeps changing it".to_owned()),
        };
        self.unrestored = 0;
        let is_whole = unrestored.is_none() && !waits;
        let warning = unrestored.map(|why| format!("spec.conversion of a CRD can't be restored: {why}"));
        self.leader.status.warn(StatusTopic::Conversion, warning);
        // A stanza that can't be restored doesn't hold up the certificates.
        match self.reconcile(snapshot).await {
            Requeue::After(time) if !is_whole => Requeue::After(time.min(UNRESTORED)),
            next => next,
        }
    }

    /// Whether replicas of ours can convert, and have been for as long as API servers take to hear of it.
    fn conversion_readiness(&mut self, snapshot: &Snapshot) -> ConversionReadiness {
        let now = Instant::now();
        let can_convert = snapshot.can_convert(&self.leader.provision);
        self.answering = can_convert.then(|| self.answering.unwrap_or(now));
        let settled = self.answering.is_some_and(|since| now.saturating_duration_since(since) >= self.spec.settle);
        if settled { ConversionReadiness::Ready } else { ConversionReadiness::NotReady }
    }

    async fn reconcile(&mut self, snapshot: Snapshot) -> Requeue {
        let settled = self.settling.settled(Instant::now(), self.spec.settle);
        let Some((snapshot, decision)) = self.decide(snapshot, settled).await else {
            return Requeue::Pause(self.backoff.fail());
        };
        self.report_step(&decision);
        if self.leader.rate_limiter.is_idle(Instant::now()) {
            self.leader.status.warn(StatusTopic::WriteConflict, None);
        }
        let Decision { next, action, .. } = decision;
        let outcome = match action {
            Action::Wait(wait) => return self.wait_as(&wait, snapshot.replicas.len()).await,
            Action::Write(change, name) => {
                self.settling.forget();
                fail_point::reach(Side::Before, name).await;
                let outcome = self.leader.apply(&snapshot, change).await;
                if outcome == WriteOutcome::Done {
                    fail_point::reach(Side::After, name).await;
                }
                outcome
            }
            Action::WriteBundle(change) => {
                self.settling.forget();
                self.leader.write_bundle_secret(&snapshot, change).await
            }
            Action::Unwritable(why) => WriteOutcome::Failed(why.to_string()),
        };
        self.finish_write(&next, outcome)
    }

    /// Runs on a blocking thread: making a key takes time, and requests must not wait.
    async fn decide(&self, snapshot: Snapshot, settled: Option<StateHash>) -> Option<(Snapshot, Decision)> {
        let (spec, keys, provision) = (self.spec.clone(), Arc::clone(&self.keys), self.leader.provision.clone());
        let decide = move || {
            let now = SystemTime::now();
            let basis = Basis { provision: &provision, spec: &spec, settled, now, keys: &*keys };
            let decision = snapshot.decide(&basis);
            (snapshot, decision)
        };
        tokio::task::spawn_blocking(decide)
            .await
            .inspect_err(|why| warn!(target: LOG_TARGET, "deciding on certificates failed: {why}"))
            .ok()
    }

    async fn wait_as(&mut self, wait: &Wait, replicas: usize) -> Requeue {
        self.reset_failures();
        let now = Instant::now();
        match wait {
            Wait::Settling { hash, time, .. } => return Requeue::After(self.settling.waits(*hash, *time, now)),
            Wait::ClocksDisagree { .. } if replicas > 1 && self.may_release(now) => {
                self.released_at = Some(now);
                // The receiver is gone only at shutdown.
                let _ = self.release.send(RELEASE_FOR).await;
            }
            _ => {}
        }
        self.settling.forget();
        self.repeated_waits += 1;
        Requeue::After(lengthen(wait.at_most(SystemTime::now()), self.repeated_waits))
    }

    fn may_release(&self, now: Instant) -> bool {
        self.released_at.is_none_or(|at| now.saturating_duration_since(at) >= RELEASE_AT_MOST_EVERY)
    }

    fn finish_write(&mut self, write: &str, outcome: WriteOutcome) -> Requeue {
        match outcome {
            WriteOutcome::Done => {
                self.reset_failures();
                Requeue::Now
            }
            WriteOutcome::Stale(why) => {
                debug!("not written, since something has changed meanwhile: {write}: {why}");
                self.stale += 1;
                if self.stale > STALE_WRITES {
                    let refused = format!("{write} keeps failing: {why}");
                    self.leader.status.warn(StatusTopic::Write, Some(refused));
                }
                Requeue::Pause(self.backoff.fail())
            }
            WriteOutcome::Deferred(time) => Requeue::Pause(time),
            WriteOutcome::LeaseLost => Requeue::Now,
            WriteOutcome::Failed(why) => {
                self.leader.status.warn(StatusTopic::Write, Some(format!("it was not possible to {write}: {why}")));
                Requeue::Pause(self.backoff.fail())
            }
        }
    }

    fn reset_failures(&mut self) {
        self.backoff.reset();
        self.stale = 0;
        self.leader.status.warn(StatusTopic::Write, None);
    }

    /// Logs each step once.
    fn report_step(&mut self, decision: &Decision) {
        let next = decision.next.clone();
        if self.last_reported != next {
            info!(target: LOG_TARGET, "certificates: {next}");
            self.last_reported.clone_from(&next);
            self.repeated_waits = 0;
        }
        let (phase, at) = (decision.phase, SystemTime::now());
        self.leader.status.update(|facts| facts.status.progress = Some(LeaderProgress { phase, next, at }));
        let notes = Some(decision.notes.join("; ")).filter(|notes| !notes.is_empty());
        self.leader.status.warn(StatusTopic::Annotations, notes);
    }
}

/// Lengthens the period of a long wait: each snapshot reads whole CRDs.
fn lengthen(time: Duration, repeated_waits: u32) -> Duration {
    const SELDOM: Duration = Duration::from_secs(15);
    time.max(SELDOM.min(time * (1 + repeated_waits / 10)))
}

/// For how long a state has been stable, by the monotonic clock.
#[derive(Debug, Default)]
struct Settling {
    standing: Option<(StateHash, Instant)>,
    settled: Option<StateHash>,
}

impl Settling {
    /// The hash of the state that has been stable for long enough.
    fn settled(&mut self, now: Instant, time: Duration) -> Option<StateHash> {
        if let Some((hash, _)) = self.standing.take_if(|(_, since)| now.saturating_duration_since(*since) >= time) {
            self.settled = Some(hash);
        }
        self.settled
    }

    /// Starts or goes on waiting for a state to be stable; returns the time left.
    fn waits(&mut self, hash: StateHash, time: Duration, now: Instant) -> Duration {
        let since = self.standing.filter(|(standing, _)| *standing == hash).map_or(now, |(_, since)| since);
        self.standing = Some((hash, since));
        (since + time).saturating_duration_since(now)
    }

    /// The state has changed.
    fn forget(&mut self) {
        self.standing = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_long_wait_polls_less_often() {
        assert_eq!(lengthen(2 * SECOND, 1), 2 * SECOND);
        assert_eq!(lengthen(2 * SECOND, 10), 4 * SECOND);
        assert_eq!(lengthen(2 * SECOND, 1_000), 15 * SECOND);
        assert_eq!(lengthen(600 * SECOND, 1_000), 600 * SECOND);
    }
}
