//! The process around the command line.

use std::io;

use tokio::runtime::{Builder, Runtime};

/// How many pairs of further files every command can open: its runtimes, its listeners, what it reads and writes.
const PAIRS_OF_FILES: usize = 16;

/// Why there is no process to work in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    /// Too few files.
    #[error("this process may not open enough files (ulimit -n); it needs {} more at least", 2 * PAIRS_OF_FILES)]
    Files(#[source] io::Error),
    /// No runtime.
    #[error("the runtime can't be started")]
    Runtime(#[source] io::Error),
}

/// After so many tasks a busy thread looks whether a deadline has passed. A small review computes for up to 5 ms where it
/// is read, and tokio's own 61 of them would hold up an answer for longer than the 100 ms that it may be late.
const POLLS_BETWEEN_EVENTS: u32 = 8;

/// The runtime of a process.
pub(crate) fn runtime() -> Result<Runtime, ProcessError> {
    // A runtime that finds no files in the middle of its start panics.
    let pairs: io::Result<Vec<_>> = (0..PAIRS_OF_FILES).map(|_| io::pipe()).collect();
    pairs.map(drop).map_err(ProcessError::Files)?;
    Builder::new_multi_thread().enable_all().event_interval(POLLS_BETWEEN_EVENTS).build().map_err(ProcessError::Runtime)
}
