//! What keeps certificates and bundles right, before a real API server: several replicas in this very process, with
//! webhook configurations and CRDs that nobody ever calls, and no more rights than they have in a cluster.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod asking;
mod consumers;
mod drift;
#[cfg(feature = "fail-points")]
mod fail_points;
mod installing;
mod line;
mod old_place;
mod outages;
#[cfg(feature = "fail-points")]
mod process;
mod replica;
mod rights;
mod rotation;
mod secrets;
mod setup;
mod writers;
mod zoo;

use std::process::ExitCode;

use cluster_tests::run;

fn main() -> ExitCode {
    #[cfg(feature = "fail-points")]
    if let Some(ended) = process::run_as_replica() {
        return ended;
    }
    let tests = [
        installing::tests(),
        secrets::tests(),
        consumers::tests(),
        drift::tests(),
        rotation::tests(),
        writers::tests(),
        outages::tests(),
        asking::tests(),
        #[cfg(feature = "fail-points")]
        fail_points::tests(),
    ];
    run(tests.into_iter().flatten().collect(), async |_| Ok(()))
}
