//! Reviews that compute for long, or for ever: what they hold up, and what they don't.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what can't be set up is a failed test, and a trap is one of its parts"
)]

mod scene;

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, SystemTime};

use gateward_core::{Answer, Record, Review, Undecided};
use gateward_server::{Answerer, ByteSize, Cap, Limits, Protocols};
use scene::client::post;
use scene::otter::{Lodge, conversion, review_of};
use scene::{CONVERT, Scene, VALIDATE, scene, scene_of, until};
use tokio::net::TcpStream;

/// Larger than what is judged where it was received.
const LARGE: usize = 40_000;
/// Larger than what two sockets hold between them.
const HUGE: usize = 64 << 20;

/// Holds up the thread of whoever comes in, until it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<Passing>, Condvar)>);

#[derive(Default)]
struct Passing {
    inside: usize,
    open: bool,
}

impl Gate {
    fn inside(&self) -> usize {
        self.0.0.lock().unwrap().inside
    }

    fn open(&self) {
        self.0.0.lock().unwrap().open = true;
        self.0.1.notify_all();
    }

    /// Blocks this thread.
    fn pass(&self) {
        let mut passing = self.0.0.lock().unwrap();
        passing.inside += 1;
        let waited = self.0.1.wait_timeout_while(passing, Duration::from_mins(1), |passing| !passing.open).unwrap();
        assert!(!waited.1.timed_out(), "nobody opened the gate");
        passing = waited.0;
        passing.inside -= 1;
    }
}

/// Does what the first word of the body says.
struct Obeys(Gate);

impl Answerer for Obeys {
    fn route(&self, _: &str) -> Option<Review> {
        Some(Review::Validate)
    }

    async fn answer(&self, _: &str, body: &[u8], _: SystemTime) -> Answer {
        let mut answer = Vec::new();
        match body.split(|byte| *byte == b' ').next() {
            Some(b"block") => self.0.pass(),
            Some(b"panic") => panic!("a trap"),
            Some(b"huge") => answer = vec![b'x'; HUGE],
            _ => {}
        }
        Answer { status: 200, body: answer, record: Record::undecided(Undecided::Deadline) }
    }
}

struct Work {
    scene: Scene,
    gate: Gate,
}

async fn work(limits: Limits) -> Work {
    let gate = Gate::default();
    let scene = scene_of(Obeys(gate.clone()), limits, Protocols::default(), Lodge::default()).await;
    Work { scene, gate }
}

/// A body that begins with a word.
fn body(word: &str, length: usize) -> Vec<u8> {
    format!("{word} {}", "x".repeat(length)).into_bytes()
}

impl Work {
    /// The status of an answer to a body of its own connection.
    async fn status(&self, target: &str, word: &str, length: usize) -> u16 {
        self.scene.client().await.ask(&post(target, &body(word, length))).await.status
    }
}

#[tokio::test]
async fn a_review_that_computes_holds_up_no_other() {
    let work = work(Limits { work_threads: Cap::at_most(2), ..Limits::default() }).await;
    let mut long = work.scene.client().await;
    long.send(&post(VALIDATE, &body("block", LARGE))).await.unwrap();
    until("it computes", || work.gate.inside() == 1).await;
    assert_eq!(work.status(VALIDATE, "pass", 1).await, 200);
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 200);
    assert_eq!(work.gate.inside(), 1, "it still computes");
    work.gate.open();
    assert_eq!(long.response().await.unwrap().status, 200);
}

#[tokio::test]
async fn a_review_that_computes_past_its_deadline_is_answered_and_keeps_its_thread() {
    let work = work(Limits { work_threads: Cap::at_most(1), ..Limits::default() }).await;
    let short = format!("{VALIDATE}?timeout=300ms");
    assert_eq!(work.status(&short, "block", LARGE).await, 504);
    assert_eq!(work.gate.inside(), 1, "nothing can interrupt it");
    assert_eq!(work.status(&short, "pass", LARGE).await, 504, "there is no other thread");
    assert_eq!(work.status(&short, "pass", 1).await, 200, "it needs none");
    work.gate.open();
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 200);
}

#[tokio::test]
async fn work_that_was_given_up_counts_until_it_ends() {
    let work = work(Limits { work_queue: Cap::at_most(1), ..Limits::default() }).await;
    assert_eq!(work.status(&format!("{VALIDATE}?timeout=300ms"), "block", LARGE).await, 504);
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 429);
    assert_eq!(work.scene.metric("otter_webhook_shed_total{limit=\"work\"}"), 1);
    assert!(work.scene.metric("otter_webhook_body_bytes_in_flight") >= LARGE as u64, "and so does its body");
    work.gate.open();
    work.scene.until_metric("otter_webhook_body_bytes_in_flight", 0).await;
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 200);
}

#[tokio::test]
async fn no_number_of_large_reviews_turns_a_small_one_away() {
    let (large, cap) = (ByteSize::bytes(2 * LARGE), Cap::at_most(2));
    let limits = Limits { work_queue: cap, concurrency: Cap::at_most(1), bodies_in_flight: large, ..Limits::default() };
    let limits = Limits { admission_size: large, conversion_size: large, work_threads: cap, ..limits };
    let work = work(limits).await;
    let mut waiting = Vec::new();
    for count in 1..=2 {
        let mut client = work.scene.client().await;
        client.send(&post(VALIDATE, &body("block", LARGE))).await.unwrap();
        until("it computes", || work.gate.inside() == count).await;
        waiting.push(client);
    }
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 429);
    assert_eq!(work.status(VALIDATE, "pass", 20_000).await, 200);
    work.gate.open();
    for client in &mut waiting {
        assert_eq!(client.response().await.unwrap().status, 200);
    }
}

#[tokio::test]
async fn work_whose_caller_hangs_up_keeps_its_thread_and_no_more() {
    let work = work(Limits { work_threads: Cap::at_most(1), ..Limits::default() }).await;
    let mut gone = work.scene.client().await;
    gone.send(&post(VALIDATE, &body("block", LARGE))).await.unwrap();
    until("it computes", || work.gate.inside() == 1).await;
    drop(gone);
    work.scene.until_metric("otter_webhook_connections", 0).await;
    work.gate.open();
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 200);
}

#[tokio::test]
async fn larger_reviews_than_may_be_judged_at_a_time_wait() {
    let limits = Limits { work_threads: Cap::at_most(4), work_bytes: ByteSize::bytes(LARGE), ..Limits::default() };
    let work = work(limits).await;
    let mut first = work.scene.client().await;
    first.send(&post(VALIDATE, &body("block", LARGE))).await.unwrap();
    until("it computes", || work.gate.inside() == 1).await;
    assert_eq!(work.status(&format!("{VALIDATE}?timeout=300ms"), "pass", LARGE).await, 504);
    work.gate.open();
    assert_eq!(first.response().await.unwrap().status, 200);
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 200);
}

#[tokio::test]
async fn a_panic_in_long_work_costs_one_answer() {
    let work = work(Limits { work_threads: Cap::at_most(1), ..Limits::default() }).await;
    assert_eq!(work.status(VALIDATE, "panic", LARGE).await, 500);
    assert_eq!(work.scene.metric("otter_webhook_panics_total"), 1);
    assert_eq!(work.status(VALIDATE, "pass", LARGE).await, 200);
}

#[tokio::test]
async fn what_an_answer_costs_is_held_until_it_is_written_and_its_connection_stays() {
    let work = work(Limits { connections: Cap::at_most(1), ..Limits::default() }).await;
    let mut slow = work.scene.client().await;
    let request = body("huge", LARGE);
    slow.send(&post(VALIDATE, &request)).await.unwrap();
    until("it is answered", || work.scene.metric("otter_webhook_errors_total{review=\"validate\",code=\"504\"}") == 1)
        .await;
    assert_eq!(work.scene.metric("otter_webhook_body_bytes_in_flight"), request.len() as u64);
    let _refused = TcpStream::connect(work.scene.address()).await.unwrap();
    work.scene.until_metric("otter_webhook_connections_refused_total{port=\"webhooks\"}", 1).await;
    assert_eq!(slow.response().await.unwrap().body.len(), HUGE);
    work.scene.until_metric("otter_webhook_body_bytes_in_flight", 0).await;
}

#[tokio::test]
async fn large_reviews_are_judged_and_converted_as_small_ones_are() {
    let scene = scene(Limits::default()).await;
    let large = |mood: &str| review_of(&format!(r#"{{"mood":"{mood}","river":"{}"}}"#, "x".repeat(LARGE)));
    let allowed = scene.client().await.ask(&post(VALIDATE, &large("playful"))).await;
    assert_eq!((allowed.status, &allowed.json()["response"]["allowed"]), (200, &true.into()));
    let denied = scene.client().await.ask(&post(VALIDATE, &large("unprintable"))).await;
    assert_eq!(denied.json()["response"]["status"]["details"]["causes"][0]["field"], "spec.mood");
    assert_eq!(scene.client().await.ask(&post(VALIDATE, &large("angry"))).await.status, 500);
    let converted = scene.client().await.ask(&post(CONVERT, &conversion("playful", 1_000))).await;
    assert_eq!(converted.json()["response"]["convertedObjects"].as_array().map(Vec::len), Some(1_000));
    assert_eq!(scene.client().await.ask(&post(CONVERT, &conversion("angry", 1_000))).await.status, 500);
    let late = format!("{VALIDATE}?timeout=300ms");
    assert_eq!(scene.client().await.ask(&post(&late, &large("asleep"))).await.status, 504);
    until("the work is dropped", || scene.lodge.asleep() == 0).await;
}
