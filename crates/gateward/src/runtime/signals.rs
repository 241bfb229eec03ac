//! The signals that end a server.

use std::future::pending;
use std::task::Poll;
use std::time::Duration;

use futures_util::stream::{self, Stream};
use gateward_server::Drain;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::shutdown::Shutdown;

/// Where the kernel says which signals this process ignores.
const STATUS: &str = "/proc/self/status";

/// The signals that end a server.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// `None` where the process was started to outlive its terminal, as by `nohup`.
    hangup: Option<Signal>,
}

impl Signals {
    /// From here on the process doesn't end by them on its own.
    pub(crate) fn new() -> std::io::Result<Self> {
        let status = std::fs::read_to_string(STATUS).unwrap_or_default();
        let hangup = if ignores_hangup(&status) { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())?, hangup })
    }
}

impl Shutdown for Signals {
    /// A person at a terminal has no clients to drain.
    async fn wait(&mut self) -> Drain {
        tokio::select! {
            _ = self.terminate.recv() => Drain::default(),
            () = received(&mut self.hangup) => Drain::default(),
            _ = self.interrupt.recv() => Drain { grace: Duration::ZERO, ..Drain::default() },
        }
    }

    /// That the terminal is gone too means nothing more.
    fn hurries(mut self) -> impl Stream<Item = ()> + Send {
        stream::poll_fn(move |cx| {
            let is_asked = self.terminate.poll_recv(cx).is_ready() | self.interrupt.poll_recv(cx).is_ready();
            if !is_asked {
                return Poll::Pending;
            }
            tracing::info!("asked again: not waiting any longer");
            Poll::Ready(Some(()))
        })
    }
}

async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => pending().await,
    }
}

/// Reads the mask of ignored signals, whose lowest bit stands for the first signal, SIGHUP.
fn ignores_hangup(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_outlives_its_terminal_is_known_by_its_mask() {
        assert!(ignores_hangup("Name:\tgateward\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"));
        assert!(!ignores_hangup("SigIgn:\t0000000000001000\n"));
        assert!(!ignores_hangup("SigCgt:\t0000000000000001\n"));
        assert!(!ignores_hangup(""));
    }
}
