//! An admin listener, on a thread and a runtime of its own, so that no work on reviews delays a probe.

use std::convert::Infallible;
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
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};

use super::response::HttpResponse;
use crate::accept::accept;
use crate::bind::{BindError, bind};
use crate::connection::timeout_stream::TimeoutStream;
use crate::connection::timeouts::{Activity, ConnectionTimeouts};
use crate::limits::connection_limit::{ConnectionLimit, InFlight, RequestProgress};
use crate::limits::{ByteSize, Cap, Limits, open_files};
use crate::outgoing::outgoing;
use crate::phase::ServerPhase;
use crate::refusals::Refusals;

/// How long a peer may take to read a response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

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
        ..Limits::default()
    }
}

/// Serves a connection until the response to its first request is written.
pub(super) async fn serve_connection<S, F>(
    stream: S,
    progress: &Arc<RequestProgress>,
    mut phase: watch::Receiver<ServerPhase>,
    respond: impl Fn(Request<Incoming>) -> F,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Future<Output = HttpResponse>,
{
    let (Limits { idle, head, write, head_size, .. }, activity) = (limits(), Arc::<Activity>::default());
    let timeouts = ConnectionTimeouts { idle, head: Some(head), write, response: RESPONSE_TIMEOUT };
    let stream = TimeoutStream::new(stream, Arc::clone(&activity), timeouts, Duration::ZERO);
    let service = service_fn(|request| {
        let (active, in_flight) = (activity.begin(), progress.receive().complete());
        let response = respond(request);
        async move {
            let _active = active;
            Ok::<_, Infallible>(close_after(response.await, in_flight))
        }
    });
    let mut builder = http1::Builder::new();
    builder.header_read_timeout(None).max_buf_size(head_size.get());
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // How an admin connection ends is not counted.
        _ = connection => {}
        _ = phase.wait_for(|phase| *phase >= ServerPhase::Closing) => {}
    }
}

/// Closes the connection after the response: probes and scrapers come seconds apart, and an idle connection would take
/// the place of an active one.
fn close_after(response: HttpResponse, in_flight: InFlight) -> Response<Full<Bytes>> {
    let mut response = response.map(|body| Full::new(outgoing(body, in_flight)));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
