//! What the API server makes of our CRDs alone: no webhook is asked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod cases;
mod conformance;
mod crds;
mod damage;
mod schema;
mod seeds;

use std::process::ExitCode;

use cluster_tests::{Conversion, run};

fn main() -> ExitCode {
    let tests = [crds::tests(), cases::tests(), schema::tests(), conformance::tests()].into_iter().flatten().collect();
    run(tests, async |bed| bed.install_crds(&cluster_tests::crds(bed.programs(), Conversion::None)?).await)
}
