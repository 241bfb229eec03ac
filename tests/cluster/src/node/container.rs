//! A container that runs: a process in the Pod's network, with files and an environment of its own.

use std::io::{PipeReader, Read};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use serde_json::Value;

use super::entry::Entry;
use super::environment::{self, Environment};
use super::fields::text;
use super::network::Shared;
use super::process::{Running, Signal};
use super::root::{Access, READY};
use super::sources::fetch;
use super::volumes;

/// A container's process, and how to follow it inside.
#[derive(Debug, Clone)]
pub(crate) struct Inside {
    pub(crate) running: Running,
    environment: Environment,
}

/// A process that ends when nobody waits for it any more.
struct Awaited(Running);

impl Inside {
    /// Starts a container.
    pub(crate) async fn start(pod: &Entry, shared: &Shared, container: &Value) -> anyhow::Result<Self> {
        let object = pod.object();
        let sources = fetch(&pod.kubelet.client, &pod.namespace, environment::sources(container)).await?;
        let environment = environment::environment(container, &object, shared.ip(), &sources);
        let environment = environment.map_err(anyhow::Error::msg)?;
        let words = environment::command(container, &environment).map_err(anyhow::Error::msg)?;
        let mounts = volumes::mounts(container, &object, &pod.folder());
        let closed = container.pointer("/securityContext/readOnlyRootFilesystem").is_some_and(|closed| closed == true);
        let script = pod.kubelet.image.script(&mounts, if closed { Access::Read } else { Access::Write });

        let mut command = shared.enter();
        command.args(["unshare", "--mount", "--", "sh", "-c", &script, "sh"]);
        command.args(clean(&environment, text(container, "/workingDir"))).args(words);
        let log = pod.open_log(text(container, "/name"))?;
        let (said, says) = std::io::pipe()?;
        command.stdout(log).stderr(says);
        let running = Running::start(&mut command).context("cannot run nsenter (Debian: util-linux)")?;
        // It holds an end of the pipe.
        drop(command);
        furnished(said).await?;
        Ok(Self { running, environment })
    }

    /// A command that runs beside the container's process.
    pub(crate) fn command(&self, words: &[String]) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--target={}", self.running.pid())).args(["--net", "--uts", "--mount", "--root", "--"]);
        command.args(clean(&self.environment, "")).args(words);
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

/// Waits until a container has its files.
async fn furnished(mut said: PipeReader) -> anyhow::Result<()> {
    let said = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        said.read_to_string(&mut text).map(|_| text)
    });
    let said = said.await??;
    if !said.trim_end().ends_with(READY) {
        bail!("its files cannot be made: {}", said.trim_end());
    }
    Ok(())
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.0.signal(Signal::Kill);
    }
}

/// The beginning of a command that has this environment and no other.
fn clean(environment: &Environment, folder: &str) -> Vec<String> {
    let folder = if folder.is_empty() { "/" } else { folder };
    let beginning = ["/usr/bin/env", "--ignore-environment", "--chdir", folder].map(str::to_owned);
    let variables = environment.iter().map(|(name, value)| format!("{name}={value}"));
    beginning.into_iter().chain(variables).collect()
}
