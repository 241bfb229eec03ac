//! A container that runs: a process in the Pod's network, with files and an environment of its own.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use anyhow::bail;

use super::environment::Environment;
use super::process::{Running, Signal};

/// A container's process, and how to follow it inside.
#[derive(Debug, Clone)]
pub(crate) struct Inside {
    pub(crate) running: Running,
    environment: Environment,
}

/// A process that ends when its handle is dropped.
struct Awaited(Running);

impl Inside {
    pub(crate) fn new(running: Running, environment: Environment) -> Self {
        Self { running, environment }
    }

    /// A command that runs beside the container's process.
    pub(crate) fn command(&self, words: &[String]) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--target={}", self.running.pid())).args(["--net", "--uts", "--mount", "--root", "--"]);
        command.args(clean(&self.environment, "")).args(words);
        command
    }

    /// A program of the machine in the container's network.
    pub(crate) fn beside(&self, program: &OsStr) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--target={}", self.running.pid())).args(["--net", "--"]).arg(program);
        command
    }

    /// Runs a command beside the container's process until it ends well.
    pub(crate) async fn run(&self, words: &[String]) -> anyhow::Result<()> {
        let mut command = self.command(words);
        let running = Awaited(Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()))?);
        let status = running.0.ended().await;
        if !status.success() {
            bail!("{words:?} ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.signal(Signal::Kill);
    }
}

/// The beginning of a command that has this environment and no other.
pub(crate) fn clean(environment: &Environment, folder: &str) -> Vec<String> {
    let folder = if folder.is_empty() { "/" } else { folder };
    let beginning = ["/usr/bin/env", "--ignore-environment", "--chdir", folder].map(str::to_owned);
    let variables = environment.iter().map(|(name, value)| format!("{name}={value}"));
    beginning.into_iter().chain(variables).collect()
}
