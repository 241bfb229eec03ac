//! The word for an operator's controllers that they are to end.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::Shared;
use gateward_core::BoxFuture;

/// A future that completes when the server is to end. kube's `Controller::graceful_shutdown_on` takes it; each controller
/// gets a clone.
#[derive(Clone)]
pub struct ShutdownSignal(Shared<BoxFuture<'static, ()>>);

impl ShutdownSignal {
    /// A signal that is given when another future completes.
    pub fn when(end: impl Future<Output = ()> + Send + 'static) -> Self {
        let end: BoxFuture<'static, ()> = Box::pin(end);
        Self(end.shared())
    }
}

impl Future for ShutdownSignal {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.poll_unpin(context)
    }
}

impl fmt::Debug for ShutdownSignal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ShutdownSignal").finish_non_exhaustive()
    }
}
