//! Serves the connections of the webhooks: handshake, HTTP, and the count of how each ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::access_log::TARGET;
use crate::connection::http1;
#[cfg(feature = "http2")]
use crate::connection::http2;
use crate::connection::session::{Session, handshake};
use crate::connection::state::ConnectionState;
use crate::handler::ReviewHandler;
use crate::limits::Limits;
use crate::limits::connection_limit::RequestProgress;
use crate::metrics::{ConnectionError, Metrics};
use crate::phase::ServerPhase;
use crate::port::Port;
use crate::protocols::Protocols;
use crate::service::WebhookService;

/// Serves the connections of the webhooks.
pub(crate) struct ConnectionHandler<H> {
    service: Arc<WebhookService<H>>,
    tls: TlsAcceptor,
    limits: Limits,
    #[cfg_attr(not(feature = "http2"), expect(dead_code, reason = "there is one version to choose from"))]
    protocols: Protocols,
    metrics: Metrics,
    served: AtomicU64,
}

impl<H: ReviewHandler> ConnectionHandler<H> {
    pub(crate) fn new(
        service: WebhookService<H>,
        tls: Arc<rustls::ServerConfig>,
        limits: Limits,
        protocols: Protocols,
        metrics: Metrics,
    ) -> Self {
        let (service, served) = (Arc::new(service), AtomicU64::default());
        Self { service, tls: tls.into(), limits, protocols, metrics, served }
    }

    /// Serves a connection until it ends.
    pub(crate) async fn serve_connection(
        self: Arc<Self>,
        socket: TcpStream,
        progress: Arc<RequestProgress>,
        phase: watch::Receiver<ServerPhase>,
    ) {
        let _counted = self.metrics.connection();
        let Some(stream) = self.handshake(socket).await else { return };
        let number = self.served.fetch_add(1, Ordering::Relaxed);
        let state = Arc::new(ConnectionState::new(progress, self.limits.age, number));
        let ended = self.serve_http(stream, &state, phase).await;
        self.count_end(&state, ended.err().as_ref());
    }

    async fn serve_http(
        &self,
        stream: TlsStream<TcpStream>,
        state: &Arc<ConnectionState>,
        phase: watch::Receiver<ServerPhase>,
    ) -> hyper::Result<()> {
        let session = Session { limits: &self.limits, state, phase };
        let respond = |request| {
            let (service, state) = (Arc::clone(&self.service), Arc::clone(state));
            async move { service.call(request, &state).await }
        };
        #[cfg(feature = "http2")]
        if let Some(limits) = http2::agreed(&self.protocols, &stream) {
            return http2::serve(stream, limits, session, respond).await;
        }
        http1::serve(stream, session, respond).await
    }

    async fn handshake(&self, socket: TcpStream) -> Option<TlsStream<TcpStream>> {
        let stream = handshake(socket, &self.tls, &self.limits, Port::Webhooks).await;
        stream.inspect_err(|failure| self.metrics.handshake_failed(*failure)).ok()
    }

    fn count_end(&self, state: &ConnectionState, error: Option<&hyper::Error>) {
        let kind = match (state.activity().timed_out(), error) {
            // A connection that timed out while it was idle ends without an error.
            (Some(timeout), _) => ConnectionError::TimedOut(timeout),
            (None, Some(error)) if error.is_parse() => ConnectionError::Malformed,
            (None, Some(_)) => ConnectionError::Broken,
            (None, None) => return,
        };
        self.metrics.connection_failed(kind);
        tracing::debug!(target: TARGET, ?kind, ?error, "connection ended");
    }
}
