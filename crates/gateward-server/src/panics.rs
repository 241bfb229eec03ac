//! A panic costs one response.

use std::future::Future;
use std::panic::{self, AssertUnwindSafe};

use futures_util::FutureExt;

use crate::access_log::TARGET;

/// A future panicked. The message is not kept: it may contain parts of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panicked;

/// Runs a future and catches its panic.
pub async fn catch_panic<F: Future>(future: F) -> Result<F::Output, Panicked> {
    AssertUnwindSafe(future).catch_unwind().await.map_err(|_| Panicked)
}

/// Logs panics of the whole process through `tracing`, with their location and without their message.
///
/// A panic's message often quotes the value that caused it, and an object's contents must not appear in a log. A program
/// calls this once at startup.
pub fn install_panic_hook() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(target: TARGET, place, "panic");
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_a_value() {
        let result = catch_panic(async { if true { panic!("contents of an object") } else { 1 } }).await;
        assert_eq!(result, Err(Panicked));
        assert_eq!(catch_panic(async { 1 }).await, Ok(1));
    }

    #[tokio::test]
    async fn a_panic_after_a_pause_becomes_a_value_too() {
        let result = catch_panic(async {
            tokio::task::yield_now().await;
            panic!("later")
        });
        assert_eq!(result.await, Err::<(), _>(Panicked));
    }
}
