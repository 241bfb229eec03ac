//! Pages over plain HTTP, for anyone: probes, and metrics where nothing guards them.

use std::future::ready;
use std::net::SocketAddr;
use std::sync::Arc;

use http::Request;
use hyper::body::Incoming;

use crate::bind::BindError;
use crate::metrics::{Metrics, Port};
use crate::pages::{Answered, PageListener, Pages, asked_for, converse, page};
use crate::refusals::Refusals;

/// A listener that serves pages until it is dropped.
#[derive(Debug)]
#[must_use = "the listener closes when this is dropped"]
pub struct PlainServer(PageListener);

impl PlainServer {
    /// Binds an address (port 0 takes a free one) and serves at once, on a thread of its own. `metrics` count connections
    /// that find no room at `port`.
    pub async fn bind(
        address: SocketAddr,
        port: Port,
        pages: impl Pages,
        metrics: &Metrics,
    ) -> Result<Self, BindError> {
        let pages = Arc::new(pages);
        let serve = move |socket, state, phase| {
            let pages = Arc::clone(&pages);
            async move { converse(socket, &state, phase, |request| ready(answer(request, &*pages))).await }
        };
        PageListener::bind(address, Refusals::new(port, metrics.clone()), serve).await.map(Self)
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

fn answer(request: Request<Incoming>, pages: &impl Pages) -> Answered {
    let (head, _body) = request.into_parts();
    match asked_for(&head, pages) {
        Ok(()) => page(&head, pages),
        Err(answer) => *answer,
    }
}
