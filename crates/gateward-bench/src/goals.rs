//! What was measured beside what is aimed at.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::conversion::Conversions;
use crate::process::Memory;
use crate::reviews::{Way, beta};
use crate::table::{Measured, Reviews, What, Who, quantile};

/// How often `gateward check` is started; the median counts.
const CHECKS: usize = 40;

/// The figures, a line each, with their goals.
pub fn table(reviews: &Reviews, conversions: &Conversions, gateward: &Path) -> anyhow::Result<String> {
    let row = |who, what| reviews.of(who, what).context("a review that was not asked");
    let (nothing, validate) = (row(Who::Nothing, What::Validate)?, row(Who::Quiet, What::Validate)?);
    let (default, alpha) = (row(Who::Quiet, What::Default)?, row(Who::Quiet, What::ValidateAlpha)?);
    let (logging, peer) = (row(Who::Logging, What::Validate)?, row(Who::Peer, What::ValidatePod)?);
    let more = |of: &Measured| of.cpu() - nothing.cpu();
    let later = |of: &Measured| (of.latency(50) / nothing.latency(50), of.latency(50) - nothing.latency(50));
    let ((ratio, micros), (alpha_ratio, alpha_micros)) = (later(validate), later(alpha));
    let ([idle, loaded], [idle_peer, loaded_peer]) = (reviews.memory, reviews.peer_memory);
    let times = |peer: Memory, ours: Memory| peer.resident as f64 / ours.resident as f64;
    let figures = [
        ("CPU of a review by the handler that does nothing", format!("{:.1} µs", nothing.cpu()), "20 µs"),
        ("CPU more than that: validate, 4 kB", format!("{:.1} µs", more(validate)), "12 µs"),
        (
            "CPU more than that: default, beside validate",
            format!("{:.1} times", more(default) / more(validate)),
            "1.5 times",
        ),
        ("CPU more than that: validate v1alpha1", format!("{:.1} µs", more(alpha)), "30 µs"),
        ("p50 beside that: validate, 4 kB", format!("{ratio:.2} times, {micros:+.0} µs"), "1.2 times or +15 µs"),
        (
            "p50 beside that: validate v1alpha1",
            format!("{alpha_ratio:.2} times, {alpha_micros:+.0} µs"),
            "1.5 times or +35 µs",
        ),
        ("CPU of the log line", format!("{:.1} µs", logging.cpu() - validate.cpu()), "4 µs"),
        (
            "CPU of controller-runtime, beside ours with the log line",
            format!("{:.1} times", peer.cpu() / logging.cpu()),
            "8 times",
        ),
        ("p50 of controller-runtime, beside ours", format!("{:.1} times", peer.latency(50) / logging.latency(50)), ""),
        (
            "resident memory of controller-runtime, beside ours, idle and loaded",
            format!("{:.1} and {:.1} times", times(idle_peer, idle), times(loaded_peer, loaded)),
            "2 times",
        ),
        (
            "resident memory, idle and loaded",
            format!("{:.1} and {:.1} MB", megabytes(idle.resident), megabytes(loaded.resident)),
            "",
        ),
        (
            "anonymous memory, idle and loaded",
            format!("{:.1} and {:.1} MB", megabytes(idle.anonymous), megabytes(loaded.anonymous)),
            "3 and 6 MB",
        ),
        ("the program", format!("{:.1} MB", std::fs::metadata(gateward)?.len() as f64 / 1e6), "10 MB"),
        (
            "`gateward check` of one file, start to end",
            format!("{:.1} ms", check(gateward)?.as_secs_f64() * 1e3),
            "15 ms",
        ),
        ("10,000 objects of 10 kB to v1beta1", seconds(conversions, Way::Lift)?, "0.8 s"),
        ("10,000 objects of 10 kB to v1alpha1", seconds(conversions, Way::Lower)?, "0.8 s"),
    ];
    let mut text = String::from("| figure | measured | goal |\n|---|---|---|\n");
    for (figure, measured, goal) in figures {
        let _ = writeln!(text, "| {figure} | {measured} | {goal} |");
    }
    Ok(text)
}

fn megabytes(kilobytes: u64) -> f64 {
    kilobytes as f64 / 1e3
}

fn seconds(conversions: &Conversions, way: Way) -> anyhow::Result<String> {
    let time = conversions.longest(way).context("a way that was not asked")?;
    Ok(format!("{:.2} s", time.as_secs_f64()))
}

/// From the start of `gateward check` to its end.
fn check(gateward: &Path) -> anyhow::Result<Duration> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("graph.json");
    std::fs::write(&file, beta(4).to_string())?;
    let mut times = Vec::with_capacity(CHECKS);
    for _ in 0..CHECKS {
        let started = Instant::now();
        let mut command = Command::new(gateward);
        let status = command.arg("check").arg(&file).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        times.push(started.elapsed());
        if !status.success() {
            bail!("`gateward check` has findings in a graph that is right");
        }
    }
    Ok(quantile(&times, 50))
}
