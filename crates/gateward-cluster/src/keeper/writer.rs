//! The replica that writes: look, decide, write or wait, and again.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use gateward_certs::rotation::{StateHash, Step, Wait};
use tokio::sync::{mpsc, watch};
use tracing::{debug, info, warn};

use super::act::Outcome;
use super::board::Topic;
use super::look::{Decision, Look};
use super::means::Means;
use crate::fail_point::{self, Side};
use crate::patience::Backoff;
use crate::report::ProgressReport;
use crate::secrets::authority;

/// For how long the lease is left to others by a replica whose clock is wrong, and how often at most.
const ASIDE: Duration = Duration::from_secs(30);
const ASIDE_AT_MOST_EVERY: Duration = Duration::from_mins(10);

/// How soon a conversion stanza is tried again that could not be restored.
const UNRESTORED: Duration = Duration::from_secs(5);

/// More writes in a row than these don't find changed objects by chance.
const PATIENCE: u32 = 4;

/// Goes on while this replica holds the lease, and waits while it doesn't.
pub(super) struct Writer {
    means: Arc<Means>,
    stop: watch::Receiver<bool>,
    /// Asks that the lease be left to others for a while.
    aside: mpsc::Sender<Duration>,
    stepped_aside: Option<Instant>,
    settling: Settling,
    backoff: Backoff,
    /// How many writes in a row have found that something had changed.
    stale: u32,
    /// The same of conversion stanzas.
    unrestored: u32,
    last_told: String,
    /// How often in a row it has waited for the same.
    waited: u32,
}

/// What is to be done after a turn.
enum Next {
    /// Another look.
    Look,
    /// The same, after a while or news.
    After(Duration),
    /// The same, after a while: news wouldn't help.
    Pause(Duration),
}

impl Writer {
    pub(super) fn new(means: Arc<Means>, stop: watch::Receiver<bool>, aside: mpsc::Sender<Duration>) -> Self {
        Self {
            means,
            stop,
            aside,
            stepped_aside: None,
            settling: Settling::default(),
            backoff: Backoff::new(),
            stale: 0,
            unrestored: 0,
            last_told: String::new(),
            waited: 0,
        }
    }

    /// Until the keeper is stopped. What is being written is written to its end.
    pub(super) async fn run(mut self) {
        let mut stop = self.stop.clone();
        loop {
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                () = self.waits_for_the_lease() => {}
            }
            let looked = tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                looked = Look::take(&self.means) => looked,
            };
            let next = match looked {
                Ok(Some(look)) => {
                    self.means.board.warn(Topic::ApiServer, None);
                    self.follows_from(look).await
                }
                Ok(None) => Next::Look,
                Err(why) => {
                    let away = format!("the cluster can't be looked at: {why}; what is there stays in use");
                    self.means.board.warn(Topic::ApiServer, Some(away));
                    Next::Pause(self.backoff.fail())
                }
            };
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                () = self.loses_the_lease() => {}
                () = self.waits(next) => {}
            }
        }
    }

    async fn waits_for_the_lease(&self) {
        let mut tenure = self.means.tenure.clone();
        if tenure.remaining().is_none() {
            self.means.board.note(|facts| facts.progress = None);
        }
        while tenure.remaining().is_none() {
            tenure.changed().await;
        }
    }

    async fn loses_the_lease(&self) {
        let mut tenure = self.means.tenure.clone();
        while tenure.remaining().is_some() {
            tenure.changed().await;
        }
    }

    async fn waits(&self, next: Next) {
        match next {
            Next::Look => {}
            Next::After(time) => drop(tokio::time::timeout(time, self.means.news.notified()).await),
            Next::Pause(time) => tokio::time::sleep(time).await,
        }
    }

    async fn follows_from(&mut self, look: Look) -> Next {
        self.means.remember(look.authority.as_ref().map(authority));
        let unrestored = match self.means.restore_stanzas(&look).await {
            None => None,
            Some(Outcome::Done | Outcome::LeaseLost) => return Next::Look,
            Some(Outcome::Stale(_)) if self.unrestored < PATIENCE => {
                self.unrestored += 1;
                return Next::Pause(self.backoff.fail());
            }
            Some(Outcome::Stale(why) | Outcome::Failed(why)) => Some(why),
            Some(Outcome::Deferred(_)) => Some("somebody keeps changing it".to_owned()),
        };
        self.unrestored = 0;
        let is_whole = unrestored.is_none();
        let warning = unrestored.map(|why| format!("spec.conversion of a CRD can't be restored: {why}"));
        self.means.board.warn(Topic::Conversion, warning);
        // Certificates don't wait for it.
        match self.goes_on(look).await {
            Next::After(time) if !is_whole => Next::After(time.min(UNRESTORED)),
            next => next,
        }
    }

    async fn goes_on(&mut self, look: Look) -> Next {
        let settled = self.settling.settled(Instant::now(), self.means.wanted.settle);
        let Some((look, decision)) = self.decides(look, settled).await else { return Next::Pause(self.backoff.fail()) };
        self.tells(&decision);
        if self.means.fights.are_over(Instant::now()) {
            self.means.board.warn(Topic::Fight, None);
        }
        let Decision { step, change, .. } = decision;
        match (step, change) {
            (Step::Wait(wait), _) => self.waits_as(&wait, look.replicas.len()).await,
            (Step::Write(write), Some(Ok(change))) => {
                self.settling.forget();
                let name = fail_point::name(&write, |write| look.consumer(&write.target));
                fail_point::reach(Side::Before, name).await;
                let outcome = self.means.carry_out(&look, change).await;
                if outcome == Outcome::Done {
                    fail_point::reach(Side::After, name).await;
                }
                self.ends_as(&write.to_string(), outcome)
            }
            (Step::Write(write), other) => {
                let why = other.and_then(Result::err).map(|why| why.to_string()).unwrap_or_default();
                self.ends_as(&write.to_string(), Outcome::Failed(why))
            }
        }
    }

    /// Off the threads that serve requests, since making a key takes its time.
    async fn decides(&self, look: Look, settled: Option<StateHash>) -> Option<(Look, Decision)> {
        let means = Arc::clone(&self.means);
        let decide = move || {
            let decision = look.decide(&means.wanted, settled, SystemTime::now(), &*means.keys);
            (look, decision)
        };
        tokio::task::spawn_blocking(decide)
            .await
            .inspect_err(|why| warn!("deciding on certificates failed: {why}"))
            .ok()
    }

    async fn waits_as(&mut self, wait: &Wait, replicas: usize) -> Next {
        self.is_well();
        let now = Instant::now();
        match wait {
            Wait::Settling { hash, time, .. } => return Next::After(self.settling.waits(*hash, *time, now)),
            Wait::ClocksDisagree { .. } if replicas > 1 && self.may_step_aside(now) => {
                self.stepped_aside = Some(now);
                // Nobody listens only when everything ends.
                let _ = self.aside.send(ASIDE).await;
            }
            _ => {}
        }
        self.settling.forget();
        self.waited += 1;
        Next::After(patient(wait.at_most(SystemTime::now()), self.waited))
    }

    fn may_step_aside(&self, now: Instant) -> bool {
        self.stepped_aside.is_none_or(|at| now.saturating_duration_since(at) >= ASIDE_AT_MOST_EVERY)
    }

    fn ends_as(&mut self, write: &str, outcome: Outcome) -> Next {
        match outcome {
            Outcome::Done => {
                self.is_well();
                Next::Look
            }
            Outcome::Stale(why) => {
                debug!("not written, since something has changed meanwhile: {write}: {why}");
                self.stale += 1;
                if self.stale > PATIENCE {
                    let refused = format!("it is refused again and again to {write}: {why}");
                    self.means.board.warn(Topic::Write, Some(refused));
                }
                Next::Pause(self.backoff.fail())
            }
            Outcome::Deferred(time) => Next::Pause(time),
            Outcome::LeaseLost => Next::Look,
            Outcome::Failed(why) => {
                self.means.board.warn(Topic::Write, Some(format!("it was not possible to {write}: {why}")));
                Next::Pause(self.backoff.fail())
            }
        }
    }

    fn is_well(&mut self) {
        self.backoff.reset();
        self.stale = 0;
        self.means.board.warn(Topic::Write, None);
    }

    /// One line for each step; a wait that goes on is told once.
    fn tells(&mut self, decision: &Decision) {
        let next = decision.step.to_string();
        if self.last_told != next {
            info!("certificates: {next}");
            self.last_told.clone_from(&next);
            self.waited = 0;
        }
        let (phase, at) = (decision.phase, SystemTime::now());
        self.means.board.note(|facts| facts.progress = Some(ProgressReport { phase, next, at }));
        let notes = Some(decision.notes.join("; ")).filter(|notes| !notes.is_empty());
        self.means.board.warn(Topic::Annotations, notes);
    }
}

/// Somebody who waits for long looks less often: a look reads whole CRDs.
fn patient(time: Duration, waited: u32) -> Duration {
    const SELDOM: Duration = Duration::from_secs(15);
    time.max(SELDOM.min(time * (1 + waited / 10)))
}

/// For how long a state of affairs has stood, by a clock that doesn't jump.
#[derive(Debug, Default)]
struct Settling {
    standing: Option<(StateHash, Instant)>,
    settled: Option<StateHash>,
}

impl Settling {
    /// The mark of what has stood for long enough.
    fn settled(&mut self, now: Instant, time: Duration) -> Option<StateHash> {
        if let Some((hash, _)) = self.standing.take_if(|(_, since)| now.saturating_duration_since(*since) >= time) {
            self.settled = Some(hash);
        }
        self.settled
    }

    /// A state of affairs is to stand for some time; gives how much of it is left.
    fn waits(&mut self, hash: StateHash, time: Duration, now: Instant) -> Duration {
        let since = self.standing.filter(|(standing, _)| *standing == hash).map_or(now, |(_, since)| since);
        self.standing = Some((hash, since));
        (since + time).saturating_duration_since(now)
    }

    /// It is another state of affairs now.
    fn forget(&mut self) {
        self.standing = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn what_is_waited_for_in_vain_is_looked_at_less_often() {
        assert_eq!(patient(2 * SECOND, 1), 2 * SECOND);
        assert_eq!(patient(2 * SECOND, 10), 4 * SECOND);
        assert_eq!(patient(2 * SECOND, 1_000), 15 * SECOND);
        assert_eq!(patient(600 * SECOND, 1_000), 600 * SECOND);
    }
}
