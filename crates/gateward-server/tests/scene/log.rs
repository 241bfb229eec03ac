//! The log, kept for the test that listens.

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::Mutex;

thread_local! {
    /// What was logged on this thread, which is all that its test has done.
    static LOGGED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What was logged on any thread.
static EVERYTHING: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Where a subscriber writes.
pub struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOGGED.with_borrow_mut(|logged| logged.extend_from_slice(bytes));
        EVERYTHING.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the running test has logged.
pub fn logged() -> Vec<String> {
    let bytes = LOGGED.with_borrow(Clone::clone);
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

/// What all tests of the binary and their servers have logged.
pub fn everything_logged() -> String {
    String::from_utf8(EVERYTHING.lock().unwrap().clone()).unwrap()
}

/// The first line that holds some text.
pub fn line(wanted: &str) -> String {
    logged().into_iter().find(|line| line.contains(wanted)).unwrap_or_default()
}
