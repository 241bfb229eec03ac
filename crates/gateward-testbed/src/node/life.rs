//! The life of a container: started, probed, stopped, started again.

use std::convert::Infallible;
use std::process::ExitStatus;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tokio::time::Instant;

use super::ask::ask;
use super::container::Inside;
use super::entry::{Entry, Place};
use super::fields::{seconds, text};
use super::network::Shared;
use super::probe::{Check, Outcome, Probe, Tally};
use super::process::Signal;
use super::start::start;
use super::status::{End, Now};

/// What SIGTERM gets at least after a hook that took all the time.
const AFTER_HOOK: Duration = Duration::from_secs(2);
/// The pauses before restarts: none, then a tenth of kubelet's, so that tests see several of them.
const PAUSES: [u64; 6] = [0, 1, 2, 4, 8, 16];
/// Who ran for so long begins with the first pause again; a tenth of kubelet's.
const HEALTHY: Duration = Duration::from_mins(1);

/// A container of a Pod.
pub(crate) struct Container<'p> {
    pub(crate) pod: &'p Entry,
    pub(crate) shared: &'p Shared,
    pub(crate) spec: &'p Value,
    pub(crate) place: Place,
}

/// A probe at work.
struct Probing<'c> {
    probe: Probe,
    tally: Tally,
    next: Instant,
    ip: std::net::Ipv4Addr,
    inside: &'c Inside,
}

impl Container<'_> {
    /// Runs the container until it has ended for good.
    pub(crate) async fn live(&self) -> End {
        let mut crashes = 0;
        loop {
            let begun = (Instant::now(), SystemTime::now());
            let end = match self.run_once().await {
                Ok(end) if self.is_over(&end) => {
                    self.ended(end.clone());
                    return end;
                }
                Ok(end) => {
                    crashes = if begun.0.elapsed() > HEALTHY { 0 } else { crashes };
                    self.crashed(&end);
                    end
                }
                Err(error) => {
                    self.refused(&error);
                    End::new(exit_status(128), begun.1, SystemTime::now())
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause(crashes)) => {}
                () = self.pod.stopping() => {
                    self.ended(end.clone());
                    return end;
                }
            }
            crashes += 1;
        }
    }

    fn is_over(&self, end: &End) -> bool {
        let pod = self.pod.object();
        self.pod.grace().is_some() || !starts_again(text(&pod, "/spec/restartPolicy"), self.place, end.code)
    }

    fn crashed(&self, end: &End) {
        self.pod.note(self.place, |state| {
            state.last = Some(end.clone());
            state.restarts += 1;
            state.now = Now::Waiting("CrashLoopBackOff", format!("ended with {}", end.code));
        });
    }

    fn refused(&self, error: &anyhow::Error) {
        self.complain(&format!("cannot be started: {error:#}"));
        self.pod.note(self.place, |state| state.now = Now::Waiting("CreateContainerError", format!("{error:#}")));
    }

    fn ended(&self, end: End) {
        self.pod.note(self.place, |state| state.now = Now::Ended(end));
    }

    async fn run_once(&self) -> anyhow::Result<End> {
        let name = text(self.spec, "/name");
        let started = SystemTime::now();
        let inside = start(self.pod, self.shared, self.spec).await?;
        self.pod.running.lock().unwrap().insert(name.into(), inside.clone());
        self.pod.note(self.place, |state| state.now = Now::Running(started));
        let status = self.outlive(&inside).await;
        self.pod.running.lock().unwrap().remove(name);
        self.pod.note(self.place, |state| (state.ready, state.started) = (false, false));
        Ok(End::new(status, started, SystemTime::now()))
    }

    /// Waits for the end of the process, and brings it about where that is due.
    async fn outlive(&self, inside: &Inside) -> ExitStatus {
        let due = async {
            let grace = tokio::select! {
                grace = self.health(inside) => Some(grace),
                () = self.pod.stopping() => None,
            };
            self.stop(inside, grace).await
        };
        tokio::select! {
            status = inside.running.ended() => status,
            status = due => status,
            never = self.readiness(inside) => match never {},
        }
    }

    /// Ends when the container is found to be ill. Gives the time that it has to stop.
    async fn health(&self, inside: &Inside) -> Duration {
        if let Some(mut startup) = self.probing("startupProbe", inside)
            && startup.next().await == Outcome::Failure
        {
            return self.give_up("startup", &startup.probe);
        }
        let probed = self.spec.get("readinessProbe").is_some();
        self.pod.note(self.place, |state| (state.started, state.ready) = (true, !probed));
        if let Some(mut liveness) = self.probing("livenessProbe", inside) {
            while liveness.next().await == Outcome::Success {}
            return self.give_up("liveness", &liveness.probe);
        }
        std::future::pending().await
    }

    fn give_up(&self, what: &str, probe: &Probe) -> Duration {
        self.complain(&format!("the {what} probe failed"));
        let grace = || seconds(&self.pod.object(), "/spec/terminationGracePeriodSeconds");
        probe.grace.or_else(grace).unwrap_or_default()
    }

    /// Keeps the readiness like what the probe says, also while the container stops.
    async fn readiness(&self, inside: &Inside) -> Infallible {
        if let Place::Main(index) = self.place
            && self.spec.get("readinessProbe").is_some()
        {
            let mut state = self.pod.state.subscribe();
            // The sender lives as long as the Pod.
            let _ = state.wait_for(|state| state.main[index].started).await;
            if let Some(mut readiness) = self.probing("readinessProbe", inside) {
                loop {
                    let ready = readiness.next().await == Outcome::Success;
                    self.pod
                        .state
                        .send_if_modified(|state| std::mem::replace(&mut state.main[index].ready, ready) != ready);
                }
            }
        }
        std::future::pending().await
    }

    fn probing<'c>(&self, name: &str, inside: &'c Inside) -> Option<Probing<'c>> {
        let probe = Probe::of(self.spec, name).unwrap_or_else(|error| {
            self.complain(&error);
            None
        })?;
        let (tally, next) = (probe.tally(), Instant::now() + probe.initial_delay);
        Some(Probing { probe, tally, next, ip: self.shared.ip(), inside })
    }

    /// Stops the process as the Pod's end asks, or within a time of its own.
    async fn stop(&self, inside: &Inside, grace: Option<Duration>) -> ExitStatus {
        let begun = Instant::now();
        if let Some(hook) = self.spec.pointer("/lifecycle/preStop") {
            tokio::select! {
                () = self.hook(hook, inside) => {}
                () = self.out_of_time(begun, grace) => {}
            }
        }
        inside.running.signal(Signal::Term);
        let least = if self.spec.pointer("/lifecycle/preStop").is_some() { AFTER_HOOK } else { Duration::ZERO };
        let least = Instant::now() + least.min(self.pod.grace().unwrap_or(least));
        tokio::select! {
            status = inside.running.ended() => return status,
            () = async {
                self.out_of_time(begun, grace).await;
                tokio::time::sleep_until(least).await;
            } => {}
        }
        inside.running.signal(Signal::Kill);
        inside.running.ended().await
    }

    async fn hook(&self, hook: &Value, inside: &Inside) {
        let asked = match Check::of(hook, self.spec) {
            Ok(check) => ask(&check, self.shared.ip(), inside).await,
            Err(error) => Err(anyhow::Error::msg(error)),
        };
        if let Err(error) = asked {
            self.complain(&format!("preStop: {error:#}"));
        }
    }

    /// Waits until a container that began to stop has to be gone. A Pod's deletion may come later than that, or again
    /// with less time.
    async fn out_of_time(&self, begun: Instant, grace: Option<Duration>) {
        let mut seen = self.pod.seen.subscribe();
        loop {
            let grace = [grace, self.pod.grace()].into_iter().flatten().min().unwrap_or_default();
            tokio::select! {
                () = tokio::time::sleep_until(begun + grace) => return,
                _ = seen.changed() => {}
            }
        }
    }

    fn complain(&self, what: &str) {
        self.pod.node.journal(&format!("{} {}: {what}", self.pod.path(), text(self.spec, "/name")));
    }
}

impl Probing<'_> {
    /// The next answer that counts.
    async fn next(&mut self) -> Outcome {
        loop {
            tokio::time::sleep_until(self.next).await;
            self.next = Instant::now() + self.probe.period;
            let asked = tokio::time::timeout(self.probe.timeout, ask(&self.probe.check, self.ip, self.inside)).await;
            let outcome = if matches!(asked, Ok(Ok(()))) { Outcome::Success } else { Outcome::Failure };
            if let Some(outcome) = self.tally.count(outcome) {
                return outcome;
            }
        }
    }
}

/// Whether a container that ended is started again.
fn starts_again(policy: &str, place: Place, code: i32) -> bool {
    match (place, policy) {
        (_, "Never") => false,
        (Place::First(_), _) | (_, "OnFailure") => code != 0,
        (Place::Main(_), _) => true,
    }
}

fn pause(crashes: usize) -> Duration {
    Duration::from_secs(PAUSES[crashes.min(PAUSES.len() - 1)])
}

fn exit_status(code: i32) -> ExitStatus {
    std::os::unix::process::ExitStatusExt::from_raw(code << 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_a_container_again_as_the_policy_says() {
        let main = Place::Main(0);
        assert!(starts_again("Always", main, 0) && starts_again("Always", main, 1));
        assert!(!starts_again("OnFailure", main, 0) && starts_again("OnFailure", main, 1));
        assert!(!starts_again("Never", main, 1));
    }

    #[test]
    fn an_init_container_that_ended_well_is_never_started_again() {
        let first = Place::First(0);
        assert!(!starts_again("Always", first, 0) && starts_again("Always", first, 1));
        assert!(!starts_again("Never", first, 1));
    }

    #[test]
    fn the_pauses_before_restarts_grow_up_to_a_limit() {
        assert_eq!([0, 1, 2, 5, 50].map(|crashes| pause(crashes).as_secs()), [0, 1, 2, 16, 16]);
    }
}
