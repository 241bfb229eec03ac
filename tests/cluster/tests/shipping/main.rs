//! Operators as they are shipped: by kustomize, by a chart, by a bundle of OLM. Each begins in an empty cluster, judges,
//! and is removed without a trace.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod bundles;
mod certificates;
mod command;
mod controller;
mod crontab;
mod manifests;
mod olm;
mod olm_crontab;
mod olm_dynamo;
mod olm_v1;
mod strict;
mod validators;

use std::process::ExitCode;

use cluster_tests::run_in_turn;

fn main() -> ExitCode {
    let tests = [
        strict::tests(),
        validators::tests(),
        manifests::tests(),
        controller::tests(),
        olm_crontab::tests(),
        olm_dynamo::tests(),
        olm_v1::tests(),
    ];
    run_in_turn(tests.into_iter().flatten().collect(), async |bed| {
        let controller = controller::program(&bed)?;
        bed.start_node_with(&[(controller::PROGRAM, controller)]).await
    })
}
