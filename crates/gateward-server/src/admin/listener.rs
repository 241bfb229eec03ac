//! An admin listener, on a thread and a runtime of its own, so that no work on reviews delays a probe.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, HeaderValue};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};

use super::response::HttpResponse;
use crate::accept::accept;
use crate::bind::{BindError, bind};
use crate::connection::http1;
use crate::connection::session::Session;
use crate::connection::state::ConnectionState;
use crate::limits::connection_limit::{ConnectionLimit, InFlight, RequestProgress};
use crate::limits::{ByteSize, Cap, Limits, open_files};
use crate::outgoing::outgoing;
use crate::phase::ServerPhase;
use crate::refusals::Refusals;

/// An admin listener; it closes when it is dropped.
#[derive(Debug)]
pub(super) struct AdminListener {
    address: SocketAddr,
    _phase: watch::Sender<ServerPhase>,
}

impl AdminListener {
    /// Binds an address and serves each connection with `serve`, on a thread of its own.
    pub(super) async fn bind<F: Future<Output = ()> + Send + 'static>(
        address: SocketAddr,
        refusals: Refusals,
        serve: impl Fn(TcpStream, Arc<RequestProgress>, watch::Receiver<ServerPhase>) -> F + Send + Sync + 'static,
    ) -> Result<Self, BindError> {
        let no_thread = |source| BindError::Thread { address, source };
        let (phase, watched) = watch::channel(ServerPhase::Serving);
        let (bound, is_bound) = oneshot::channel();
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_thread)?;
        let name = refusals.port().as_str().to_owned();
        let listening = async move {
            let (listener, taken) = match bind(address) {
                Ok((listener, address)) => (Some(listener), Ok(address)),
                Err(error) => (None, Err(error)),
            };
            // A caller that has dropped the receiver has dropped the phase too, which ends accepting at once.
            let _ = bound.send(taken);
            if let Some(listener) = listener {
                let connections = ConnectionLimit::new(open_files::for_admin(limits().connections));
                accept(listener, connections, watched, refusals, serve).await;
            }
        };
        thread::Builder::new().name(name).spawn(move || runtime.block_on(listening)).map_err(no_thread)?;
        let ended = |_| no_thread(io::Error::other("it ended at once"));
        let address = is_bound.await.map_err(ended)??;
        Ok(Self { address, _phase: phase })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Low limits: the callers are a kubelet and a few scrapers.
pub(super) fn limits() -> Limits {
    let short = Duration::from_secs(3);
    Limits {
        connections: Cap::at_most(64),
        handshake: short,
        idle: short,
        head: short,
        write: short,
        head_size: ByteSize::kibibytes(16),
        deadline: Duration::from_secs(10),
        linger: Duration::ZERO,
        ..Limits::default()
    }
}

/// Serves a connection until the response to its first request is written. How it ends is not counted.
pub(super) async fn serve_connection<S, F>(
    stream: S,
    progress: Arc<RequestProgress>,
    phase: watch::Receiver<ServerPhase>,
    respond: impl Fn(Request<Incoming>) -> F,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Future<Output = HttpResponse>,
{
    let (limits, state) = (limits(), Arc::new(ConnectionState::new(progress, Duration::MAX, 0)));
    let session = Session { limits: &limits, state: &state, phase };
    let respond = |request| {
        let (active, in_flight) = (state.activity().begin(), state.progress().receive().complete());
        let response = respond(request);
        async move {
            let _active = active;
            close_after(response.await, in_flight)
        }
    };
    let _ended = http1::serve(stream, session, respond).await;
}

/// Closes the connection after the response: probes and scrapers come seconds apart, and an idle connection would take
/// the place of an active one.
fn close_after(response: HttpResponse, in_flight: InFlight) -> Response<Full<Bytes>> {
    let mut response = response.map(|body| Full::new(outgoing(body, in_flight.answered())));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
