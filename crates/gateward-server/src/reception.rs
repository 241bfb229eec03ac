//! One connection from its handshake to its end.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::answerer::Answerer;
use crate::connections::ConnectionState;
use crate::conversation::Conversation;
use crate::desk::Desk;
use crate::guard::Guarded;
use crate::journal::TARGET;
use crate::limits::Limits;
use crate::metrics::{ConnectionError, HandshakeFailure, Metrics};
use crate::patience::Patience;
use crate::phase::Phase;
use crate::protocols::Protocols;

#[cfg(feature = "http2")]
mod http2;

/// Where connections of a listener are received.
pub(crate) struct Reception<A> {
    desk: Desk<A>,
    tls: TlsAcceptor,
    limits: Limits,
    #[cfg_attr(not(feature = "http2"), expect(dead_code, reason = "there is nothing to choose from"))]
    protocols: Protocols,
    metrics: Metrics,
    received: AtomicU64,
}

impl<A: Answerer> Reception<A> {
    pub(crate) fn new(
        desk: Desk<A>,
        tls: Arc<rustls::ServerConfig>,
        limits: Limits,
        protocols: Protocols,
        metrics: Metrics,
    ) -> Self {
        Self { desk, tls: tls.into(), limits, protocols, metrics, received: AtomicU64::default() }
    }

    /// Serves a connection until it ends.
    pub(crate) async fn converse(
        self: Arc<Self>,
        socket: TcpStream,
        state: Arc<ConnectionState>,
        phase: watch::Receiver<Phase>,
    ) {
        let _counted = self.metrics.connection();
        let Some(stream) = self.handshake(socket).await else { return };
        let number = self.received.fetch_add(1, Ordering::Relaxed);
        let conversation = Arc::new(Conversation::new(state, self.limits.age, number));
        let ended = self.speak(stream, &conversation, phase).await;
        self.count_end(&conversation, ended.err().as_ref());
    }

    async fn speak(
        self: &Arc<Self>,
        stream: TlsStream<TcpStream>,
        conversation: &Arc<Conversation>,
        phase: watch::Receiver<Phase>,
    ) -> hyper::Result<()> {
        #[cfg(feature = "http2")]
        if let Some(limits) = http2::agreed(&self.protocols, &stream) {
            return http2::speak(self, stream, limits, conversation, phase).await;
        }
        self.http1(stream, conversation, phase).await
    }

    async fn handshake(&self, socket: TcpStream) -> Option<TlsStream<TcpStream>> {
        // Answers are small and must not wait for company; a socket that refuses this still works.
        let _ = socket.set_nodelay(true);
        let (failure, why) = match timeout(self.limits.handshake, self.tls.accept(socket)).await {
            Ok(Ok(stream)) => return Some(stream),
            Ok(Err(error)) => (HandshakeFailure::Tls, error.to_string()),
            Err(_elapsed) => (HandshakeFailure::Timeout, "it took too long".to_owned()),
        };
        self.metrics.handshake_failed(failure);
        tracing::debug!(target: TARGET, why, "TLS handshake failed");
        None
    }

    async fn http1(
        self: &Arc<Self>,
        stream: TlsStream<TcpStream>,
        conversation: &Arc<Conversation>,
        phase: watch::Receiver<Phase>,
    ) -> hyper::Result<()> {
        let patience = Patience { head: Some(self.limits.head), ..self.patience() };
        let stream = Guarded::new(stream, Arc::clone(conversation.activity()), patience, self.limits.linger);
        let head_size = self.limits.head_size.get();
        let mut builder = http1::Builder::new();
        // Heads and idle connections are timed by the guard.
        builder.header_read_timeout(None).max_buf_size(head_size).max_header_size(head_size);
        let service = service_fn(|request| self.answer(request, conversation));
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        drive(connection, conversation, phase, http1::Connection::graceful_shutdown).await
    }

    fn answer(
        self: &Arc<Self>,
        request: Request<Incoming>,
        conversation: &Arc<Conversation>,
    ) -> impl Future<Output = Result<Response<Full<Bytes>>, Infallible>> + Send + 'static {
        let (this, conversation) = (Arc::clone(self), Arc::clone(conversation));
        async move { Ok(this.desk.handle(request, &conversation).await) }
    }

    fn patience(&self) -> Patience {
        // Nobody waits for longer than a deadline may be.
        Patience { idle: self.limits.idle, head: None, write: self.limits.write, answer: self.limits.deadline }
    }

    fn count_end(&self, conversation: &Conversation, error: Option<&hyper::Error>) {
        let kind = match (conversation.activity().given_up(), error) {
            // A connection that was given up while it rested ends without an error.
            (Some(silence), _) => ConnectionError::Silent(silence),
            (None, Some(error)) if error.is_parse() => ConnectionError::Malformed,
            (None, Some(_)) => ConnectionError::Broken,
            (None, None) => return,
        };
        self.metrics.connection_failed(kind);
        tracing::debug!(target: TARGET, ?kind, ?error, "connection ended");
    }
}

/// Polls a connection to its end, and tells it when it is to end for its age or with the server.
async fn drive<C: Future<Output = hyper::Result<()>>>(
    connection: C,
    conversation: &Conversation,
    mut phase: watch::Receiver<Phase>,
    say_goodbye: impl Fn(Pin<&mut C>),
) -> hyper::Result<()> {
    let mut connection = pin!(connection);
    tokio::select! {
        biased;
        ended = connection.as_mut() => return ended,
        () = conversation.goodbye() => {}
        // An error means that the server was dropped, which the second wait sees too.
        _ = phase.wait_for(|phase| *phase >= Phase::Closing) => {}
    }
    say_goodbye(connection.as_mut());
    tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        _ = phase.wait_for(|phase| *phase >= Phase::Cut) => Ok(()),
    }
}
