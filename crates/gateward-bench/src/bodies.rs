//! What bodies from a directory cost the shipped program, beside what they may cost.
//!
//! The cost tests of dynamo-webhooks write those there that take more than their share in their own build.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;

use crate::client::{KeepAliveConnection, post};
use crate::process;
use crate::server::{LogLevel, Program, ServerProcess};

/// What a review may take of CPU time, and beyond it for each byte of its body.
const CPU: Duration = Duration::from_millis(2);
const CPU_PER_BYTE: Duration = Duration::from_nanos(150);

/// For how long a body is asked about: the clock of a process is coarse.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

struct Row {
    name: String,
    path: String,
    bytes: usize,
    cpu: Duration,
}

impl Row {
    fn bound(&self) -> Duration {
        CPU + CPU_PER_BYTE.mul_f64(self.bytes as f64)
    }

    fn share(&self) -> f64 {
        self.cpu.div_duration_f64(self.bound())
    }
}

/// What was measured, the dearest first.
pub struct Bodies(Vec<Row>);

/// Sends each body until its time is measured.
pub async fn measure(gateward: &Path, directory: &Path) -> anyhow::Result<Bodies> {
    let server = ServerProcess::start(&Program::Gateward(gateward.to_owned(), LogLevel::Info))?;
    let mut connection = KeepAliveConnection::open(&server).await?;
    let mut rows = Vec::new();
    for file in files(directory)? {
        let text = fs::read(&file)?;
        let at =
            text.iter().position(|byte| *byte == b'\n').with_context(|| format!("{} has no path", file.display()))?;
        let (path, body) = (std::str::from_utf8(&text[..at])?, &text[at + 1..]);
        let request = post(path, body);
        // The first answer is dearer.
        connection.ask(&request).await?;
        let (start, mut times) = (process::cpu(server.pid())?, 0_u32);
        let cpu = loop {
            connection.ask(&request).await?;
            times += 1;
            let cpu = process::cpu(server.pid())?.saturating_sub(start);
            if cpu > LONG_ENOUGH {
                break cpu / times;
            }
        };
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        rows.push(Row { name, path: path.to_owned(), bytes: body.len(), cpu });
    }
    rows.sort_by(|one, other| other.share().total_cmp(&one.share()));
    Ok(Bodies(rows))
}

fn files(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    Ok(entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?)
}

impl fmt::Display for Bodies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| body | path | MB | CPU, ms | of the bound |\n|---|---|---|---|---|")?;
        for row in &self.0 {
            let Row { name, path, .. } = row;
            let (bytes, cpu) = (row.bytes as f64 / 1e6, row.cpu.as_secs_f64() * 1e3);
            writeln!(f, "| {name} | {path} | {bytes:.3} | {cpu:.1} | {:.0} % |", row.share() * 100.0)?;
        }
        Ok(())
    }
}
