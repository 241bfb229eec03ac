//! The leader's process ends before or after each of its writes, or its task panics.

use std::path::{Path, PathBuf};

use cluster_tests::{Audit, Sandbox, Test, tests, until};
use gateward_certs::CaBundle;

use crate::legacy_ca_key::LegacySecret;
use crate::process::Process;
use crate::rotation::{ask, ask_for, is_rotated};
use crate::setup::{CA_SECRET, SERVING_SECRET};
use crate::zoo::{PATIENCE, Zoo};

pub fn tests() -> Vec<Test> {
    let first = AT_THE_FIRST_CA.map(|(name, side)| Test::new(name, move |sandbox| ends_at_the_first_ca(sandbox, side)));
    let old = AT_THE_OLD_PLACE
        .map(|(name, side, write)| Test::new(name, move |sandbox| ends_at_the_old_place(sandbox, side, write)));
    let rotating = IN_A_ROTATION.map(|(name, write)| Test::new(name, move |sandbox| ends_at(sandbox, write)));
    let others = tests![
        a_leader_that_ends_before_or_after_it_drops_a_met_request_is_followed,
        a_leader_whose_task_panics_before_or_after_it_switches_goes_on,
    ];
    first.into_iter().chain(old).chain(rotating).chain(others).collect()
}

const AT_THE_FIRST_CA: [(&str, &str); 2] = [
    ("a_leader_that_ends_before_it_makes_the_first_ca_is_followed", "before"),
    ("a_leader_that_ends_after_it_made_the_first_ca_is_followed", "after"),
];
const AT_THE_OLD_PLACE: [(&str, &str, &str); 4] = [
    ("a_leader_that_ends_before_it_adopts_is_followed", "before", "adopt"),
    ("a_leader_that_ends_after_it_adopted_is_followed", "after", "adopt"),
    ("a_leader_that_ends_before_it_drops_the_old_key_is_followed", "before", "drop-old-key"),
    ("a_leader_that_ends_after_it_dropped_the_old_key_is_followed", "after", "drop-old-key"),
];
const IN_A_ROTATION: [(&str, &str); 7] = [
    ("a_leader_that_ends_before_or_after_it_begins_is_followed", "begin"),
    ("a_leader_that_ends_before_or_after_it_publishes_is_followed", "publish-bundles"),
    ("a_leader_that_ends_before_or_after_it_switches_is_followed", "switch"),
    ("a_leader_that_ends_before_or_after_it_issues_is_followed", "issue-certificate"),
    ("a_leader_that_ends_before_or_after_it_retires_is_followed", "retire"),
    ("a_leader_that_ends_before_or_after_it_trims_is_followed", "trim-bundles"),
    ("a_leader_that_ends_before_or_after_it_finishes_is_followed", "finish"),
];

/// The file that says where one of the replicas ends.
struct FailPoint(PathBuf);

impl FailPoint {
    fn of(zoo: &Zoo) -> Self {
        Self(zoo.sandbox().bed().folder().join(format!("{}.fail-point", zoo.namespace())))
    }

    fn file(&self) -> &Path {
        &self.0
    }

    fn is_at(&self, place: &str) {
        std::fs::write(&self.0, place).unwrap();
    }

    async fn is_reached(&self) {
        until("one has ended", PATIENCE, async || !self.0.exists()).await;
    }
}

/// Two replicas in processes of their own.
async fn replicas(zoo: &Zoo, fail_point: &FailPoint) -> [Process; 2] {
    [zoo.process("otter-1", fail_point.file()).await, zoo.process("otter-2", fail_point.file()).await]
}

/// Waits until those who trust a CA take what each replica shows.
async fn are_taken(replicas: &[Process], ca: &CaBundle) {
    for replica in replicas {
        until("what a replica shows is taken", PATIENCE, async || replica.is_trusted_by(ca).await).await;
    }
}

/// The first replicas start, and one of them ends. Gives what was written to Secrets until all is well.
async fn start_with_an_end_at(zoo: &Zoo, place: &str) -> Vec<String> {
    let audit = zoo.sandbox().bed().audit().unwrap();
    let fail_point = FailPoint::of(zoo);
    fail_point.is_at(place);
    let replicas = replicas(zoo, &fail_point).await;
    fail_point.is_reached().await;
    until("everything settles", PATIENCE, async || zoo.carries_only_the_ca().await).await;
    are_taken(&replicas, &zoo.ca().await).await;
    written_to_secrets(zoo, &audit)
}

/// What replicas wrote to Secrets, in the order of their names.
fn written_to_secrets(zoo: &Zoo, audit: &Audit) -> Vec<String> {
    let events = ["otter-1", "otter-2"].map(|name| audit.of(&zoo.user_of(name)).unwrap());
    let taken = events.into_iter().flatten().filter(|event| event.resource == "secrets" && event.code < 300);
    let writes = taken.filter(|event| !["get", "list", "watch"].contains(&event.verb.as_str()));
    let mut writes: Vec<_> = writes.map(|event| format!("{} {}", event.verb, event.name)).collect();
    writes.sort();
    writes
}

/// There is one CA from the first to the end, and one certificate.
async fn ends_at_the_first_ca(sandbox: Sandbox, side: &str) {
    let zoo = Zoo::installed(sandbox).await;
    let written = start_with_an_end_at(&zoo, &format!("{side}:create-ca")).await;
    assert_eq!(written, [format!("create {SERVING_SECRET}"), format!("create {CA_SECRET}")]);
}

/// The CA that was found stays the one. No certificate is issued.
async fn ends_at_the_old_place(sandbox: Sandbox, side: &str, write: &str) {
    let zoo = Zoo::installed(sandbox).await;
    let old = LegacySecret::filled(&zoo).await;
    let written = start_with_an_end_at(&zoo, &format!("{side}:{write}")).await;
    old.was_moved(&zoo).await;
    assert_eq!(written, [format!("create {CA_SECRET}"), format!("update {SERVING_SECRET}")]);
}

/// One exchange after the other, and in each of them one replica ends.
async fn ends_at(sandbox: Sandbox, write: &str) {
    let zoo = Zoo::installed(sandbox).await;
    let fail_point = FailPoint::of(&zoo);
    let _replicas = replicas(&zoo, &fail_point).await;
    for side in ["before", "after"] {
        until("everything settles", PATIENCE, async || zoo.carries_only_the_ca().await).await;
        let before = zoo.ca().await;
        fail_point.is_at(&format!("{side}:{write}"));
        ask(&zoo).await;
        until("the rotation is over", PATIENCE, async || is_rotated(&zoo, &before).await).await;
        fail_point.is_reached().await;
    }
}

/// No other replica is there to take over.
async fn a_leader_whose_task_panics_before_or_after_it_switches_goes_on(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    let fail_point = FailPoint::of(&zoo);
    let alone = [zoo.process("otter-1", fail_point.file()).await];
    for side in ["before", "after"] {
        until("everything settles", PATIENCE, async || zoo.carries_only_the_ca().await).await;
        let before = zoo.ca().await;
        fail_point.is_at(&format!("{side}:switch:panic"));
        ask(&zoo).await;
        fail_point.is_reached().await;
        until("the rotation is over", PATIENCE, async || is_rotated(&zoo, &before).await).await;
        are_taken(&alone, &zoo.ca().await).await;
    }
}

/// Who asks once more for what is under way gets no second exchange.
async fn a_leader_that_ends_before_or_after_it_drops_a_met_request_is_followed(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    let fail_point = FailPoint::of(&zoo);
    let replicas = replicas(&zoo, &fail_point).await;
    for side in ["before", "after"] {
        until("everything settles", PATIENCE, async || zoo.carries_only_the_ca().await).await;
        let before = zoo.ca().await;
        let request = before.iter().next().unwrap().fingerprint().to_string();
        fail_point.is_at(&format!("{side}:drop-request"));
        ask_for(&zoo, &request).await;
        until("there is a new CA", PATIENCE, async || zoo.ca().await != before).await;
        let next = zoo.ca().await;
        ask_for(&zoo, &request).await;
        fail_point.is_reached().await;
        until("the request is gone", PATIENCE, async || is_rotated(&zoo, &before).await).await;
        until("everything settles", PATIENCE, async || zoo.carries_only_the_ca().await).await;
        assert_eq!(zoo.ca().await, next);
        are_taken(&replicas, &next).await;
    }
}
