//! HTTP/1.1, the version that the API server speaks to webhooks, and that probes and scrapers speak.

use std::convert::Infallible;
use std::future::Future;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::connection::drive::drive;
use crate::connection::session::Session;

/// Serves a connection until it ends.
pub(crate) async fn serve<S, F>(
    stream: S,
    session: Session<'_>,
    respond: impl Fn(Request<Incoming>) -> F,
) -> hyper::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Future<Output = Response<Full<Bytes>>>,
{
    let stream = session.stream(stream, Some(session.limits.head));
    let head_size = session.limits.head_size.get();
    let mut builder = http1::Builder::new();
    // `TimeoutStream` times heads: the library's own timer also runs while a connection is idle.
    builder.header_read_timeout(None).max_buf_size(head_size).max_header_size(head_size);
    let service = service_fn(|request| {
        let response = respond(request);
        async move { Ok::<_, Infallible>(response.await) }
    });
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    drive(connection, session.state, session.phase, http1::Connection::graceful_shutdown).await
}
