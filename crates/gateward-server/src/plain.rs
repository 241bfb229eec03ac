//! Pages over plain HTTP, for anyone: probes, and metrics where nothing guards them.

use std::net::SocketAddr;
use std::sync::Arc;

use http::Request;
use hyper::body::Incoming;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::accept::{Door, accept};
use crate::bind::{BindError, bind};
use crate::pages::{Answered, Pages, asked_for, converse, limits, page};
use crate::phase::Phase;

/// A listener that serves pages until it is dropped.
#[derive(Debug)]
#[must_use = "the listener closes when this is dropped"]
pub struct PlainServer {
    address: SocketAddr,
    _phase: watch::Sender<Phase>,
}

impl PlainServer {
    /// Binds an address (port 0 takes a free one) and serves at once, on the runtime of the caller.
    pub async fn bind(address: SocketAddr, pages: impl Pages) -> Result<Self, BindError> {
        let (listener, address) = bind(address).await?;
        let (phase, watched) = watch::channel(Phase::Serving);
        tokio::spawn(serve(listener, watched, Arc::new(pages)));
        Ok(Self { address, _phase: phase })
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn serve(listener: TcpListener, phase: watch::Receiver<Phase>, pages: Arc<impl Pages>) {
    let door = Door::new(limits().connections);
    accept(
        listener,
        door,
        phase,
        || {},
        |socket, seat, phase| {
            let pages = Arc::clone(&pages);
            async move {
                let _seat = seat;
                converse(socket, phase, |request| std::future::ready(answer(request, &*pages))).await;
            }
        },
    )
    .await;
}

fn answer(request: Request<Incoming>, pages: &impl Pages) -> Answered {
    let (head, _body) = request.into_parts();
    match asked_for(&head, pages) {
        Ok(()) => page(&head, pages),
        Err(answer) => *answer,
    }
}
