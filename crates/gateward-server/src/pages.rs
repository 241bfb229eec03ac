//! Pages that people, probes and scrapers fetch. They are small, and know nothing of reviews.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode, request};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::accept::{Door, accept};
use crate::bind::{BindError, bind};
use crate::guard::Guarded;
use crate::limits::{ByteSize, Cap, Limits};
use crate::patience::{Activity, Patience};
use crate::phase::Phase;

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
    /// Binds an address and spawns `receive` for each connection, on the runtime of the caller.
    pub(crate) async fn bind<F: Future<Output = ()> + Send + 'static>(
        address: SocketAddr,
        receive: impl Fn(TcpStream, watch::Receiver<Phase>) -> F + Send + Sync + 'static,
    ) -> Result<Self, BindError> {
        let (listener, address) = bind(address).await?;
        let (phase, watched) = watch::channel(Phase::Serving);
        let door = Door::new(limits().connections);
        tokio::spawn(async move {
            let seated = |socket, seat, phase| {
                let conversation = receive(socket, phase);
                async move {
                    let _seat = seat;
                    conversation.await;
                }
            };
            accept(listener, door, watched, || {}, seated).await;
        });
        Ok(Self { address, _phase: phase })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A listener's answer.
pub(crate) type Answered = Response<Full<Bytes>>;

/// Few, small and quick: a kubelet and a scraper or two.
pub(crate) fn limits() -> Limits {
    Limits { connections: Cap::at_most(64), head_size: ByteSize::kibibytes(16), ..Limits::default() }
}

/// Serves a connection until it ends.
pub(crate) async fn converse<S, F>(
    stream: S,
    mut phase: watch::Receiver<Phase>,
    answer: impl Fn(Request<Incoming>) -> F,
) where
    S: AsyncRead + AsyncWrite + Unpin,
    F: Future<Output = Answered>,
{
    let (limits, activity) = (limits(), Arc::<Activity>::default());
    let patience = Patience { idle: limits.idle, head: Some(limits.head), write: limits.write };
    let stream = Guarded::new(stream, Arc::clone(&activity), patience, Duration::ZERO);
    let service = service_fn(|request| {
        let (busy, answer) = (activity.begin(), answer(request));
        async move {
            let _busy = busy;
            Ok::<_, Infallible>(answer.await)
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
    let mut response = Response::new(Full::new(Bytes::from(page.body)));
    *response.status_mut() = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    response
}
