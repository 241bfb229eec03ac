//! The API server is away for one replica, or for all.

use std::time::Duration;

use cluster_tests::{Sandbox, Test, tests, until};

use crate::setup::SERVING_SECRET;
use crate::zoo::{PATIENCE, Zoo};

pub fn tests() -> Vec<Test> {
    tests![
        a_replica_that_is_cut_off_goes_on_serving_and_catches_up,
        a_leader_that_is_cut_off_stops_before_another_begins,
        a_replica_that_starts_without_an_api_server_waits_for_it,
        a_right_that_is_missing_is_told,
    ]
}

async fn a_replica_that_is_cut_off_goes_on_serving_and_catches_up(sandbox: Sandbox) {
    let (zoo, [replica]) = Zoo::settled(sandbox).await;
    let (other, line) = zoo.replica_on_a_line("otter-2").await;
    zoo.settles(&[&replica, &other]).await;
    let shown = other.shown();
    line.cut();
    zoo.delete("Secret", SERVING_SECRET).await;
    until("the others change over", PATIENCE, async || replica.shown() != shown).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(other.shown(), shown);
    line.mend();
    until("it catches up", PATIENCE, async || other.shown() == replica.shown()).await;
}

async fn a_leader_that_is_cut_off_stops_before_another_begins(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    let (leader, line) = zoo.replica_on_a_line("otter-1").await;
    zoo.settles(&[&leader]).await;
    let other = zoo.replica("otter-2").await;
    zoo.settles(&[&leader, &other]).await;
    assert!(leader.writes());

    line.falls_silent();
    let both = async || {
        assert!(!(leader.writes() && other.writes()), "two may write");
        other.writes()
    };
    until("the other one writes", PATIENCE, both).await;
    line.mend();
    zoo.delete("Secret", SERVING_SECRET).await;
    until("the other one goes on", PATIENCE, async || zoo.field(SERVING_SECRET, "tls.key").await.is_some()).await;
    until("it hears again", PATIENCE, async || leader.shown() == other.shown() && !leader.writes()).await;
}

async fn a_replica_that_starts_without_an_api_server_waits_for_it(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    let (mut replica, line) = zoo.replica_on_a_line("otter-1").await;
    line.cut();
    replica.crash();
    replica.restart().await;
    let unread = format!("Secret {}/{SERVING_SECRET} can't be read: ", zoo.namespace());
    let reported = || replica.status().warnings.iter().any(|warning| warning.starts_with(&unread));
    until("it is reported", PATIENCE, async || reported()).await;
    assert!(replica.shown().is_none());
    line.mend();
    zoo.settles(&[&replica]).await;
    until("it is reported no more", PATIENCE, async || replica.status().warnings.is_empty()).await;
}

async fn a_right_that_is_missing_is_told(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    zoo.take_away_the_rights_in_the_cluster().await;
    let replica = zoo.replica("otter-1").await;
    let reported = |what: &str| replica.status().warnings.iter().any(|warning| warning.contains(what));
    let unheard = "the watch of MutatingWebhookConfigurations keeps failing: mutatingwebhookconfigurations.\
                   admissionregistration.k8s.io is forbidden: ";
    until("it is reported", PATIENCE, async || reported(unheard)).await;
    until("the leader tells too", PATIENCE, async || reported("the cluster can't be read: ")).await;
    zoo.give_back_the_rights_in_the_cluster().await;
    zoo.settles(&[&replica]).await;
    until("it is reported no more", PATIENCE, async || replica.status().warnings.is_empty()).await;
}
