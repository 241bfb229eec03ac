//! Connections that say nothing, from whoever reaches the port. What rests at the ports of probes and metrics is shown
//! by `in_cluster`, where there are such ports.

use std::net::SocketAddr;
use std::time::Duration;

use cluster_tests::objects::graph;
use cluster_tests::{Sandbox, Test, tests};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::hostile::tenant::beside_a_neighbour;

/// Alone: whoever calls the webhooks needs room for a connection.
pub fn tests() -> Vec<Test> {
    let tests = tests![h4_connections_that_rest_keep_no_review_out];
    tests.into_iter().map(Test::alone).collect()
}

/// More than a replica has room for.
const RESTING: usize = 600;

/// So many writes at a time that the API server opens further connections for them: it keeps 25 idle ones.
const WRITES: usize = 60;

/// How many connections a replica has room for.
const ROOM: usize = 512;

/// Opens connections that rest, and waits until the first of them had to make room for the last.
async fn rest(address: SocketAddr) -> Vec<TcpStream> {
    let mut resting = Vec::new();
    for _ in 0..RESTING {
        resting.push(TcpStream::connect(address).await.unwrap());
    }
    for evicted in &mut resting[..RESTING - ROOM] {
        // It may be reset.
        let _ = evicted.read(&mut [0]).await;
    }
    let (last, mut byte) = (resting.last_mut().unwrap(), [0]);
    let rests = timeout(Duration::from_millis(10), last.read(&mut byte)).await.is_err();
    assert!(rests, "the last of them found no room");
    resting
}

async fn h4_connections_that_rest_keep_no_review_out(sandbox: Sandbox) {
    let address = sandbox.bed().webhooks();
    beside_a_neighbour(&sandbox, async |tenant| {
        let _resting = rest(address).await;
        let mut writes = JoinSet::new();
        for number in 0..WRITES {
            let own = tenant.own.dry();
            writes.spawn(async move { own.create(&graph(&format!("otter-{number}"))).await.granted() });
        }
        for written in writes.join_all().await {
            written.unwrap();
        }
    })
    .await;
}
