//! A hundred seconds of rest, in real time and with the default limits. The API server keeps a connection for ninety.
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod scene;

use std::time::Duration;

use gateward_server::Limits;
use scene::client::post;
use scene::otter::review;
use scene::{VALIDATE, scene};

#[tokio::test]
async fn a_connection_that_rested_for_a_hundred_seconds_is_still_served() {
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
}
