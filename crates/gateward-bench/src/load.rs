//! One round of load on one server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::client::{KeepAliveConnection, request};
use crate::process;
use crate::reviews::Sample;
use crate::server::ServerProcess;

/// How many rounds each server gets for each review.
pub const ROUNDS: usize = 5;
/// Requests of a round over one connection, for latency; the first ones only warm up.
const ALONE: usize = 2_000;
const WARM_UP: usize = 200;
/// Connections and requests of a round for CPU.
const CONNECTIONS: usize = 64;
const TOGETHER: usize = 16_000;

/// What one round showed.
pub struct Round {
    /// The time of each request over one connection.
    pub latencies: Vec<Duration>,
    /// CPU time of the server for one request of many connections.
    pub cpu: Duration,
}

/// Loads the server.
pub async fn round(server: &ServerProcess, sample: &Sample) -> anyhow::Result<Round> {
    let request: Arc<[u8]> = request(sample).into();
    Ok(Round { latencies: alone(server, &request).await?, cpu: together(server, &request).await? })
}

async fn alone(server: &ServerProcess, request: &[u8]) -> anyhow::Result<Vec<Duration>> {
    let mut connection = KeepAliveConnection::open(server).await?;
    let mut latencies = Vec::with_capacity(ALONE);
    for number in 0..WARM_UP + ALONE {
        let started = Instant::now();
        connection.ask(request).await?;
        if number >= WARM_UP {
            latencies.push(started.elapsed());
        }
    }
    Ok(latencies)
}

async fn together(server: &ServerProcess, request: &Arc<[u8]>) -> anyhow::Result<Duration> {
    let mut connections = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        let mut connection = KeepAliveConnection::open(server).await?;
        connection.ask(request).await?;
        connections.push(connection);
    }
    let before = process::cpu(server.pid())?;
    let each = TOGETHER / CONNECTIONS;
    let tasks: Vec<_> = connections
        .into_iter()
        .map(|mut connection| {
            let request = Arc::clone(request);
            tokio::spawn(async move {
                for _ in 0..each {
                    connection.ask(&request).await?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    let used = process::cpu(server.pid())?.saturating_sub(before);
    Ok(used / u32::try_from(each * CONNECTIONS)?)
}
