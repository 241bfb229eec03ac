//! Taking connections, up to a limit.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::connections::{Admission, ConnectionLimit, ConnectionState, Slot};
use crate::phase::Phase;
use crate::refusals::Refusals;

/// How long to wait when the operating system has nothing left to accept with, such as open files.
const OUT_OF_RESOURCES: Duration = Duration::from_millis(200);

/// Accepts until the phase is [`Phase::Closing`], and spawns `serve` for each connection that finds room.
pub(crate) async fn accept<F: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    limit: ConnectionLimit,
    mut phase: watch::Receiver<Phase>,
    refusals: Refusals,
    serve: impl Fn(TcpStream, Arc<ConnectionState>, watch::Receiver<Phase>) -> F,
) {
    let watched = phase.clone();
    let begin = |socket, slot: Slot| {
        let serving = serve(socket, Arc::clone(slot.state()), watched.clone());
        tokio::spawn(until_evicted(slot, serving));
    };
    loop {
        let accepted = tokio::select! {
            biased;
            // An error means that the server was dropped.
            _ = phase.wait_for(|phase| *phase >= Phase::Closing) => return,
            accepted = next(&listener, &limit) => accepted,
        };
        match accepted.map(|socket| (socket, limit.admit())) {
            Ok((socket, Admission::Free(slot))) => begin(socket, slot),
            Ok((socket, Admission::InPlaceOfAnother(slot))) => {
                refusals.evicted();
                begin(socket, slot);
            }
            Ok((_, Admission::Refused)) => refusals.refused(),
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
    limit.settled().await;
    let (socket, _) = listener.accept().await?;
    limit.moment().await;
    Ok(socket)
}

/// Serves a connection until it ends or must make room. Its place is free when its socket is closed.
async fn until_evicted(slot: Slot, serving: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = slot.evicted() => {}
        () = serving => {}
    }
}

/// The peer went away before it was accepted: no reason to pause.
fn concerns_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
