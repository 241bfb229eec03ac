//! `gateward serve --config` before a real API server, without a chart: the program is started as a Pod is,
//! and called through a Service that leads to its address.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod ending;
mod installation;
mod pages;
mod release;
mod replica;
mod serving;

use std::process::ExitCode;

use cluster_tests::run_in_turn;

use installation::Installed;

fn main() -> ExitCode {
    let tests = [serving::tests(), pages::tests(), ending::tests()];
    run_in_turn(tests.into_iter().flatten().collect(), async |bed| Installed::on(bed).await)
}
