//! An idle connection for 100 seconds, in real time and with the default limits. The API server keeps one for 90 seconds.
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod support;

use std::time::Duration;

use gateward_server::Limits;
use support::client::post;
use support::otter::review;
use support::{VALIDATE, test_server};

#[tokio::test]
async fn a_connection_that_was_idle_for_a_hundred_seconds_is_served() {
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
}
