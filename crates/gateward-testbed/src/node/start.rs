//! How a container starts: its files, its environment, its process.

use std::io::{PipeReader, Read};

use anyhow::{Context, bail};
use serde_json::Value;

use super::container::{Inside, clean};
use super::entry::Entry;
use super::environment;
use super::fields::text;
use super::network::Shared;
use super::process::Running;
use super::root::{Access, READY};
use super::sources::fetch;
use super::volumes;

/// Starts a container.
pub(crate) async fn start(pod: &Entry, shared: &Shared, container: &Value) -> anyhow::Result<Inside> {
    let object = pod.object();
    let sources = fetch(&pod.node.client, &pod.namespace, environment::sources(container)).await?;
    let environment = environment::environment(container, &object, shared.ip(), &sources);
    let environment = environment.map_err(anyhow::Error::msg)?;
    let words = environment::command(container, &environment).map_err(anyhow::Error::msg)?;
    let mounts = volumes::mounts(container, &object, &pod.folder());
    let closed = container.pointer("/securityContext/readOnlyRootFilesystem").is_some_and(|closed| closed == true);
    let script = pod.node.image.script(&mounts, if closed { Access::Read } else { Access::Write });

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
    Ok(Inside::new(running, environment))
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
