//! Work that blocks its thread, as computing does.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

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
