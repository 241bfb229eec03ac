//! What a ConversionReview costs: one object, and lists as the API server sends them.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::client::{KeepAliveConnection, request};
use crate::process;
use crate::reviews::{Way, conversion};
use crate::server::{LogLevel, Program, ServerProcess};
use crate::table::quantile;

/// Of an object.
const BYTES: usize = 10_000;

/// Objects in a review, and how often it is sent.
const SIZES: [(usize, usize); 3] = [(1, 2_000), (1_500, 20), (10_000, 5)];

/// One way and size.
struct Row {
    way: Way,
    objects: usize,
    bytes: usize,
    spent: Vec<Duration>,
    spent_on_nothing: Vec<Duration>,
    /// The most resident memory, in kilobytes.
    peak: u64,
}

/// What was measured.
pub struct Conversions(Vec<Row>);

impl Conversions {
    /// The median for the largest list.
    pub fn longest(&self, way: Way) -> Option<Duration> {
        let row = self.0.iter().filter(|row| row.way == way).max_by_key(|row| row.objects)?;
        Some(quantile(&row.spent, 50))
    }
}

/// Measures both ways in all sizes.
pub async fn measure(gateward: &Path) -> anyhow::Result<Conversions> {
    let mut rows = Vec::new();
    for way in [Way::Lift, Way::Lower] {
        for (objects, times) in SIZES {
            eprint!("\r{}: {objects:24}{:24}", way.name(), "");
            rows.push(row(gateward, way, objects, times).await?);
        }
    }
    eprintln!();
    Ok(Conversions(rows))
}

/// Servers of their own for each row, so that the peak of memory is the row's.
async fn row(gateward: &Path, way: Way, objects: usize, times: usize) -> anyhow::Result<Row> {
    let sample = conversion(way, BYTES, objects)?;
    let request = request(&sample);
    let ours = ServerProcess::start(&Program::Gateward(gateward.to_owned(), LogLevel::Info))?;
    let nothing = ServerProcess::start(&Program::Nothing)?;
    let (mut spent, mut spent_on_nothing) = (Vec::new(), Vec::new());
    // The servers take turns, so that whatever else the machine does falls on both.
    let (mut asked, mut asked_nothing) =
        (KeepAliveConnection::open(&ours).await?, KeepAliveConnection::open(&nothing).await?);
    for _ in 0..times {
        spent.push(time(&mut asked, &request).await?);
        spent_on_nothing.push(time(&mut asked_nothing, &request).await?);
    }
    let peak = process::peak_memory(ours.pid())?;
    Ok(Row { way, objects, bytes: request.len(), spent, spent_on_nothing, peak })
}

async fn time(connection: &mut KeepAliveConnection, request: &[u8]) -> anyhow::Result<Duration> {
    let started = Instant::now();
    connection.ask(request).await?;
    Ok(started.elapsed())
}

impl fmt::Display for Conversions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| way | objects | review | p50 | p99 | p50 of nothing | peak memory |\n|---|---|---|---|---|---|---|"
        )?;
        for row in &self.0 {
            let millis = |times: &[Duration], percent| quantile(times, percent).as_secs_f64() * 1e3;
            let (way, objects, bytes) = (row.way.name(), row.objects, row.bytes as f64 / 1e6);
            let (p50, p99) = (millis(&row.spent, 50), millis(&row.spent, 99));
            let (nothing, peak) = (millis(&row.spent_on_nothing, 50), row.peak / 1_000);
            writeln!(
                f,
                "| {way} | {objects} | {bytes:.2} MB | {p50:.2} ms | {p99:.2} ms | {nothing:.2} ms | {peak} MB |"
            )?;
        }
        Ok(())
    }
}
