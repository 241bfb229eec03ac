//! What a process has used, as Linux tells it.

use std::fs;
use std::time::Duration;

use anyhow::Context as _;

/// Clock ticks in `/proc/<pid>/stat`: 100 a second on every Linux that we know.
const TICK: Duration = Duration::from_millis(10);

/// CPU time so far, in user and kernel mode.
pub fn cpu(pid: u32) -> anyhow::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name stands in parentheses and may hold blanks; user and kernel time are the 14th and 15th field.
    let (_, fields) = stat.rsplit_once(')').context("a name in parentheses")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u32>).sum::<Result<u32, _>>()?;
    Ok(TICK * ticks)
}

/// What a process has of memory, in kilobytes.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// With the pages of its program that it has touched.
    pub resident: u64,
    /// What it has written itself: heap and stacks.
    pub anonymous: u64,
}

/// What a process has now.
pub fn memory(pid: u32) -> anyhow::Result<Memory> {
    Ok(Memory { resident: kilobytes(pid, "VmRSS:")?, anonymous: kilobytes(pid, "RssAnon:")? })
}

/// The most resident memory so far, in kilobytes.
pub fn peak_memory(pid: u32) -> anyhow::Result<u64> {
    kilobytes(pid, "VmHWM:")
}

fn kilobytes(pid: u32, name: &'static str) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).context(name)?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
