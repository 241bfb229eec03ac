//! The end, whether it was asked for or not.

use std::time::{Duration, Instant};

use cluster_tests::objects::graph;
use cluster_tests::{Sandbox, Test, tests, until};
use serde_json::{Value, json};

use crate::installation::installation;
use crate::release::NAMESPACE;
use crate::replica::Replica;

pub fn tests() -> Vec<Test> {
    tests![
        what_the_configuration_demands_and_the_cluster_lacks_ends_the_start,
        a_follower_ends_without_a_word_to_the_writer,
        sigterm_gives_the_lease_back_and_serves_on_for_a_while,
    ]
}

async fn what_the_configuration_demands_and_the_cluster_lacks_ends_the_start(_: Sandbox) {
    let grove = json!({"orchestrators": {"grove": {"enabled": true}}});
    let mut replica = Replica::start(&installation().bed, 3, &grove).await.unwrap();
    until("it ends", Duration::from_mins(2), async || replica.ended().is_some()).await;
    assert_eq!(replica.ended().unwrap().code(), Some(2));
    let said = replica.log();
    assert!(said.contains("orchestrators.grove.enabled: is true, but the cluster doesn't serve"), "{said}");
    replica.remove_pod().await;
}

async fn a_follower_ends_without_a_word_to_the_writer(sandbox: Sandbox) {
    let mut follower = Replica::start(&installation().bed, 2, &json!({})).await.unwrap();
    follower.becomes_ready().await;
    let (_, page) = follower.page("/readyz?verbose").unwrap();
    assert!(page.contains("[i]certificates: leader: otter-1"), "{page}");
    follower.tell_ready("False").await.unwrap();
    follower.signal("INT");
    until("it ends", Duration::from_mins(2), async || follower.ended().is_some()).await;
    assert!(follower.ended().unwrap().success());
    follower.remove_pod().await;
    assert_eq!(holder(&sandbox).await.as_str().map(|holder| holder.contains("otter-1")), Some(true));
}

async fn sigterm_gives_the_lease_back_and_serves_on_for_a_while(sandbox: Sandbox) {
    let replica = &installation().replica;
    let start = Instant::now();
    replica.signal("TERM");
    until("it is not ready any more", Duration::from_secs(8), async || {
        replica.page("/readyz").is_some_and(|(status, _)| status == 503)
    })
    .await;
    // The Pod is still called: its endpoint is still ready.
    sandbox.accepts(&graph("otter")).await;
    until("the lease is free", Duration::from_mins(1), async || {
        holder(&sandbox).await.as_str().unwrap_or_default().is_empty()
    })
    .await;
    replica.tell_ready("False").await.unwrap();
    until("it ends", Duration::from_mins(1), async || replica.page("/healthz").is_none()).await;
    assert!(start.elapsed() > Duration::from_secs(9), "it drained for {:?}", start.elapsed());
    assert!(replica.log().contains("stopped"), "{}", replica.log());
}

/// Who holds the leader's lease.
async fn holder(sandbox: &Sandbox) -> Value {
    let place =
        format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/otter-dynamo-operator-webhook-writer");
    let lease = sandbox.bed().client().get(&place).await.unwrap().granted().unwrap();
    lease["spec"]["holderIdentity"].clone()
}
