//! `dev`: an API server that asks a process on this machine, from its start to its end, however it ends.
//!
//! The process is this program again, as the operator of one of the worlds: see [`world`]. Each test has a world of its
//! own, so that they run side by side.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod crashes;
mod guards;
mod holders;
mod judging;
mod laptop;
mod signals;
mod snapshot;
mod world;

use std::process::ExitCode;

use cluster_tests::run;

fn main() -> ExitCode {
    if let Some(ended) = laptop::run_as_operator() {
        return ended;
    }
    let tests = [crashes::tests(), guards::tests(), holders::tests(), judging::tests(), signals::tests()];
    run(tests.into_iter().flatten().collect(), async |_| Ok(()))
}
