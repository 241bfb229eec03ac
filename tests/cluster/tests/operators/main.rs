//! Two operators in one cluster, as in the webhook guide: one of the whole cluster in `platform-system`, and one of the
//! namespace `team-a`. Each event prints who judged what is written in the namespace.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod excluded;
mod scenario;
mod table;
mod tenant;

use std::process::ExitCode;

use cluster_tests::{Chart, Release, run_in_turn};
use serde_json::json;

const PLATFORM: (&str, &str) = ("platform-operator", "platform-system");
const TEAM: (&str, &str) = ("team-a-operator", "team-a");

fn main() -> ExitCode {
    let tests = [scenario::tests(), tenant::tests(), excluded::tests()].into_iter().flatten().collect();
    run_in_turn(tests, async |bed| {
        bed.start_node().await?;
        let platform = Release::new(&bed, PLATFORM.0, PLATFORM.1);
        platform.install(Chart::Current, &json!({})).await?;
        Ok(platform)
    })
}
