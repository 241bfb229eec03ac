//! What ends a server.

use std::future::Future;
use std::pin::Pin;

use futures_util::stream::{self, Stream};
use gateward_server::Drain;

/// What ends a server.
pub(crate) trait Shutdown: Send {
    /// Waits until the server is to end, and says how it drains.
    fn wait(&mut self) -> impl Future<Output = Drain> + Send;

    /// How a server drains that ends by itself.
    fn drain(&self) -> Drain {
        Drain::default()
    }

    /// The words that the end is to come sooner.
    fn hurries(self) -> impl Stream<Item = ()> + Send;
}

/// Ends a server once a future has completed.
pub(crate) struct Until<F> {
    end: Pin<Box<F>>,
    drain: Drain,
}

impl<F: Future<Output = ()> + Send> Until<F> {
    pub(crate) fn new(end: F, drain: Drain) -> Self {
        Self { end: Box::pin(end), drain }
    }
}

impl<F: Future<Output = ()> + Send> Shutdown for Until<F> {
    async fn wait(&mut self) -> Drain {
        self.end.as_mut().await;
        self.drain
    }

    fn drain(&self) -> Drain {
        self.drain
    }

    fn hurries(self) -> impl Stream<Item = ()> + Send {
        stream::pending()
    }
}
