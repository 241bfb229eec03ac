//! That the load test sees what it is there to see.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::process::ExitCode;
use std::time::Duration;

use cluster_tests::{Load, Pace, Sandbox, Webhooks, run_in_turn, tests};

fn main() -> ExitCode {
    let tests = tests![
        sees_every_failure_of_a_killed_server_and_none_of_a_running_one,
        tells_an_api_server_that_restarts_from_webhooks_that_fail,
    ];
    run_in_turn(tests, async |_| Ok(()))
}

async fn sees_every_failure_of_a_killed_server_and_none_of_a_running_one(sandbox: Sandbox) {
    let mut webhooks = Webhooks::install(sandbox.bed()).await.unwrap();
    let load = Load::start(&sandbox, Pace::default());
    load.goes_on_for(400).await;
    let before = load.so_far();
    before.assert_no_failures();

    // A request fails from the signal on, before `kill` returns.
    let killed = load.elapsed();
    webhooks.kill();
    load.goes_on_for(24).await;
    let restarted = load.elapsed();
    webhooks.restart(sandbox.bed()).await.unwrap();
    // A request that failed is sent again for a while, and answers that were on their way are still to come.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mended = load.elapsed();
    load.goes_on_for(200).await;

    let tally = load.stop().await;
    assert_eq!((tally.failed_open.number, tally.not_served.number), (0, 0), "{tally}");
    let refused = tally.failures.iter().filter(|failure| failure.text.contains("connection refused"));
    assert!(refused.count() >= 8, "{tally}");
    for failure in &tally.failures {
        assert!(failure.sent + failure.took >= killed && failure.sent < mended, "{failure:?}");
        // Nobody can answer before the server is there again.
        assert!(failure.mended.is_none_or(|time| failure.sent + failure.took + time >= restarted), "{failure:?}");
    }
}

async fn tells_an_api_server_that_restarts_from_webhooks_that_fail(sandbox: Sandbox) {
    let _webhooks = Webhooks::install(sandbox.bed()).await.unwrap();
    let load = Load::start(&sandbox, Pace::default());
    load.goes_on_for(100).await;
    sandbox.bed().restart_api_server().await.unwrap();
    load.goes_on_for(200).await;
    let tally = load.stop().await;
    assert!(tally.not_served.number > 0, "{tally}");
    tally.assert_no_failures_of_admission();
}
