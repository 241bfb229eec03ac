//! What every connection of a listener has, whichever version of HTTP it speaks.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::access_log::TARGET;
use crate::connection::state::ConnectionState;
use crate::connection::timeout_stream::TimeoutStream;
use crate::connection::timeouts::ConnectionTimeouts;
use crate::limits::Limits;
use crate::metrics::HandshakeFailure;
use crate::phase::ServerPhase;
use crate::port::Port;

/// Does the TLS handshake of a connection to `port`.
pub(crate) async fn handshake(
    socket: TcpStream,
    tls: &TlsAcceptor,
    limits: &Limits,
    port: Port,
) -> Result<TlsStream<TcpStream>, HandshakeFailure> {
    // Responses are small and must not wait for more bytes; a socket that refuses the option still works.
    let _ = socket.set_nodelay(true);
    let (failure, why) = match timeout(limits.handshake, tls.accept(socket)).await {
        Ok(Ok(stream)) => return Ok(stream),
        Ok(Err(error)) => (HandshakeFailure::Tls, error.to_string()),
        Err(_elapsed) => (HandshakeFailure::Timeout, "it took too long".to_owned()),
    };
    tracing::debug!(target: TARGET, port = port.as_str(), why, "TLS handshake failed");
    Err(failure)
}

/// A connection after its handshake.
pub(crate) struct Session<'a> {
    pub limits: &'a Limits,
    pub state: &'a Arc<ConnectionState>,
    pub phase: watch::Receiver<ServerPhase>,
}

impl Session<'_> {
    /// The stream with the timeouts of the limits. `head` is `None` where bytes don't imply the head of a request.
    pub(super) fn stream<S>(&self, stream: S, head: Option<Duration>) -> TimeoutStream<S> {
        let Limits { idle, write, deadline, linger, .. } = *self.limits;
        // No caller waits for a response for longer than the longest deadline.
        let timeouts = ConnectionTimeouts { idle, head, write, response: deadline };
        TimeoutStream::new(stream, Arc::clone(self.state.activity()), timeouts, linger)
    }
}
