//! The shape of a future behind a trait object.

use std::future::Future;
use std::pin::Pin;

/// A future that a trait object returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Lets other work have a turn: pending once, and woken at once.
pub(crate) async fn give_way() {
    let mut gave = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut gave, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
