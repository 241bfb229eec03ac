//! HTTP/2 for peers that ask for it, with limits that keep a peer from taking more than an HTTP/1.1 connection could.

use std::convert::Infallible;
use std::future::Future;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::connection::drive::drive;
use crate::connection::session::Session;
use crate::protocols::{Http2Limits, Protocols};

/// The limits of HTTP/2, where the handshake agreed on it.
pub(super) fn agreed<'a>(protocols: &'a Protocols, stream: &TlsStream<TcpStream>) -> Option<&'a Http2Limits> {
    match protocols {
        Protocols::Http1AndHttp2(limits) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => Some(limits),
        _ => None,
    }
}

/// Serves a connection until it ends.
pub(super) async fn serve<F>(
    stream: TlsStream<TcpStream>,
    limits: &Http2Limits,
    session: Session<'_>,
    respond: impl Fn(Request<Incoming>) -> F,
) -> hyper::Result<()>
where
    F: Future<Output = Response<Full<Bytes>>> + Send + 'static,
{
    // The connection is idle while no request is in flight; frames of the protocol itself don't prolong it.
    let stream = session.stream(stream, None);
    let service = service_fn(|request| {
        let response = respond(request);
        async move { Ok::<_, Infallible>(response.await) }
    });
    let connection = builder(limits).serve_connection(TokioIo::new(stream), service);
    drive(connection, session.state, session.phase, http2::Connection::graceful_shutdown).await
}

fn builder(limits: &Http2Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams.get())
        .max_header_list_size(u32::try_from(limits.head_size.get()).unwrap_or(u32::MAX))
        .max_pending_accept_reset_streams(limits.pending_resets.get() as usize)
        .max_local_error_reset_streams(Some(limits.local_resets.get() as usize));
    builder
}
