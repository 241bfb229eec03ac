//! Pages over plain HTTP, for anyone: probes, and metrics where nothing guards them.

use std::net::SocketAddr;
use std::sync::Arc;

use http::Request;
use hyper::body::Incoming;

use crate::bind::BindError;
use crate::pages::{Answered, PageListener, Pages, asked_for, converse, page};

/// A listener that serves pages until it is dropped.
#[derive(Debug)]
#[must_use = "the listener closes when this is dropped"]
pub struct PlainServer(PageListener);

impl PlainServer {
    /// Binds an address (port 0 takes a free one) and serves at once, on the runtime of the caller.
    pub async fn bind(address: SocketAddr, pages: impl Pages) -> Result<Self, BindError> {
        let pages = Arc::new(pages);
        let receive = move |socket, phase| {
            let pages = Arc::clone(&pages);
            async move { converse(socket, phase, |request| std::future::ready(answer(request, &*pages))).await }
        };
        PageListener::bind(address, receive).await.map(Self)
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
