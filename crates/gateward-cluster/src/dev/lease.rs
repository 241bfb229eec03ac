//! The lease by which others see that a process lives.

use std::time::{Duration, Instant};

use super::event::{DevError, DevEvent};
use crate::config::{LeaseConfig, LeaseTimes};
use crate::connection::Connection;
use crate::lease::{LeaderElector, Leadership};
use crate::status::Leader;

/// There is one in each cluster.
const NAMESPACE: &str = "default";
/// A person who starts again after a crash waits for as long as the lease lasts.
const TIMES: LeaseTimes = LeaseTimes {
    retry_period: Duration::from_secs(2),
    renew_deadline: Duration::from_secs(8),
    lease_duration: Duration::from_secs(10),
};
const LOOK: Duration = Duration::from_millis(500);
const ATTEMPTS: usize = 5;

/// Whether another process that lives loses the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakeOver {
    /// It keeps it.
    Never,
    /// It loses it.
    Always,
}

/// The lease of this process.
pub struct DevLease {
    elector: LeaderElector,
    leadership: Leadership,
    name: String,
}

impl DevLease {
    /// Takes the lease. That of a process that has ended expires meanwhile.
    pub(super) async fn acquire(
        connection: &Connection,
        config: &LeaseRequest<'_>,
        on_event: &mut (dyn FnMut(DevEvent) + Send),
    ) -> Result<Self, DevError> {
        let lease = LeaseConfig { name: config.name.to_owned(), holder: config.holder.to_owned(), times: TIMES };
        let (elector, leadership) = LeaderElector::new(connection, NAMESPACE, &lease, config.manager);
        let mut lease = Self { elector, leadership, name: lease.name };
        match config.take_over {
            TakeOver::Always => lease.seize().await,
            TakeOver::Never => lease.wait(on_event).await,
        }?;
        Ok(lease)
    }

    async fn seize(&mut self) -> Result<(), DevError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.elector.seize().await {
                // Its holder has just renewed it.
                Err(why) if why.is_stale() && attempts < ATTEMPTS => {}
                Err(why) => return Err(DevError::Lease { name: self.name.clone(), why: why.to_string() }),
                Ok(()) => return Ok(()),
            }
        }
    }

    async fn wait(&mut self, on_event: &mut (dyn FnMut(DevEvent) + Send)) -> Result<(), DevError> {
        let (started, mut is_said) = (Instant::now(), false);
        // A process that lives renews it in time.
        let patience = TIMES.lease_duration + TIMES.retry_period;
        loop {
            self.elector.tick().await;
            let leader = self.leadership.leader();
            match &leader {
                Leader::ThisReplica => return Ok(()),
                Leader::Other(holder) if !is_said => {
                    is_said = true;
                    on_event(DevEvent::Waiting(format!("whether {} has ended", shown(holder))));
                }
                Leader::Other(_) | Leader::Unknown => {}
            }
            if started.elapsed() > patience || self.elector.forbidden().is_some() {
                return Err(self.failure(&leader));
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn failure(&self, leader: &Leader) -> DevError {
        match (leader, self.elector.forbidden()) {
            (Leader::Other(holder), None) => DevError::Held(shown(holder).to_owned()),
            (_, why) => {
                let why = why.unwrap_or("the API server doesn't answer in time").to_owned();
                DevError::Lease { name: self.name.clone(), why }
            }
        }
    }

    /// Renews the lease until another process has it; gives that one.
    pub async fn lost(&mut self) -> String {
        loop {
            let pause = self.elector.tick().await;
            if let Leader::Other(holder) = self.leadership.leader() {
                return shown(&holder).to_owned();
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Does something, and renews the lease meanwhile for as long as it is there.
    pub async fn renewed_during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            done = &mut work => return done,
            _ = self.lost() => {}
        }
        work.await
    }

    /// Deletes the lease, if this process has it.
    pub async fn release(mut self) -> Result<(), DevError> {
        let removed = self.elector.remove().await;
        removed.map_err(|why| DevError::Lease { name: self.name, why: why.to_string() })
    }
}

/// What a lease is taken with.
pub(super) struct LeaseRequest<'a> {
    pub(super) name: &'a str,
    pub(super) holder: &'a str,
    pub(super) manager: &'a str,
    pub(super) take_over: TakeOver,
}

/// A holder without the random number that distinguishes processes.
fn shown(holder: &str) -> &str {
    holder.rsplit_once('_').map_or(holder, |(holder, _)| holder)
}
