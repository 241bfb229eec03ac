//! Work that blocks its thread, as computing does.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use gateward_core::{Decision, Review, ReviewResponse, WebhookError};
use gateward_server::{ReviewHandler, ReviewTerms};
use tokio::task::yield_now;

/// Larger than the buffers of two sockets.
pub const HUGE: usize = 64 << 20;

/// Blocks the threads that pass it until it is opened.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<Passing>, Condvar)>);

#[derive(Default)]
struct Passing {
    inside: usize,
    open: bool,
}

impl Gate {
    /// How many threads are blocked.
    pub fn inside(&self) -> usize {
        self.0.0.lock().unwrap().inside
    }

    pub fn open(&self) {
        self.0.0.lock().unwrap().open = true;
        self.0.1.notify_all();
    }

    /// Blocks this thread.
    pub fn pass(&self) {
        let mut passing = self.0.0.lock().unwrap();
        passing.inside += 1;
        let waited = self.0.1.wait_timeout_while(passing, Duration::from_mins(1), |passing| !passing.open).unwrap();
        assert!(!waited.1.timed_out(), "the gate was not opened");
        passing = waited.0;
        passing.inside -= 1;
    }
}

/// Does what the first word of the body says.
pub struct Obeys(pub Gate);

impl ReviewHandler for Obeys {
    type Route = Review;

    fn route(&self, _: &str) -> Option<Review> {
        Some(Review::Validate)
    }

    async fn handle(&self, _: Review, body: &[u8], _: ReviewTerms) -> ReviewResponse {
        let mut answer = Vec::new();
        match body.split(|byte| *byte == b' ').next() {
            Some(b"block") => self.0.pass(),
            Some(b"wait") => std::future::pending().await,
            Some(b"yield") => loop {
                yield_now().await;
            },
            Some(b"panic") => panic!("a trap"),
            Some(b"huge") => answer = vec![b'x'; HUGE],
            _ => {}
        }
        ReviewResponse { status: 200, body: answer, decision: Decision::error(WebhookError::Deadline) }
    }
}
