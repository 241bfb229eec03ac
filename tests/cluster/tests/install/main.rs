//! What a user of the API server sees of our webhooks after `helm install` on an empty cluster.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "../webhooks/admission.rs"]
mod admission;
#[path = "../webhooks/apply.rs"]
mod apply;
#[path = "../webhooks/conversion.rs"]
mod conversion;
mod guide;
mod installed;
mod kubectl;
mod metrics;
mod preflight;

use std::process::ExitCode;

use cluster_tests::{Release, run};
use serde_json::json;

fn main() -> ExitCode {
    let tests = [
        installed::tests(),
        kubectl::tests(),
        metrics::tests(),
        preflight::tests(),
        admission::tests(),
        conversion::tests(),
        apply::tests(),
        guide::tests(),
    ];
    run(tests.into_iter().flatten().collect(), async |bed| Release::installed(bed, &json!({})).await)
}
