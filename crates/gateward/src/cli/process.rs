//! The process around the command line.

use std::io;

use tokio::runtime::{Builder, Runtime};

use super::Extension;
use crate::exit::Exit;
use crate::operator::Operator;

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

/// A whole `main`: runs the command line of `operator` with the process's arguments, in a runtime of its own. What the process
/// lacks for that is said, and is [`Exit::Error`].
pub fn main(operator: impl Operator) -> Exit {
    main_with(operator, &[])
}

/// The same with further commands.
pub fn main_with<P: Operator>(operator: P, extensions: &[&dyn Extension<P>]) -> Exit {
    match runtime() {
        Ok(runtime) => runtime.block_on(run_with(operator, extensions)),
        Err(error) => super::trouble(&error.into()),
    }
}

/// Runs the command line of `operator` with the process's arguments, in a runtime of the caller's.
pub async fn run(operator: impl Operator) -> Exit {
    run_with(operator, &[]).await
}

/// The same with further commands.
pub async fn run_with<P: Operator>(operator: P, extensions: &[&dyn Extension<P>]) -> Exit {
    super::run(operator, extensions, std::env::args_os().collect()).await
}
