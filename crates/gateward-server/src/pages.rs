//! Pages that people, probes and scrapers fetch. They are small, and know nothing of reviews.
//!
//! Each listener of pages has a thread and a runtime of its own, so that no work on reviews delays a probe.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode, request};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Builder;
use tokio::sync::{oneshot, watch};

use crate::accept::accept;
use crate::bind::{BindError, bind};
use crate::connections::{ConnectionLimit, ConnectionState, InFlight};
use crate::files;
use crate::guard::Guarded;
use crate::limits::{ByteSize, Cap, Limits};
use crate::outgoing::outgoing;
use crate::patience::{Activity, Patience};
use crate::phase::Phase;
use crate::refusals::Refusals;

/// How long a peer may take over a page, however slow it is.
const LONGEST_ANSWER: Duration = Duration::from_secs(10);

/// What is known of a request for a page.
#[derive(Debug, Clone, Copy)]
pub struct PlainRequest<'a> {
    /// The path.
    pub path: &'a str,
    /// What stands after the question mark.
    pub query: Option<&'a str>,
    /// The header `Accept`.
    pub accept: Option<&'a str>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The HTTP status.
    pub status: u16,
    /// The content type.
    pub content_type: &'static str,
    /// The text.
    pub body: String,
}

/// Something that has pages.
pub trait Pages: Send + Sync + 'static {
    /// Whether there is a page at a path. It is asked before anything is known about who asks, so it costs nothing.
    fn has(&self, path: &str) -> bool;

    /// The page for a request; `None` is answered with 404.
    fn page(&self, request: &PlainRequest<'_>) -> Option<Page>;
}

/// A listener of pages, until it is dropped.
#[derive(Debug)]
pub(crate) struct PageListener {
    address: SocketAddr,
    _phase: watch::Sender<Phase>,
}

impl PageListener {
    /// Binds an address and serves each connection with `serve`, on a thread of its own.
    pub(crate) async fn bind<F: Future<Output = ()> + Send + 'static>(
        address: SocketAddr,
        refusals: Refusals,
        serve: impl Fn(TcpStream, Arc<ConnectionState>, watch::Receiver<Phase>) -> F + Send + Sync + 'static,
    ) -> Result<Self, BindError> {
        let no_thread = |source| BindError::Thread { address, source };
        let (phase, watched) = watch::channel(Phase::Serving);
        let (bound, is_bound) = oneshot::channel();
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_thread)?;
        let name = refusals.port().as_str().to_owned();
        let listening = async move {
            let (listener, taken) = match bind(address) {
                Ok((listener, address)) => (Some(listener), Ok(address)),
                Err(error) => (None, Err(error)),
            };
            // Who doesn't wait for it any more has dropped the phase too, which ends accepting at once.
            let _ = bound.send(taken);
            if let Some(listener) = listener {
                accept(
                    listener,
                    ConnectionLimit::new(files::for_pages(limits().connections)),
                    watched,
                    refusals,
                    serve,
                )
                .await;
            }
        };
        thread::Builder::new().name(name).spawn(move || runtime.block_on(listening)).map_err(no_thread)?;
        let ended = |_| no_thread(io::Error::other("it ended at once"));
        let address = is_bound.await.map_err(ended)??;
        Ok(Self { address, _phase: phase })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A listener's answer.
pub(crate) type Answered = Response<Vec<u8>>;

/// Few, small and quick: a kubelet and a scraper or two.
pub(crate) fn limits() -> Limits {
    let quick = Duration::from_secs(3);
    Limits {
        connections: Cap::at_most(64),
        handshake: quick,
        idle: quick,
        head: quick,
        write: quick,
        head_size: ByteSize::kibibytes(16),
        ..Limits::default()
    }
}

/// Serves a connection until its one request is answered.
pub(crate) async fn converse<S, F>(
    stream: S,
    state: &Arc<ConnectionState>,
    mut phase: watch::Receiver<Phase>,
    answer: impl Fn(Request<Incoming>) -> F,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Future<Output = Answered>,
{
    let (limits, activity) = (limits(), Arc::<Activity>::default());
    let patience = Patience { idle: limits.idle, head: Some(limits.head), write: limits.write, answer: LONGEST_ANSWER };
    let stream = Guarded::new(stream, Arc::clone(&activity), patience, Duration::ZERO);
    let service = service_fn(|request| {
        let (busy, in_flight) = (activity.begin(), state.receive().whole());
        let answer = answer(request);
        async move {
            let _busy = busy;
            Ok::<_, Infallible>(last(answer.await, in_flight))
        }
    });
    let mut builder = http1::Builder::new();
    builder.header_read_timeout(None).max_buf_size(limits.head_size.get());
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        // How such a connection ends concerns nobody.
        _ = connection => {}
        _ = phase.wait_for(|phase| *phase >= Phase::Closing) => {}
    }
}

/// Ends the connection with an answer: nobody who fetches a page needs another at once, and a connection that rests takes
/// the place of one that asks.
fn last(answer: Answered, in_flight: InFlight) -> Response<Full<Bytes>> {
    let mut response = answer.map(|body| Full::new(outgoing(body, in_flight)));
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Whether a request is for a page at all, whoever it comes from; the answer that says why not, else.
pub(crate) fn asked_for(head: &request::Parts, pages: &impl Pages) -> Result<(), Box<Answered>> {
    if !pages.has(head.uri.path()) {
        return Err(Box::new(absent()));
    }
    if !matches!(head.method, Method::GET | Method::HEAD) {
        let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "a page is fetched by GET\n");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return Err(Box::new(response));
    }
    Ok(())
}

/// The page that a request asks for.
pub(crate) fn page(head: &request::Parts, pages: &impl Pages) -> Answered {
    let accept = head.headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let request = PlainRequest { path: head.uri.path(), query: head.uri.query(), accept };
    pages.page(&request).map_or_else(absent, response)
}

fn absent() -> Answered {
    text(StatusCode::NOT_FOUND, "there is no such page\n")
}

/// A sentence with a status.
pub(crate) fn text(status: StatusCode, body: &str) -> Answered {
    response(Page { status: status.as_u16(), content_type: "text/plain; charset=utf-8", body: body.to_owned() })
}

fn response(page: Page) -> Answered {
    let mut response = Response::new(page.body.into_bytes());
    *response.status_mut() = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    response
}
