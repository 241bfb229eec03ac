//! Reviews, asked of all servers in turns.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use crate::load::{self, Round};
use crate::pods;
use crate::process::{self, Memory};
use crate::reviews::{DEFAULT, Sample, VALIDATE, alpha, beta, sized};
use crate::server::LogLevel::{Info, Warn};
use crate::server::{Program, ServerProcess};

/// The rounds of one server with one review.
#[derive(Default)]
pub struct Measured {
    latencies: Vec<Duration>,
    cpu: Vec<Duration>,
}

impl Measured {
    fn add(&mut self, round: Round) {
        self.latencies.extend(round.latencies);
        self.cpu.push(round.cpu);
    }

    /// The latency that this share of requests over one connection stays below, in microseconds.
    pub fn latency(&self, percent: usize) -> f64 {
        micros(quantile(&self.latencies, percent))
    }

    /// CPU of the server for a request of 64 connections: the median of the rounds, in microseconds.
    pub fn cpu(&self) -> f64 {
        micros(quantile(&self.cpu, 50))
    }
}

/// The time that this share of `times` stays below.
pub fn quantile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let index = (sorted.len().saturating_sub(1)) * percent / 100;
    sorted.get(index).copied().unwrap_or_default()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The handler that does nothing.
    Nothing,
    /// `gateward serve` that logs warnings only.
    Quiet,
    /// `gateward serve` as it is started: with a line a review.
    Logging,
    /// The peer in Go.
    Peer,
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Nothing => "does nothing",
            Self::Quiet => "gateward, log level warn",
            Self::Logging => "gateward",
            Self::Peer => "controller-runtime",
        })
    }
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A v1beta1 graph of 4 kB is validated.
    Validate,
    /// One of 14 kB.
    ValidateLarge,
    /// One of 4 kB is defaulted.
    Default,
    /// A v1alpha1 graph of 4 kB is validated.
    ValidateAlpha,
    /// A Pod of 4 kB is validated.
    ValidatePod,
}

impl What {
    fn sample(self) -> Sample {
        let (name, path, body) = match self {
            Self::Validate => ("validate v1beta1, 4 kB", VALIDATE, sized(4_000, beta)),
            Self::ValidateLarge => ("validate v1beta1, 14 kB", VALIDATE, sized(14_000, beta)),
            Self::Default => ("default v1beta1, 4 kB", DEFAULT, sized(4_000, beta)),
            Self::ValidateAlpha => ("validate v1alpha1, 4 kB", VALIDATE, sized(4_000, alpha)),
            Self::ValidatePod => ("validate a Pod, 4 kB", pods::VALIDATE, pods::review(4_000)),
        };
        Sample::new(name, path, body)
    }
}

const ROWS: [(Who, What); 8] = [
    (Who::Nothing, What::Validate),
    (Who::Quiet, What::Validate),
    (Who::Logging, What::Validate),
    (Who::Quiet, What::Default),
    (Who::Quiet, What::ValidateAlpha),
    (Who::Nothing, What::ValidateLarge),
    (Who::Quiet, What::ValidateLarge),
    (Who::Peer, What::ValidatePod),
];

/// What was measured.
pub struct Reviews {
    rows: Vec<(Who, What, Sample, Measured)>,
    /// Of `gateward serve`, idle and after the load.
    pub memory: [Memory; 2],
    /// The same of the peer.
    pub peer_memory: [Memory; 2],
}

impl Reviews {
    /// The row of a server and a review.
    pub fn of(&self, who: Who, what: What) -> Option<&Measured> {
        let row = self.rows.iter().find(|(of, asked, ..)| *of == who && *asked == what);
        row.map(|(.., measured)| measured)
    }
}

/// Asks all servers in turns.
pub async fn measure(gateward: &Path, peer: &Path) -> anyhow::Result<Reviews> {
    let start = |level| ServerProcess::start(&Program::Gateward(gateward.to_owned(), level));
    let (quiet, logging) = (start(Warn)?, start(Info)?);
    let (nothing, peer) =
        (ServerProcess::start(&Program::Nothing)?, ServerProcess::start(&Program::ControllerRuntime(peer.into()))?);
    // What a server does at its start is over by then.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let (idle, idle_peer) = (process::memory(logging.pid())?, process::memory(peer.pid())?);
    let mut rows: Vec<_> = ROWS.map(|(who, what)| (who, what, what.sample(), Measured::default())).into();
    for round in 0..load::ROUNDS {
        for (who, _, sample, measured) in &mut rows {
            eprint!("\rround {} of {}: {who:24} {:24}", round + 1, load::ROUNDS, sample.name);
            let server = match who {
                Who::Nothing => &nothing,
                Who::Quiet => &quiet,
                Who::Logging => &logging,
                Who::Peer => &peer,
            };
            measured.add(load::round(server, sample).await?);
        }
    }
    eprintln!();
    let memory = [idle, process::memory(logging.pid())?];
    Ok(Reviews { rows, memory, peer_memory: [idle_peer, process::memory(peer.pid())?] })
}

impl fmt::Display for Reviews {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| who answers | review | bytes | p50 | p99 | CPU |\n|---|---|---|---|---|---|")?;
        for (who, _, sample, measured) in &self.rows {
            let (bytes, p50, p99) = (sample.body.len(), measured.latency(50), measured.latency(99));
            let cpu = measured.cpu();
            writeln!(f, "| {who} | {} | {bytes} | {p50:.0} µs | {p99:.0} µs | {cpu:.1} µs |", sample.name)?;
        }
        Ok(())
    }
}
