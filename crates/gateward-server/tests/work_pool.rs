//! Reviews that compute for long or forever, and what they delay.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what can't be set up is a failed test, and a trap is one of its parts"
)]

mod support;

use gateward_server::{ByteSize, Cap, Limits, Protocols};
use support::client::post;
use support::gate::{Gate, HUGE, Obeys};
use support::otter::{Blocker, conversion, review_of};
use support::{CONVERT, TestServer, VALIDATE, test_server, test_server_with, until};

/// Above `inline_size`.
const LARGE: usize = 40_000;

struct Work {
    server: TestServer,
    gate: Gate,
}

async fn work(limits: Limits) -> Work {
    let gate = Gate::default();
    let server = test_server_with(Obeys(gate.clone()), limits, Protocols::default(), Blocker::default()).await;
    Work { server, gate }
}

/// A body with a first word.
fn body(word: &str, length: usize) -> Vec<u8> {
    format!("{word} {}", "x".repeat(length)).into_bytes()
}

impl Work {
    /// The status of the response to a body, on a new connection.
    async fn status(&self, target: &str, word: &str, length: usize) -> u16 {
        self.server.client().await.ask(&post(target, &body(word, length))).await.status
    }
}

#[tokio::test]
async fn a_review_that_computes_delays_no_other() {
    let work = work(Limits { work_threads: Cap::at_most(2), ..Limits::default() }).await;
    let mut long = work.server.client().await;
    long.send(&post(VALIDATE, &body("block", LARGE))).await.unwrap();
    until("it computes", || work.gate.inside() == 1).await;
    assert_eq!(work.status(VALIDATE, "pass", 1).await, 200);
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 200);
    assert_eq!(work.gate.inside(), 1, "it still computes");
    work.gate.open();
    assert_eq!(long.response().await.unwrap().status, 200);
}

#[tokio::test]
async fn a_review_past_its_deadline_gets_a_response_and_keeps_its_thread() {
    let work = work(Limits { work_threads: Cap::at_most(1), ..Limits::default() }).await;
    let short = format!("{VALIDATE}?timeout=300ms");
    assert_eq!(work.status(&short, "block", LARGE).await, 504);
    assert_eq!(work.gate.inside(), 1, "it can't be interrupted");
    assert_eq!(work.status(&short, "pass", LARGE).await, 504, "there is no other thread");
    assert_eq!(work.status(&short, "pass", 1).await, 200, "it runs inline");
    work.gate.open();
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 200);
}

#[tokio::test]
async fn abandoned_work_counts_until_it_ends() {
    let work = work(Limits { work_queue: Cap::at_most(1), ..Limits::default() }).await;
    assert_eq!(work.status(&format!("{VALIDATE}?timeout=300ms"), "block", LARGE).await, 504);
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 429);
    assert_eq!(work.server.metric("otter_webhook_shed_total{limit=\"work\"}"), 1);
    assert!(work.server.metric("otter_webhook_body_bytes_in_flight") >= LARGE as u64, "and so does its body");
    work.gate.open();
    work.server.until_metric("otter_webhook_body_bytes_in_flight", 0).await;
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 200);
}

#[tokio::test]
async fn large_reviews_shed_no_small_one() {
    let (large, cap) = (ByteSize::bytes(2 * LARGE), Cap::at_most(2));
    let limits = Limits { work_queue: cap, concurrency: Cap::at_most(1), bodies_in_flight: large, ..Limits::default() };
    let limits = Limits { admission_size: large, conversion_size: large, work_threads: cap, ..limits };
    let work = work(limits).await;
    let mut waiting = Vec::new();
    for count in 1..=2 {
        let mut client = work.server.client().await;
        client.send(&post(VALIDATE, &body("block", LARGE))).await.unwrap();
        until("it computes", || work.gate.inside() == count).await;
        waiting.push(client);
    }
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 429);
    assert_eq!(work.status(VALIDATE, "pass", 10_000).await, 200);
    work.gate.open();
    for client in &mut waiting {
        assert_eq!(client.response().await.unwrap().status, 200);
    }
}

#[tokio::test]
async fn work_whose_caller_disconnects_keeps_its_thread_alone() {
    let work = work(Limits { work_threads: Cap::at_most(1), ..Limits::default() }).await;
    let mut gone = work.server.client().await;
    gone.send(&post(VALIDATE, &body("block", LARGE))).await.unwrap();
    until("it computes", || work.gate.inside() == 1).await;
    drop(gone);
    work.server.until_metric("otter_webhook_connections", 0).await;
    work.gate.open();
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 200);
}

#[tokio::test]
async fn reviews_beyond_the_work_bytes_wait() {
    let limits = Limits { work_threads: Cap::at_most(4), work_bytes: ByteSize::bytes(LARGE), ..Limits::default() };
    let work = work(limits).await;
    let mut first = work.server.client().await;
    first.send(&post(VALIDATE, &body("block", LARGE))).await.unwrap();
    until("it computes", || work.gate.inside() == 1).await;
    assert_eq!(work.status(&format!("{VALIDATE}?timeout=300ms"), "pass", LARGE).await, 504);
    work.gate.open();
    assert_eq!(first.response().await.unwrap().status, 200);
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 200);
}

#[tokio::test]
async fn a_panic_in_long_work_costs_one_response() {
    let work = work(Limits { work_threads: Cap::at_most(1), ..Limits::default() }).await;
    assert_eq!(work.status(VALIDATE, "panic", LARGE).await, 500);
    assert_eq!(work.server.metric("otter_webhook_panics_total"), 1);
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 200);
}

#[tokio::test]
async fn a_response_holds_its_budget_until_it_is_written() {
    let work = work(Limits::default()).await;
    let mut slow = work.server.client().await;
    let request = body("huge", LARGE);
    slow.send(&post(VALIDATE, &request)).await.unwrap();
    until("the response is ready", || {
        work.server.metric("otter_webhook_errors_total{review=\"validate\",code=\"504\"}") == 1
    })
    .await;
    assert_eq!(work.server.metric("otter_webhook_body_bytes_in_flight"), HUGE as u64);
    assert_eq!(slow.response().await.unwrap().body.len(), HUGE);
    work.server.until_metric("otter_webhook_body_bytes_in_flight", 0).await;
}

#[tokio::test]
async fn large_reviews_get_the_same_responses_as_small_ones() {
    let server = test_server(Limits::default()).await;
    let large = |mood: &str| review_of(&format!(r#"{{"mood":"{mood}","river":"{}"}}"#, "x".repeat(LARGE)));
    let allowed = server.client().await.ask(&post(VALIDATE, &large("playful"))).await;
    assert_eq!((allowed.status, &allowed.json()["response"]["allowed"]), (200, &true.into()));
    let denied = server.client().await.ask(&post(VALIDATE, &large("unprintable"))).await;
    assert_eq!(denied.json()["response"]["status"]["details"]["causes"][0]["field"], "spec.mood");
    assert_eq!(server.client().await.ask(&post(VALIDATE, &large("angry"))).await.status, 500);
    let converted = server.client().await.ask(&post(CONVERT, &conversion("playful", 1_000))).await;
    assert_eq!(converted.json()["response"]["convertedObjects"].as_array().map(Vec::len), Some(1_000));
    assert_eq!(server.client().await.ask(&post(CONVERT, &conversion("angry", 1_000))).await.status, 500);
    let late = format!("{VALIDATE}?timeout=300ms");
    assert_eq!(server.client().await.ask(&post(&late, &large("asleep"))).await.status, 504);
    until("the work is dropped", || server.blocker.blocked() == 0).await;
}
