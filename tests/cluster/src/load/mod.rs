//! A steady load on the API server, whose every request needs our webhooks or our conversion.
//!
//! Some clients go through the life of small objects of our kinds: created, changed, read in each version, wrongly
//! created, wrongly changed, deleted. What is wrong must be denied: a configuration that let everything pass would not
//! look like a working one.

mod life;
mod outcome;
mod tally;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Interval, MissedTickBehavior};

use crate::load::life::{Act, LIVES, Life, Step};
use crate::load::outcome::{Expected, Outcome};
use crate::load::tally::Times;
pub use crate::load::tally::{Counted, Failure, Tally};
use gateward_testbed::Response;
use gateward_testbed::{Sandbox, version_of};

/// How long a failed request is sent again, and the rest between. A person who repeats a command waits longer.
const INSISTENCE: Duration = Duration::from_secs(2);
const REST: Duration = Duration::from_millis(20);

/// How heavy a load is.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Requests in a second, of all clients together, as long as answers don't take longer.
    pub requests_per_second: u32,
    /// Clients, each on a connection of its own.
    pub clients: u32,
}

impl Default for Pace {
    /// A few percent of what the bed carries.
    fn default() -> Self {
        Self { requests_per_second: 24, clients: 8 }
    }
}

/// A load that is on.
pub struct Load {
    sandbox: Sandbox,
    start: Instant,
    stop: watch::Sender<Running>,
    clients: JoinSet<()>,
    tally: Arc<Mutex<Tally>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Running {
    On,
    Off,
}

impl Load {
    /// Loads the API server with objects in a namespace.
    pub fn start(sandbox: &Sandbox, pace: Pace) -> Self {
        let (stop, running) = watch::channel(Running::On);
        let (start, tally) = (Instant::now(), Arc::<Mutex<Tally>>::default());
        let mut clients = JoinSet::new();
        let between = Duration::from_secs(1) * pace.clients / pace.requests_per_second;
        for number in 0..pace.clients {
            let first = tokio::time::Instant::now() + between * number / pace.clients;
            let mut ticks = tokio::time::interval_at(first, between);
            // After a long answer nothing is made up for.
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let (running, tally) = (running.clone(), Arc::clone(&tally));
            let visitor = Visitor { sandbox: sandbox.clone(), number: number as usize, start, ticks, running, tally };
            clients.spawn(visitor.visit());
        }
        Self { sandbox: sandbox.clone(), start, stop, clients, tally }
    }

    /// Loads the API server while something happens, and a while before and after.
    pub async fn during(sandbox: &Sandbox, event: impl AsyncFnOnce(&Self)) -> Tally {
        const BEFORE: usize = 50;
        const AFTER: usize = 100;
        let load = Self::start(sandbox, Pace::default());
        load.goes_on_for(BEFORE).await;
        event(&load).await;
        load.goes_on_for(AFTER).await;
        load.stop().await
    }

    /// Holds that nothing fails during an event, before it and after it.
    pub async fn is_unharmed_by(sandbox: &Sandbox, event: impl AsyncFnOnce()) {
        Self::during(sandbox, async |_| event().await).await.assert_no_failures();
    }

    /// How long it has been on: the clock of [`Failure::sent`].
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// What was counted until now.
    pub fn so_far(&self) -> Tally {
        self.tally.lock().unwrap().clone()
    }

    /// Waits until the API server has answered further requests.
    pub async fn goes_on_for(&self, requests: usize) {
        let wanted = self.so_far().answered() + requests;
        while self.so_far().answered() < wanted {
            tokio::time::sleep(REST).await;
        }
    }

    /// Ends the load, prints what came of it and deletes what it left.
    pub async fn stop(mut self) -> Tally {
        self.stop.send_replace(Running::Off);
        while let Some(ended) = self.clients.join_next().await {
            ended.unwrap();
        }
        let mut tally = self.so_far();
        tally.lasted = self.start.elapsed();
        println!("{tally}");
        for number in 0..LIVES {
            let object = life::life(number, "").object;
            let collection = self.sandbox.collection(&object, version_of(&object));
            self.sandbox.bed().client().delete(&collection).await.unwrap().granted().unwrap();
        }
        tally
    }
}

/// One of the clients.
struct Visitor {
    sandbox: Sandbox,
    number: usize,
    start: Instant,
    ticks: Interval,
    running: watch::Receiver<Running>,
    tally: Arc<Mutex<Tally>>,
}

impl Visitor {
    /// Goes through one life after another; each client begins with another one.
    async fn visit(mut self) {
        for number in self.number.. {
            // A name is used once, so that no object of an interrupted life is met again.
            let life = life::life(number, &format!("load-{}-{number}", self.number));
            for step in &life.steps {
                self.ticks.tick().await;
                if *self.running.borrow() == Running::Off {
                    return;
                }
                let there = self.take(&life, step).await;
                // What couldn't be created is neither changed nor read.
                if !there && matches!((&step.act, step.expected), (Act::Create(_), Expected::Granted)) {
                    break;
                }
            }
        }
    }

    /// Whether the step was taken in the end.
    async fn take(&self, life: &Life, step: &Step) -> bool {
        let (sent, began) = (self.start.elapsed(), Instant::now());
        let outcome = Outcome::of(step.expected, &self.ask(life, step).await);
        let took = began.elapsed();
        let mended = match &outcome {
            Outcome::AdmissionFailed(_) => self.insist(life, step).await,
            _ => None,
        };
        let taken = outcome.is_as_expected() || mended.is_some();
        self.tally.lock().unwrap().count(step.act.sort(), outcome, Times { sent, took, mended });
        taken
    }

    /// Sends a failed request again until it is answered as it should be, or turns out to have been done the first time:
    /// the API server converts what it answers, too. Gives the time that this took.
    async fn insist(&self, life: &Life, step: &Step) -> Option<Duration> {
        let failed = Instant::now();
        while failed.elapsed() < INSISTENCE {
            let answer = self.ask(life, step).await;
            let status = answer.as_ref().map(|answer| answer.status.as_u16()).unwrap_or_default();
            let done = matches!((&step.act, status), (Act::Create(_), 409) | (Act::Delete, 404));
            if done || Outcome::of(step.expected, &answer).is_as_expected() {
                return Some(failed.elapsed());
            }
            tokio::time::sleep(REST).await;
        }
        None
    }

    async fn ask(&self, Life { object, .. }: &Life, step: &Step) -> anyhow::Result<Response> {
        let client = self.sandbox.bed().client();
        let own = || self.sandbox.place(object, version_of(object));
        match &step.act {
            Act::Create(object) => client.post(&self.sandbox.collection(object, version_of(object)), object).await,
            Act::Change(patch) => client.merge(&own(), patch).await,
            Act::Read(version) => client.get(&self.sandbox.place(object, version)).await,
            Act::Delete => client.delete(&own()).await,
        }
    }
}
