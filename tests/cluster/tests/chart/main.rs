//! The Helm chart: what it renders, what it refuses, and what the API server says to it.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod agreeing;
mod charts;
mod generated;
mod installing;
mod monitoring;
mod naming;
mod policy;
mod providing;
mod refusing;
mod rendering;
mod values;

use std::process::ExitCode;

use cluster_tests::run;

fn main() -> ExitCode {
    let tests = [
        rendering::tests(),
        naming::tests(),
        agreeing::tests(),
        refusing::tests(),
        values::tests(),
        installing::tests(),
        providing::tests(),
        policy::tests(),
        generated::tests(),
        monitoring::tests(),
    ];
    run(tests.into_iter().flatten().collect(), async |_| Ok(()))
}
