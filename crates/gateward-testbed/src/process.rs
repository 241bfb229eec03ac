//! Programs that run as long as somebody holds them.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// A running program, whose output goes to a file. It is killed when this is dropped.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts a program; its log is `<name>.log` in the folder.
    pub fn start(name: &str, folder: &Path, command: &mut Command) -> anyhow::Result<Self> {
        let log = folder.join(format!("{name}.log"));
        // What an earlier one said stays there.
        let file = OpenOptions::new().create(true).append(true).open(&log)?;
        let command = command.current_dir(folder).stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let child = command.spawn().with_context(|| format!("cannot start {name}"))?;
        Ok(Self { name: name.into(), child, log })
    }

    /// The name that it was started with.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Fails with the end of its log where the program has ended.
    pub fn must_run(&mut self) -> anyhow::Result<()> {
        match self.child.try_wait()? {
            Some(exit) => bail!("{} ended with {exit}\n{}", self.name, self.last_words()),
            None => Ok(()),
        }
    }

    /// Asks it to end, and makes it end where it is not done in time.
    pub async fn end(&mut self, patience: Duration) -> anyhow::Result<()> {
        // The standard library knows no other signal than SIGKILL; every shell does.
        Command::new("sh").args(["-c", &format!("kill -s TERM {}", self.child.id())]).status()?;
        let start = Instant::now();
        while self.child.try_wait()?.is_none() && start.elapsed() < patience {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // It may have ended already.
        let _ = self.child.kill();
        self.child.wait()?;
        Ok(())
    }

    /// The end of the log.
    pub fn last_words(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(25)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
