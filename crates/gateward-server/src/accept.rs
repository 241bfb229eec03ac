//! Accepts connections, up to a limit.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::limits::connection_limit::{Acquired, ConnectionLimit, ConnectionPermit, RequestProgress};
use crate::phase::ServerPhase;
use crate::refusals::Refusals;

/// The pause after the operating system failed to accept, such as for too many open files.
const OUT_OF_RESOURCES: Duration = Duration::from_millis(200);

/// Accepts until [`ServerPhase::Closing`], and spawns `serve` for each connection that gets a permit.
pub(crate) async fn accept<F: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    limit: ConnectionLimit,
    mut phase: watch::Receiver<ServerPhase>,
    refusals: Refusals,
    serve: impl Fn(TcpStream, Arc<RequestProgress>, watch::Receiver<ServerPhase>) -> F,
) {
    let watched = phase.clone();
    let begin = |socket, permit: ConnectionPermit| {
        let serving = serve(socket, Arc::clone(permit.progress()), watched.clone());
        tokio::spawn(until_evicted(permit, serving));
    };
    loop {
        let accepted = tokio::select! {
            biased;
            // An error means that the server was dropped.
            _ = phase.wait_for(|phase| *phase >= ServerPhase::Closing) => return,
            accepted = next(&listener, &limit) => accepted,
        };
        match accepted.map(|socket| (socket, limit.acquire())) {
            Ok((socket, Acquired::Free(slot))) => begin(socket, slot),
            Ok((socket, Acquired::AfterEviction(permit))) => {
                refusals.evicted();
                begin(socket, permit);
            }
            Ok((_, Acquired::Refused)) => refusals.refused(),
            Err(error) if concerns_one_connection(&error) => {}
            Err(error) => {
                refusals.failed(&error);
                if limit.evict_one() {
                    refusals.evicted();
                }
                tokio::time::sleep(OUT_OF_RESOURCES).await;
            }
        }
    }
}

async fn next(listener: &TcpListener, limit: &ConnectionLimit) -> io::Result<TcpStream> {
    limit.evicted_closed().await;
    let (socket, _) = listener.accept().await?;
    limit.grace_ended().await;
    Ok(socket)
}

/// Serves a connection until it ends or is evicted. The permit is returned after the socket is closed.
async fn until_evicted(permit: ConnectionPermit, serving: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = permit.evicted() => {}
        () = serving => {}
    }
}

/// Whether the error concerns the accepted connection alone, such as a peer that has hung up: no reason to pause.
fn concerns_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
