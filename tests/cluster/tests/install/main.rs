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

use cluster_tests::{Chart, Release, run};
use serde_json::json;

/// The release that all tests use.
const RELEASE: &str = "dynamo-platform";
const NAMESPACE: &str = "dynamo-system";

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
    run(tests.into_iter().flatten().collect(), async |bed| {
        bed.start_node().await?;
        let release = Release::new(&bed, RELEASE, NAMESPACE);
        release.install(Chart::Current, &json!({})).await?;
        Ok(release)
    })
}
