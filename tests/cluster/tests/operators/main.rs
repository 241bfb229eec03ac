//! Two operators in one cluster, as in the webhook guide: one of the whole cluster in `platform-system`, and one of the
//! namespace `team-a`. Each event prints who judged what is written in the namespace.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod excluded;
mod scenario;
mod table;
mod tenant;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use cluster_tests::{Bed, Release, Shell, command_blocks, run_in_turn};

const PAGE: &str = include_str!("../../../../docs/cluster.md");

const PLATFORM: (&str, &str) = ("platform-operator", "platform-system");
const TEAM: (&str, &str) = ("team-a-operator", "team-a");

fn main() -> ExitCode {
    let tests = [scenario::tests(), tenant::tests(), excluded::tests()].into_iter().flatten().collect();
    run_in_turn(tests, async |bed| {
        bed.start_node().await?;
        installed(&bed, "platform", PLATFORM).await
    })
}

/// Installs an operator by the guide's command, as our page has it, out of a new folder.
async fn installed(bed: &Arc<Bed>, folder: &str, operator: (&str, &str)) -> anyhow::Result<Release> {
    let (name, namespace) = operator;
    let block = command_blocks(PAGE, "## Several operators").concat().replace("\\\n", "");
    let command = block.lines().find(|line| line.starts_with(&format!("helm install {name} ")));
    let output = Shell::new(bed, folder)?.run(command.context("no such command")?);
    anyhow::ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let release = Release::new(bed, name, namespace);
    release.rolled_out().await?;
    Ok(release)
}
