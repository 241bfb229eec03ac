//! Pods come and go under a load.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::process::ExitCode;
use std::time::Duration;

use cluster_tests::{Chart, Load, NAMESPACE, RELEASE, Release, Sandbox, run_in_turn, tests, until};
use serde_json::json;

/// The first chart that was installed.
const FIRST: Chart = Chart::Released("0.1.0");

fn main() -> ExitCode {
    let tests = tests![
        a_release_is_upgraded_from_the_first_chart_and_rolled_back,
        every_pod_is_replaced,
        one_of_two_replicas_crashes,
        the_api_server_restarts,
    ];
    run_in_turn(tests, async |bed| {
        bed.start_node().await?;
        let release = Release::new(&bed, RELEASE, NAMESPACE);
        release.install(FIRST, &json!({})).await?;
        Ok(release)
    })
}

async fn a_release_is_upgraded_from_the_first_chart_and_rolled_back(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    Load::is_unharmed_by(&sandbox, async || {
        // A release that differs in nothing would keep its Pods.
        let values = json!({"dynamo-operator": {"controllerManager": {"podAnnotations": {"example.org/a": "b"}}}});
        release.upgrade(Chart::Current, &values).await.unwrap();
        release.settled().await.unwrap();
    })
    .await;
    Load::is_unharmed_by(&sandbox, async || {
        release.roll_back(1).await.unwrap();
        release.settled().await.unwrap();
    })
    .await;
    release.upgrade(Chart::Current, &json!({})).await.unwrap();
}

async fn every_pod_is_replaced(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    let before = release.pod_names().await.unwrap();
    let tally = Load::during(&sandbox, async |_| release.restart().await.unwrap()).await;
    tally.assert_no_failures();
    let after = release.pod_names().await.unwrap();
    assert!(after.len() == 2 && after.iter().all(|name| !before.contains(name)), "{before:?} {after:?}");
}

/// What was sent before the dead replica's address was withdrawn may fail, and nothing else.
async fn one_of_two_replicas_crashes(sandbox: Sandbox) {
    let release = Release::only(&sandbox);
    for number in 0..2 {
        release.settled().await.unwrap();
        let mut withdrawn = Duration::ZERO;
        let tally = Load::during(&sandbox, async |load| {
            let pods = sandbox.bed().node().pods(NAMESPACE, "app.kubernetes.io/name=dynamo-operator");
            assert_eq!(pods.len(), 2);
            let ip = pods[number].ip().unwrap().to_string();
            let killed = load.elapsed();
            pods[number].kill();
            until("withdrawn", Duration::from_mins(1), async || !release.is_called(&ip).await.unwrap()).await;
            // The API server dials by what its own watch has told it.
            load.goes_on_for(8).await;
            withdrawn = load.elapsed();
            println!(
                "{} killed after {killed:.1?}, withdrawn {:.0?} later",
                pods[number].name(),
                withdrawn.saturating_sub(killed)
            );
            release.rolled_out().await.unwrap();
        })
        .await;
        assert_eq!((tally.failed_open.number, tally.astray.number, tally.not_served.number), (0, 0, 0), "{tally}");
        for failure in &tally.failures {
            assert!(failure.sent <= withdrawn, "sent after the address was withdrawn: {tally}");
            assert!(failure.mended.is_some(), "{tally}");
        }
    }
}

async fn the_api_server_restarts(sandbox: Sandbox) {
    let tally = Load::during(&sandbox, async |_| sandbox.bed().restart_api_server().await.unwrap()).await;
    assert!(tally.not_served.number > 0, "{tally}");
    tally.assert_no_failures_of_admission();
}
