//! What was measured, as a table.

use std::fmt::Write;
use std::time::Duration;

use crate::load::Round;
use crate::reviews::Sample;

/// The rounds of one server with one review.
#[derive(Default)]
pub struct Measured {
    latencies: Vec<Duration>,
    cpu: Vec<Duration>,
}

impl Measured {
    /// Adds a round.
    pub fn add(&mut self, round: Round) {
        self.latencies.extend(round.latencies);
        self.cpu.push(round.cpu);
    }

    /// The latency that this share of requests stays below, in microseconds.
    fn latency(&self, percent: usize) -> f64 {
        micros(quantile(&self.latencies, percent))
    }

    /// The median of the rounds, in microseconds a request.
    fn cpu(&self) -> f64 {
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

/// One review, asked of both servers.
pub struct Row {
    name: String,
    bytes: usize,
    /// Our server.
    pub ours: Measured,
    /// The handler that does nothing.
    pub nothing: Measured,
}

impl Row {
    /// No rounds yet.
    pub fn new(sample: &Sample) -> Self {
        let (ours, nothing) = (Measured::default(), Measured::default());
        Self { name: sample.name.to_owned(), bytes: sample.body.len(), ours, nothing }
    }
}

/// The table, with the ratios to the handler that does nothing and the aims.
pub fn table(rows: &[Row], idle: u64, loaded: u64) -> String {
    let mut text = String::from(
        "review                  bytes   p50 µs (nothing) ratio   p99 µs (nothing)   CPU µs (nothing)  more\n",
    );
    for row in rows {
        let (ours, nothing) = (&row.ours, &row.nothing);
        let _ = writeln!(
            text,
            "{:22} {:>6}   {:>6.1} ({:>7.1}) {:>5.2}   {:>6.1} ({:>7.1})   {:>6.1} ({:>7.1}) {:>5.1}",
            row.name,
            row.bytes,
            ours.latency(50),
            nothing.latency(50),
            ours.latency(50) / nothing.latency(50),
            ours.latency(99),
            nothing.latency(99),
            ours.cpu(),
            nothing.cpu(),
            ours.cpu() - nothing.cpu(),
        );
    }
    let _ = writeln!(text, "\nmemory: {idle} kB idle, {loaded} kB after the load");
    text.push_str(
        "aims:   p50 ratio at most 1.25, at most 25 µs more CPU for 4 kB, 12 MB idle, 24 MB after the load\n",
    );
    text
}
