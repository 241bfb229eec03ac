//! HTTP/1.1, the version that the API server speaks to webhooks.

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::connection::drive::drive;
use crate::connection::session::Session;
use crate::handler::ReviewHandler;

/// Serves a connection until it ends.
pub(super) async fn serve<H: ReviewHandler>(
    stream: TlsStream<TcpStream>,
    session: Session<'_, H>,
) -> hyper::Result<()> {
    let stream = session.stream(stream, Some(session.limits.head));
    let head_size = session.limits.head_size.get();
    let mut builder = http1::Builder::new();
    // `TimeoutStream` times heads: the library's own timer also runs while a connection is idle.
    builder.header_read_timeout(None).max_buf_size(head_size).max_header_size(head_size);
    let connection = builder.serve_connection(TokioIo::new(stream), service_fn(|request| session.call(request)));
    drive(connection, session.state, session.phase.clone(), http1::Connection::graceful_shutdown).await
}
