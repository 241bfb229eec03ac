//! Captures the log for a test.

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::Mutex;

thread_local! {
    /// The log of this thread, which runs one test.
    static LOGGED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The log of all threads.
static EVERYTHING: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The writer of a subscriber.
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

/// The log of the running test.
pub fn logged() -> Vec<String> {
    let bytes = LOGGED.with_borrow(Clone::clone);
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

/// The log of all tests of the binary and their servers.
pub fn everything_logged() -> String {
    String::from_utf8(EVERYTHING.lock().unwrap().clone()).unwrap()
}

/// The first line that contains a text.
pub fn line(wanted: &str) -> String {
    logged().into_iter().find(|line| line.contains(wanted)).unwrap_or_default()
}
