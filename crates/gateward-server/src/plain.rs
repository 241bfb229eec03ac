//! Pages over plain HTTP: probes and metrics. They take little, answer at once, and know nothing of reviews.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
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
    /// The page for a request; `None` is answered with 404.
    fn page(&self, request: &PlainRequest<'_>) -> Option<Page>;
}

/// A listener that serves pages until it is dropped.
#[derive(Debug)]
#[must_use = "the listener closes when this is dropped"]
pub struct PlainServer {
    address: SocketAddr,
    _phase: watch::Sender<Phase>,
}

impl PlainServer {
    /// Binds an address (port 0 takes a free one) and serves at once, on the runtime of the caller.
    pub async fn bind(address: SocketAddr, pages: impl Pages) -> Result<Self, BindError> {
        let (listener, address) = bind(address).await?;
        let (phase, watched) = watch::channel(Phase::Serving);
        tokio::spawn(serve(listener, watched, Arc::new(pages)));
        Ok(Self { address, _phase: phase })
    }

    /// The bound address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Few, small and quick: a kubelet and a scraper or two.
fn limits() -> Limits {
    Limits { connections: Cap::at_most(64), head_size: ByteSize::kibibytes(16), ..Limits::default() }
}

async fn serve(listener: TcpListener, phase: watch::Receiver<Phase>, pages: Arc<impl Pages>) {
    let door = Door::new(limits().connections);
    accept(
        listener,
        door,
        phase,
        || {},
        |socket, seat, phase| {
            let pages = Arc::clone(&pages);
            async move {
                let _seat = seat;
                converse(socket, phase, pages).await;
            }
        },
    )
    .await;
}

async fn converse(socket: TcpStream, mut phase: watch::Receiver<Phase>, pages: Arc<impl Pages>) {
    let (limits, activity) = (limits(), Arc::<Activity>::default());
    let patience = Patience { idle: limits.idle, head: Some(limits.head), write: limits.write };
    let stream = Guarded::new(socket, Arc::clone(&activity), patience, Duration::ZERO);
    let service = service_fn(|request| {
        let _busy = activity.begin();
        let response = answer(&request, &*pages);
        async { Ok::<_, Infallible>(response) }
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

fn answer(request: &Request<Incoming>, pages: &impl Pages) -> Response<Full<Bytes>> {
    let (path, query) = (request.uri().path(), request.uri().query());
    let accept = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    match pages.page(&PlainRequest { path, query, accept }) {
        None => text(StatusCode::NOT_FOUND, "there is no such page\n"),
        Some(_) if !matches!(*request.method(), Method::GET | Method::HEAD) => {
            let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "a page is fetched by GET\n");
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            response
        }
        Some(page) => response(page),
    }
}

fn text(status: StatusCode, body: &str) -> Response<Full<Bytes>> {
    response(Page { status: status.as_u16(), content_type: "text/plain; charset=utf-8", body: body.to_owned() })
}

fn response(page: Page) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(page.body)));
    *response.status_mut() = StatusCode::from_u16(page.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(page.content_type));
    response
}
