//! When a review is answered that nobody judges in time: at its deadline and at most 100 ms later, while whatever kept it
//! goes on. The clock is tokio's, which moves only where a test moves it, so no time is measured.
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod support;

use std::time::Duration;

use bytes::Bytes;
use gateward_server::{ByteSize, Cap, Limits, Metrics, ReviewService};
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use support::gate::{Gate, Obeys};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::advance;
use tower_service::Service;

/// What the caller allows.
const TARGET: &str = "/validate?timeout=3s";
/// The moment before that is over.
const EARLY: Duration = Duration::from_millis(2_999);
const MOMENT: Duration = Duration::from_millis(1);
/// How long after the deadline the answer comes at most.
const LATEST: Duration = Duration::from_millis(100);

/// Up to `inline_size`, and above it.
const SMALL: usize = 1_000;
const LARGE: usize = 40_000;

struct Server {
    service: ReviewService<Obeys>,
    gate: Gate,
}

type Answer = JoinHandle<Response<Full<Bytes>>>;

impl Server {
    fn new(limits: Limits) -> Self {
        let gate = Gate::default();
        let service = ReviewService::new(Obeys(gate.clone()), limits, Metrics::new("otter")).unwrap();
        Self { service, gate }
    }

    /// Sends a body with a first word.
    fn ask(&self, word: &str, length: usize) -> Answer {
        let mut service = self.service.clone();
        let body = Bytes::from(format!("{word} {}", "x".repeat(length)));
        let request = Request::post(TARGET).header(CONTENT_TYPE, "application/json").body(Full::new(body)).unwrap();
        tokio::spawn(async move { service.call(request).await.unwrap() })
    }

    /// Waits until a handler blocks its thread. The clock stands still meanwhile.
    async fn until_blocked(&self) {
        while self.gate.inside() == 0 {
            yield_now().await;
        }
    }
}

impl Drop for Server {
    /// A test that fails waits for no thread.
    fn drop(&mut self) {
        self.gate.open();
    }
}

/// Moves the clock, and lets all tasks do what they can do at that moment.
async fn pass(time: Duration) {
    advance(time).await;
    for _ in 0..100 {
        yield_now().await;
    }
}

/// Asserts that there is no answer before the deadline, and then the one that says so.
async fn assert_due(answers: Vec<Answer>) {
    // All of them begin at this moment.
    pass(Duration::ZERO).await;
    pass(EARLY).await;
    assert!(answers.iter().all(|answer| !answer.is_finished()), "it came before the deadline");
    pass(MOMENT + LATEST).await;
    assert!(answers.iter().all(JoinHandle::is_finished), "{LATEST:?} after the deadline there was no answer");
    for answer in answers {
        let answer = answer.await.unwrap();
        assert_eq!(answer.status(), 504);
        let status: Value = serde_json::from_slice(&answer.into_body().collect().await.unwrap().to_bytes()).unwrap();
        assert_eq!((&status["kind"], &status["code"]), (&"Status".into(), &504.into()));
        assert_eq!(status["message"], "no verdict within the time that the caller allowed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_review_that_computes_is_answered_at_its_deadline() {
    let server = Server::new(Limits::default());
    let answer = server.ask("block", LARGE);
    server.until_blocked().await;
    assert_due(vec![answer]).await;
    assert_eq!(server.gate.inside(), 1, "it still computes");
}

#[tokio::test(start_paused = true)]
async fn a_review_behind_one_that_computes_is_answered_at_its_deadline() {
    let one_thread = Limits { work_threads: Cap::at_most(1), ..Limits::default() };
    let no_room = Limits { work_threads: Cap::at_most(4), work_bytes: ByteSize::bytes(LARGE), ..Limits::default() };
    for limits in [one_thread, no_room] {
        let server = Server::new(limits);
        let first = server.ask("block", LARGE);
        server.until_blocked().await;
        assert_due(vec![first, server.ask("pass", LARGE), server.ask("pass", LARGE)]).await;
        assert_eq!(server.gate.inside(), 1, "it still computes");
        server.gate.open();
        assert_eq!(server.ask("pass", LARGE).await.unwrap().status(), 200);
    }
}

#[tokio::test(start_paused = true)]
async fn a_review_that_only_yields_or_waits_is_answered_at_its_deadline() {
    let server = Server::new(Limits::default());
    let answers = [("yield", SMALL), ("yield", LARGE), ("wait", SMALL), ("wait", LARGE)];
    assert_due(answers.map(|(word, length)| server.ask(word, length)).into()).await;
}

#[tokio::test(start_paused = true)]
async fn a_small_review_beside_ones_that_compute_is_answered_at_once() {
    let server = Server::new(Limits { work_threads: Cap::at_most(1), ..Limits::default() });
    let long = server.ask("block", LARGE);
    server.until_blocked().await;
    let small = server.ask("pass", SMALL);
    pass(Duration::ZERO).await;
    assert!(small.is_finished() && !long.is_finished());
    assert_eq!(small.await.unwrap().status(), 200);
    server.gate.open();
    assert_eq!(long.await.unwrap().status(), 200);
}
