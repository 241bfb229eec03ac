//! One replica writes.

use std::time::Duration;

use cluster_tests::{AuditEvent, Sandbox, Test, tests, until};
use gateward_cluster::Leader;
use serde_json::json;

use crate::replica::Replica;
use crate::setup::{LEASE, SERVING_SECRET};
use crate::zoo::{PATIENCE, Zoo};

pub fn tests() -> Vec<Test> {
    tests![
        a_leader_that_stops_gives_its_lease_to_another_at_once,
        nobody_writes_while_another_one_does,
        a_lease_that_only_go_reads_or_that_never_ends_is_taken,
        a_replica_asks_for_nothing_that_it_may_not,
    ]
}

async fn a_leader_that_stops_gives_its_lease_to_another_at_once(sandbox: Sandbox) {
    let mut zoo = Zoo::installed(sandbox).await;
    // Far longer than this test is patient: so it is not by silence that the other one takes over.
    zoo.setup.lease.times.lease_duration = Duration::from_mins(10);
    let mut replicas = zoo.replicas::<2>().await;
    zoo.settles(&replicas.each_ref()).await;
    let leader = replicas.iter().position(Replica::writes).unwrap();
    let holder = replicas[leader].name().to_owned();
    let reported = |leader: &Leader| matches!(leader, Leader::Other(other) if other.starts_with(&holder));
    let other = &replicas[1 - leader];
    until("the other one knows who writes", PATIENCE, async || reported(&other.status().leader)).await;
    replicas[leader].stop().await;
    let time = until("the other one writes", PATIENCE, async || replicas[1 - leader].writes()).await;
    println!("after a leader had stopped, the next one wrote within {time:?}");
}

async fn nobody_writes_while_another_one_does(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    let audit = zoo.sandbox().bed().audit().unwrap();
    let mut replicas = zoo.replicas::<3>().await;
    zoo.settles(&replicas.each_ref()).await;
    let first = replicas.iter().position(Replica::writes).unwrap();
    replicas[first].crash();
    zoo.delete("Secret", SERVING_SECRET).await;
    let others: Vec<_> = replicas.iter().filter(|replica| replica.name() != replicas[first].name()).collect();
    until("another one writes", PATIENCE, async || zoo.is_settled(&others).await).await;
    let second = others.iter().position(|replica| replica.writes()).map(|at| others[at].name().to_owned()).unwrap();

    let mut leaders = Vec::new();
    for replica in &replicas {
        let events = audit.of(&zoo.user_of(replica.name())).unwrap();
        if events.iter().any(is_write) {
            leaders.push(replica.name().to_owned());
        }
    }
    let mut expected = vec![replicas[first].name().to_owned(), second];
    expected.sort();
    assert_eq!(leaders, expected);
}

/// Who may write Leases in the namespace may hold up the leader for a while, not until somebody deletes the Lease.
async fn a_lease_that_only_go_reads_or_that_never_ends_is_taken(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    let replicas = zoo.replicas::<2>().await;
    // Go writes it as the year 10000.
    let late = "9999-12-31T23:59:59.000000-23:59";
    let unread = json!({"holderIdentity": "forger", "renewTime": late, "acquireTime": late});
    let endless = json!({"holderIdentity": "forger", "leaseDurationSeconds": i32::MAX});
    for spec in [unread, endless] {
        zoo.settles(&replicas.each_ref()).await;
        zoo.merge("Lease", LEASE, &json!({"spec": spec})).await;
        let forged = async || zoo.read("Lease", LEASE).await["spec"]["holderIdentity"] == "forger";
        until("a replica has taken the lease", PATIENCE, async || !forged().await).await;
    }
}

/// Of certificates and bundles, not of the lease.
fn is_write(event: &AuditEvent) -> bool {
    event.resource != "leases" && ["create", "update", "patch"].contains(&event.verb.as_str())
}

async fn a_replica_asks_for_nothing_that_it_may_not(sandbox: Sandbox) {
    let zoo = Zoo::installed(sandbox).await;
    let audit = zoo.sandbox().bed().audit().unwrap();
    let replicas = zoo.replicas::<2>().await;
    zoo.settles(&replicas.each_ref()).await;
    zoo.delete("Secret", SERVING_SECRET).await;
    until("the certificate is back", PATIENCE, async || zoo.field(SERVING_SECRET, "tls.key").await.is_some()).await;
    zoo.settles(&replicas.each_ref()).await;
    for replica in &replicas {
        let forbidden = audit.forbidden(&zoo.user_of(replica.name())).unwrap();
        assert!(forbidden.is_empty(), "{forbidden:?}");
    }
}
