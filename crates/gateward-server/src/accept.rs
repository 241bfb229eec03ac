//! Taking connections, up to a cap.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use crate::limits::Cap;
use crate::phase::Phase;

/// How long to wait when the operating system has nothing left to accept with, such as open files.
const OUT_OF_RESOURCES: Duration = Duration::from_millis(200);

/// The seats of a listener.
#[derive(Debug, Clone)]
pub(crate) struct Door {
    seats: Arc<Semaphore>,
    cap: Cap,
}

impl Door {
    pub(crate) fn new(cap: Cap) -> Self {
        Self { seats: Arc::new(Semaphore::new(cap.get() as usize)), cap }
    }

    fn seat(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.seats).try_acquire_owned().ok()
    }

    /// How many seats are taken.
    pub(crate) fn taken(&self) -> usize {
        (self.cap.get() as usize).saturating_sub(self.seats.available_permits())
    }

    /// Waits until every seat is free.
    pub(crate) async fn empty(&self) {
        // An error would mean that the seats are closed, which they never are.
        let _ = self.seats.acquire_many(self.cap.get()).await;
    }
}

/// Accepts until the phase is [`Phase::Closing`], and spawns `converse` for each connection that finds a seat. What finds
/// none is closed at once and `turned_away` is called.
pub(crate) async fn accept<F: Future<Output = ()> + Send + 'static>(
    listener: TcpListener,
    door: Door,
    mut phase: watch::Receiver<Phase>,
    turned_away: impl Fn(),
    converse: impl Fn(TcpStream, OwnedSemaphorePermit, watch::Receiver<Phase>) -> F,
) {
    let watched = phase.clone();
    loop {
        let accepted = tokio::select! {
            biased;
            // An error means that the server was dropped.
            _ = phase.wait_for(|phase| *phase >= Phase::Closing) => return,
            accepted = listener.accept() => accepted,
        };
        match accepted.map(|(socket, _)| (socket, door.seat())) {
            Ok((socket, Some(seat))) => drop(tokio::spawn(converse(socket, seat, watched.clone()))),
            Ok((_, None)) => turned_away(),
            Err(error) if concerns_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(target: "webhook", %error, "cannot accept connections at the moment");
                tokio::time::sleep(OUT_OF_RESOURCES).await;
            }
        }
    }
}

/// The peer went away before it was accepted: no reason to pause.
fn concerns_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}
