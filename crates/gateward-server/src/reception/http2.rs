//! HTTP/2, for those who ask for it: every limit that keeps a peer from taking more than an HTTP/1.1 connection could.

use std::sync::Arc;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::server::TlsStream;

use super::{Reception, drive};
use crate::answerer::Answerer;
use crate::conversation::Conversation;
use crate::guard::Guarded;
use crate::phase::Phase;
use crate::protocols::{Http2Limits, Protocols};

/// What the peer may take, where the handshake agreed on HTTP/2.
pub(super) fn agreed<'a>(protocols: &'a Protocols, stream: &TlsStream<TcpStream>) -> Option<&'a Http2Limits> {
    match protocols {
        Protocols::Http1AndHttp2(limits) if stream.get_ref().1.alpn_protocol() == Some(b"h2") => Some(limits),
        _ => None,
    }
}

pub(super) async fn speak<A: Answerer>(
    reception: &Arc<Reception<A>>,
    stream: TlsStream<TcpStream>,
    limits: &Http2Limits,
    conversation: &Arc<Conversation>,
    phase: watch::Receiver<Phase>,
) -> hyper::Result<()> {
    // A connection rests while no request is in work; frames of the protocol itself win it no time.
    let activity = Arc::clone(conversation.activity());
    let stream = Guarded::new(stream, activity, reception.patience(), reception.limits.linger);
    let service = service_fn(|request| reception.answer(request, conversation));
    let connection = builder(limits).serve_connection(TokioIo::new(stream), service);
    drive(connection, conversation, phase, http2::Connection::graceful_shutdown).await
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
