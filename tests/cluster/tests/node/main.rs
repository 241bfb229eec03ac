//! That Pods run on the bed's node as they would on a real one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod containers;
mod deployments;
mod endings;
mod health;
mod identity;
mod ports;
mod workloads;

use std::process::ExitCode;

use cluster_tests::run;

fn main() -> ExitCode {
    let tests = [
        deployments::tests(),
        containers::tests(),
        health::tests(),
        endings::tests(),
        identity::tests(),
        ports::tests(),
    ];
    run(tests.into_iter().flatten().collect(), async |bed| bed.start_node().await)
}
