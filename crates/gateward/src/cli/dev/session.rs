//! A session from its start to its end.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use gateward_cluster::dev::{Destination, DevError, DevEvent, DevLease, DevSession, PutBackOutcome, TakeOver, Whose};
use gateward_core::manifest::FailurePolicy;
use gateward_core::terminal;
use gateward_server::Drain;
use tokio::task::JoinSet;

use super::address::Called;
use super::wanted::wanted;
use crate::certified::Certified;
use crate::cli::known_cluster::KnownCluster;
use crate::exit::Exit;
use crate::local::{Listen, Local};
use crate::operator::Operator;
use crate::runtime::{Shutdown as _, Signals, keep_stores};

const ADVICE: &str = "what was not put back above still leads here: run the same command with --restore once that is \
                      possible; it can be run again and again";

/// What a session is made of.
pub(super) struct Development {
    pub(super) session: DevSession,
    pub(super) called: Called,
    pub(super) known: KnownCluster,
    pub(super) failure_policy: FailurePolicy,
}

/// Why a session ends.
enum End {
    /// A person wants it.
    Asked,
    /// Another process has the cluster.
    Lost(String),
    /// It could not begin.
    Failed(anyhow::Error),
}

/// Puts back what others have left.
pub(super) async fn restore(session: &DevSession, take_over: TakeOver) -> anyhow::Result<Exit> {
    let mut lease = session.acquire(take_over, &mut print).await?;
    let put_back = lease.renewed_during(Box::pin(session.put_back(Whose::Anyones, &mut print))).await;
    release(lease).await;
    Ok(concluded(put_back)?)
}

fn concluded(put_back: Result<PutBackOutcome, DevError>) -> Result<Exit, DevError> {
    match put_back? {
        PutBackOutcome::Done => Ok(Exit::Success),
        PutBackOutcome::Remains => {
            complain(ADVICE);
            Ok(Exit::Findings)
        }
    }
}

impl Development {
    /// Takes the cluster, serves it until it is to end, and gives it back.
    pub(super) async fn run<P: Operator>(self, operator: P, take_over: TakeOver) -> anyhow::Result<Exit> {
        let mut lease = self.session.acquire(take_over, &mut print).await?;
        // From here on there is something to put back.
        let mut signals = Signals::new()?;
        let mut watches = JoinSet::new();
        if let Some(client) = &self.known.client {
            keep_stores(&mut watches, operator.webhooks(), client, None);
        }
        let local = match lease.renewed_during(Box::pin(self.start(operator))).await {
            Ok(local) => local,
            Err(error) => {
                release(lease).await;
                return Err(error);
            }
        };
        let end = self.serve(&local, &mut lease, &mut signals).await;
        let put_back = lease.renewed_during(Box::pin(self.session.put_back(Whose::Own, &mut print))).await;
        // API servers hear a moment later that nothing leads here any more.
        let drain = Drain { grace: Duration::from_secs(1), ..Drain::default() };
        local.1.drain_with_skip(drain, signals.hurries()).await;
        release(lease).await;
        conclude(end, put_back)
    }

    /// Puts back what others have left, and listens.
    async fn start<P: Operator>(&self, operator: P) -> anyhow::Result<(Arc<P>, Local)> {
        if self.session.put_back(Whose::Anyones, &mut print).await? == PutBackOutcome::Remains {
            bail!("nothing was changed: first what an earlier process has left has to be put back, as said above");
        }
        let operator = Arc::new(operator);
        let listen = Listen { webhooks: self.called.listen, ..Listen::anywhere() };
        let certified = Certified::with_name(listen.webhooks.ip(), Some(&self.called.server_name()))?;
        let KnownCluster { facts, reader, .. } = self.known.clone();
        let local = Local::start_certified(Arc::clone(&operator), facts, reader, &listen, certified).await?;
        Ok((operator, local))
    }

    async fn serve<P: Operator>(
        &self,
        (operator, local): &(Arc<P>, Local),
        lease: &mut DevLease,
        signals: &mut Signals,
    ) -> End {
        // What is under way is finished before a signal counts, so that no write comes after the last look.
        if let Err(error) = lease.renewed_during(Box::pin(self.take(operator.as_ref(), local))).await {
            return End::Failed(error);
        }
        tokio::select! {
            _ = signals.wait() => End::Asked,
            other = lease.lost() => End::Lost(other),
        }
    }

    async fn take<P: Operator>(&self, operator: &P, local: &Local) -> anyhow::Result<()> {
        let origin = self.called.origin(local.address().port());
        let destination = Destination::new(origin.clone(), &local.ca_pem(), self.failure_policy)?;
        self.session.prove(&destination, &mut print).await?;
        let wanted = wanted(operator, &destination)?;
        for other in self.session.also_judging(&wanted).await? {
            complain(&format!("{other} calls the Service of a release for the same webhooks; both judge"));
        }
        self.session.take(&wanted, &mut print).await?;
        say(&format!("serving {origin}; Ctrl-C ends it and puts everything back"));
        Ok(())
    }
}

/// A lease that can't be deleted keeps nobody off for long.
async fn release(lease: DevLease) {
    if let Err(why) = lease.release().await {
        complain(&format!("{why}; it expires by itself"));
    }
}

fn conclude(end: End, put_back: Result<PutBackOutcome, DevError>) -> anyhow::Result<Exit> {
    let put_back = match put_back {
        Ok(outcome) => outcome,
        Err(error) => {
            complain(&format!("not put back: {error}"));
            PutBackOutcome::Remains
        }
    };
    if put_back == PutBackOutcome::Remains {
        complain(ADVICE);
    }
    match (end, put_back) {
        (End::Failed(error), _) => Err(error),
        (End::Lost(other), _) => {
            complain(&format!("{other} has taken over; nothing leads here any more"));
            Ok(Exit::Findings)
        }
        (End::Asked, PutBackOutcome::Done) => Ok(Exit::Success),
        (End::Asked, PutBackOutcome::Remains) => Ok(Exit::Findings),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a session hands its events over")]
fn print(event: DevEvent) {
    match event {
        DevEvent::Waiting(_) | DevEvent::Remains(_) | DevEvent::Unproven(_) => complain(&event.to_string()),
        _ => say(&event.to_string()),
    }
}

/// A reader who has gone is no reason to leave a cluster half changed.
fn say(line: &str) {
    let _ = writeln!(anstream::stdout(), "{}", terminal::lines(line));
}

fn complain(line: &str) {
    let _ = writeln!(anstream::stderr(), "{}", terminal::lines(line));
}
