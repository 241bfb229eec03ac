//! One CA takes over from another, step by step, whatever happens meanwhile.

use std::time::Duration;

use cluster_tests::{Sandbox, Test, tests, until};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::replica::Replica;
use crate::setup::CA_SECRET;
use crate::zoo::{PATIENCE, Zoo};

pub fn tests() -> Vec<Test> {
    let rotated = tests![
        a_ca_is_rotated_while_every_caller_trusts_every_replica,
        a_replica_that_lags_holds_the_exchange_up_until_it_shows_the_new_certificate,
    ];
    let lost = LOST.map(|(name, steps)| Test::new(name, move |sandbox| lost_at(sandbox, steps)));
    rotated.into_iter().chain(lost).collect()
}

/// The steps at which one leader after the other is lost.
const LOST: [(&str, &[&str]); 5] = [
    ("a_leader_lost_while_it_begins_is_followed_by_another", &["make a new CA"]),
    ("a_leader_lost_while_it_publishes_is_followed_by_another", &["write the caBundle"]),
    ("a_leader_lost_before_it_switches_is_followed_by_another", &["waiting 0.4 s", "go on to"]),
    ("a_leader_lost_while_replicas_change_over_is_followed_by_another", &["issue a serving", "waiting"]),
    ("a_leader_lost_while_it_retires_is_followed_by_another", &["retire the old", "end the rotation"]),
];

/// So often at least somebody looks.
const ENOUGH: u32 = 10;

/// Looks on from now on: every bundle trusts what each replica shows, at every moment.
pub struct Promise {
    stop: watch::Sender<bool>,
    looking: JoinHandle<()>,
}

impl Promise {
    pub fn watch(zoo: &Zoo, replicas: &[Replica]) -> Self {
        let (stop, stopped) = watch::channel(false);
        let shown: Vec<_> = replicas.iter().map(Replica::shows).collect();
        let zoo = zoo.clone();
        let looking = tokio::spawn(async move {
            let mut looks = 0;
            let now = || shown.iter().map(|shown| shown.borrow().clone()).collect::<Vec<_>>();
            while looks < ENOUGH || !*stopped.borrow() {
                let before = now();
                let bundles = zoo.bundles().await;
                for (pair, after) in before.into_iter().zip(now()) {
                    // One that changes over meanwhile is looked at the next time.
                    let (Some(pair), Some(after)) = (pair, after) else { continue };
                    if pair.end_entity() != after.end_entity() {
                        continue;
                    }
                    let refusing = bundles.iter().find(|bundle| !bundle.verifies(pair.end_entity()));
                    assert!(refusing.is_none(), "{refusing:?} of {bundles:?}");
                }
                looks += 1;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        Self { stop, looking }
    }

    /// Ends the looking on; fails if it saw anybody refused.
    pub async fn was_kept(self) {
        self.stop.send_replace(true);
        self.looking.await.unwrap();
    }
}

/// Asks for a new CA as a person would.
pub async fn ask(zoo: &Zoo) {
    ask_for(zoo, "now").await;
}

/// Asks for a new CA: than any, for `now`, or than the one with a fingerprint.
pub async fn ask_for(zoo: &Zoo, request: &str) {
    let annotations = json!({"gateward.dev/rotate-ca": request});
    zoo.merge("Secret", CA_SECRET, &json!({"metadata": {"annotations": annotations}})).await;
}

pub async fn is_rotated(zoo: &Zoo, before: &gateward_certs::CaBundle) -> bool {
    let ca = zoo.ca().await;
    let secret = zoo.read("Secret", CA_SECRET).await;
    let annotations = secret["metadata"]["annotations"].as_object().is_none_or(serde_json::Map::is_empty);
    ca != *before && annotations && secret["data"].as_object().is_some_and(|data| data.len() == 2)
}

async fn a_ca_is_rotated_while_every_caller_trusts_every_replica(sandbox: Sandbox) {
    let (zoo, replicas) = Zoo::settled::<2>(sandbox).await;
    let (before, promise) = (zoo.ca().await, Promise::watch(&zoo, &replicas));
    ask(&zoo).await;
    until("the rotation is over", PATIENCE, async || is_rotated(&zoo, &before).await).await;
    zoo.settles(&replicas.each_ref()).await;
    promise.was_kept().await;
}

async fn a_replica_that_lags_holds_the_exchange_up_until_it_shows_the_new_certificate(sandbox: Sandbox) {
    let (zoo, replicas) = Zoo::settled::<2>(sandbox).await;
    let (before, promise) = (zoo.ca().await, Promise::watch(&zoo, &replicas));
    replicas[1].goes_deaf();
    ask(&zoo).await;
    let waits = |replica: &Replica| replica.step().contains("still the old one: otter-2");
    until("the leader waits for the other", PATIENCE, async || replicas.iter().any(waits)).await;
    tokio::time::sleep(zoo.setup.certificates.settle * 4).await;
    assert!(replicas.iter().any(waits), "{:?}", replicas.each_ref().map(Replica::step));
    assert!(zoo.bundles().await.iter().all(|bundle| bundle.len() == 2));

    replicas[1].hears();
    until("the rotation is over", PATIENCE, async || is_rotated(&zoo, &before).await).await;
    zoo.settles(&replicas.each_ref()).await;
    promise.was_kept().await;
}

/// The leader's process ends as soon as it says that it is at some step. Another one takes over, and all ends well.
async fn lost_at(sandbox: Sandbox, steps: &[&str]) {
    let (zoo, mut replicas) = Zoo::settled::<2>(sandbox).await;
    let before = zoo.ca().await;
    ask(&zoo).await;
    for step in steps {
        let at = at_step(&replicas, step).await;
        let promise = Promise::watch(&zoo, std::slice::from_ref(&replicas[1 - at]));
        replicas[at].crash();
        until("the other one writes", PATIENCE, async || replicas[1 - at].writes()).await;
        replicas[at].restart().await;
        promise.was_kept().await;
    }
    until("the rotation is over", PATIENCE, async || is_rotated(&zoo, &before).await).await;
    zoo.settles(&replicas.each_ref()).await;
}

/// Waits until one of the replicas is at a step, and tells which one. Steps pass in no time, so every report counts.
async fn at_step(replicas: &[Replica; 2], step: &str) -> usize {
    let is_there = |replica: &Replica| {
        let mut report = replica.controller().status();
        let step = step.to_owned();
        async move {
            let at = |report: &gateward_cluster::ControllerStatus| {
                report.progress.as_ref().is_some_and(|progress| progress.next.starts_with(&step))
            };
            report.wait_for(at).await.unwrap();
        }
    };
    let found = async {
        tokio::select! {
            () = is_there(&replicas[0]) => 0,
            () = is_there(&replicas[1]) => 1,
        }
    };
    tokio::time::timeout(PATIENCE, found).await.unwrap_or_else(|_| panic!("never at: {step}"))
}
