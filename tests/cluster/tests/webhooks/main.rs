//! What a user of the API server sees of our webhooks. The CRDs know one field more than the server, as during an upgrade.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod admission;
mod apply;
mod audit;
mod cases;
mod conversion;
mod hostile;
mod scan;
mod skew;
mod upstream;

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
        scan::tests(),
        skew::tests(),
        upstream::tests(),
    ]
    .into_iter()
    .flatten()
    .collect();
    run(tests, async |bed| {
        let webhooks = Webhooks::install(&bed).await?;
        skew::upgrade(&bed).await?;
        Ok(webhooks)
    })
}
