//! What serves one connection, whichever version of HTTP it speaks.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::server::TlsStream;

use crate::connection::state::ConnectionState;
use crate::connection::timeout_stream::TimeoutStream;
use crate::connection::timeouts::ConnectionTimeouts;
use crate::handler::ReviewHandler;
use crate::limits::Limits;
use crate::phase::ServerPhase;
use crate::service::WebhookService;

/// A connection after its handshake.
pub(super) struct Session<'a, H> {
    pub(super) service: &'a Arc<WebhookService<H>>,
    pub(super) limits: &'a Limits,
    pub(super) state: &'a Arc<ConnectionState>,
    pub(super) phase: watch::Receiver<ServerPhase>,
}

impl<H: ReviewHandler> Session<'_, H> {
    /// The stream with the timeouts of the limits. `head` is `None` where bytes don't imply the head of a request.
    pub(super) fn stream(
        &self,
        stream: TlsStream<TcpStream>,
        head: Option<Duration>,
    ) -> TimeoutStream<TlsStream<TcpStream>> {
        let Limits { idle, write, deadline, linger, .. } = *self.limits;
        // No caller waits for a response for longer than the longest deadline.
        let timeouts = ConnectionTimeouts { idle, head, write, response: deadline };
        TimeoutStream::new(stream, Arc::clone(self.state.activity()), timeouts, linger)
    }

    /// Responds to one request.
    pub(super) fn call(
        &self,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send + use<H> {
        let (service, state) = (Arc::clone(self.service), Arc::clone(self.state));
        async move { Ok(service.call(request, &state).await) }
    }
}
