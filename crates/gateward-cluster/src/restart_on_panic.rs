//! Tasks that go on after a panic.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use tracing::error;

use crate::request::Backoff;

/// Runs `task` until it returns, and starts it anew with backoff after a panic. `name` is for the log, which the hook for
/// panics gives the place of.
///
/// A task that was gone would leave a replica with the certificate and the claims that it last saw; and if a replica ended,
/// what makes one panic could end all of them, and leave API servers without an answer.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let mut started = 0;
/// gateward_cluster::restart_on_panic("otters", async || {
///     started += 1;
///     assert!(started > 1, "not at the first try");
/// })
/// .await;
/// assert_eq!(started, 2);
/// # });
/// ```
pub async fn restart_on_panic(name: &str, mut task: impl AsyncFnMut()) {
    let mut backoff = Backoff::new();
    while AssertUnwindSafe(task()).catch_unwind().await.is_err() {
        let wait = backoff.fail();
        error!(task = name, ?wait, "a task panicked and starts anew");
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_task_keeps_its_state_through_panics_and_ends_once_it_returns() {
        let (send, mut messages) = mpsc::unbounded_channel();
        for message in 1..=3 {
            send.send(message).unwrap();
        }
        drop(send);
        let mut received = Vec::new();
        restart_on_panic("receiver", async || {
            while let Some(message) = messages.recv().await {
                received.push(message);
                assert_ne!(message, 2, "the second one panics");
            }
        })
        .await;
        assert_eq!(received, [1, 2, 3]);
    }
}
