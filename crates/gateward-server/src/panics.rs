//! A panic costs one answer.

use std::future::{Future, poll_fn};
use std::panic::{self, AssertUnwindSafe};
use std::pin::pin;

use crate::journal::TARGET;

/// A future panicked; what it said is not kept, for it may hold parts of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panicked;

/// Runs a future and catches its panic.
pub async fn caught<F: Future>(future: F) -> Result<F::Output, Panicked> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        let polled = panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)));
        polled.map_or(std::task::Poll::Ready(Err(Panicked)), |poll| poll.map(Ok))
    })
    .await
}

/// Makes panics of the whole process speak through `tracing`, with their place and without their text.
///
/// The text of a panic often quotes the value that caused it, and an object's contents have no business in a log. A
/// program calls this once, at its start.
pub fn log_places_of_panics() {
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
        let result = caught(async { if true { panic!("contents of an object") } else { 1 } }).await;
        assert_eq!(result, Err(Panicked));
        assert_eq!(caught(async { 1 }).await, Ok(1));
    }

    #[tokio::test]
    async fn a_panic_after_a_pause_becomes_a_value_too() {
        let result = caught(async {
            tokio::task::yield_now().await;
            panic!("later")
        });
        assert_eq!(result.await, Err::<(), _>(Panicked));
    }
}
