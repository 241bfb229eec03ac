//! The certificate controller against a real API server: several replicas in this very process, with
//! webhook configurations and CRDs that nobody ever calls, and no more rights than they have in a cluster.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

mod drift;
#[cfg(feature = "fail-points")]
mod fail_points;
mod injection;
mod installing;
mod leaders;
mod legacy_ca_key;
mod line;
mod outages;
#[cfg(feature = "fail-points")]
mod process;
mod provided;
mod replica;
mod rights;
mod rotation;
mod rotation_requests;
mod secrets;
mod setup;
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
        injection::tests(),
        drift::tests(),
        rotation::tests(),
        leaders::tests(),
        outages::tests(),
        rotation_requests::tests(),
        provided::tests(),
        #[cfg(feature = "fail-points")]
        fail_points::tests(),
    ];
    run(tests.into_iter().flatten().collect(), async |_| Ok(()))
}
