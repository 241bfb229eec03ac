//! That Pods run on the bed's node as they would on a real one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod deployments;
mod objects;

use std::process::ExitCode;

use cluster_tests::run;

fn main() -> ExitCode {
    let tests = [deployments::tests()].into_iter().flatten().collect();
    run(tests, async |bed| bed.start_node().await)
}
