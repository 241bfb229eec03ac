//! An admin listener over plain HTTP, for everyone: probes, and metrics outside a cluster.

use std::future::ready;
use std::net::SocketAddr;
use std::sync::Arc;

use http::Request;
use hyper::body::Incoming;

use super::endpoint::AdminEndpoint;
use super::listener::{AdminListener, serve_connection};
use super::response::{HttpResponse, check, respond};
use crate::bind::BindError;
use crate::metrics::Metrics;
use crate::port::Port;
use crate::refusals::Refusals;

/// Serves an endpoint over plain HTTP until it is dropped.
#[derive(Debug)]
#[must_use = "the listener closes when this is dropped"]
pub struct HttpServer(AdminListener);

impl HttpServer {
    /// Binds an address (port 0 takes a free one) and serves at once, on a thread of its own. `metrics` count refused and
    /// evicted connections of `port`.
    pub async fn bind(
        address: SocketAddr,
        port: Port,
        endpoint: impl AdminEndpoint,
        metrics: &Metrics,
    ) -> Result<Self, BindError> {
        let endpoint = Arc::new(endpoint);
        let serve = move |socket, progress, phase| {
            let endpoint = Arc::clone(&endpoint);
            async move {
                serve_connection(socket, progress, phase, |request| ready(response(request, &*endpoint))).await;
            }
        };
        AdminListener::bind(address, Refusals::new(port, metrics.clone()), serve).await.map(Self)
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }
}

fn response(request: Request<Incoming>, endpoint: &impl AdminEndpoint) -> HttpResponse {
    let (head, _body) = request.into_parts();
    match check(&head, endpoint) {
        Ok(()) => respond(&head, endpoint),
        Err(response) => *response,
    }
}
