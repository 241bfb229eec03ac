//! The signals that end a server.

use std::time::Duration;

use gateward_server::Drain;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end a server.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From here on the process doesn't end by them on its own.
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for one, and says how to end: a person at a terminal has nobody to be graceful to.
    pub(crate) async fn wait(&mut self) -> Drain {
        tokio::select! {
            _ = self.terminate.recv() => Drain::default(),
            _ = self.interrupt.recv() => Drain { grace: Duration::ZERO, ..Drain::default() },
        }
    }
}
