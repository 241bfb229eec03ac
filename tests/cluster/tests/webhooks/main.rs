//! What a user of the API server sees of our webhooks.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod admission;
mod apply;
mod audit;
mod cases;
mod conversion;
mod hostile;
mod skew;

use std::process::ExitCode;

use cluster_tests::{Webhooks, run};

fn main() -> ExitCode {
    let tests = [
        admission::tests(),
        conversion::tests(),
        apply::tests(),
        audit::tests(),
        cases::tests(),
        hostile::tests(),
        skew::tests(),
    ]
    .into_iter()
    .flatten()
    .collect();
    run(tests, async |bed| Webhooks::install(&bed).await)
}
