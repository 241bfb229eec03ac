//! What the operator's own commands and its look-ups do in a cluster: CRDs applied, objects left behind, rights asked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod access;
mod account;
mod command;
mod crds;
mod definition;
mod reader;
mod store;
mod uninstall;

use std::process::ExitCode;

use cluster_tests::{Webhooks, run_in_turn};

fn main() -> ExitCode {
    let tests = [crds::tests(), uninstall::tests(), reader::tests(), access::tests()].into_iter().flatten().collect();
    run_in_turn(tests, async |bed| Webhooks::serve(&bed).await)
}
