//! Waiting for what others do.

use std::time::{Duration, Instant};

/// How often is looked.
const GLANCE: Duration = Duration::from_millis(20);

/// Waits until a question is answered with yes, and gives the time that it took.
pub async fn until(what: &str, within: Duration, mut holds: impl AsyncFnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !holds().await {
        assert!(start.elapsed() < within, "{what}: not after {within:?}");
        tokio::time::sleep(GLANCE).await;
    }
    start.elapsed()
}
