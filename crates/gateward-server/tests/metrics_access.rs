//! Metrics over TLS: only authorized callers read them, and others cost little.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what can't be set up is a failed test, and one of them is a token that panics"
)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gateward_certs::Ca;
use gateward_server::{Authorization, Authorizer, CertResolver, ClientTrust, HttpsServer, Metrics};
use support::client::{Client, Response, within_timeout};
use support::log::{Log, everything_logged};
use support::{ANYWHERE, ca, serving_certificate, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// Authorizes tokens by their names, and counts its calls.
#[derive(Clone, Default)]
struct Tokens(Arc<Calls>);

struct Calls {
    total: AtomicUsize,
    running: AtomicUsize,
    release: Semaphore,
}

impl Default for Calls {
    fn default() -> Self {
        Self { total: AtomicUsize::new(0), running: AtomicUsize::new(0), release: Semaphore::new(0) }
    }
}

/// A call that runs until this is dropped.
struct Running<'a>(&'a AtomicUsize);

impl<'a> Running<'a> {
    fn new(running: &'a AtomicUsize) -> Self {
        running.fetch_add(1, Ordering::SeqCst);
        Self(running)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Authorizer for Tokens {
    async fn authorize(&self, path: &str, token: Option<&str>) -> Authorization {
        assert_eq!(path, "/metrics");
        self.0.total.fetch_add(1, Ordering::SeqCst);
        match token {
            None => Authorization::Unauthenticated,
            Some("scraper") => Authorization::Allowed,
            Some("stranger") => Authorization::Forbidden,
            Some("slow") => {
                let _running = Running::new(&self.0.running);
                self.0.release.acquire().await.unwrap().forget();
                Authorization::Allowed
            }
            Some("panics") => panic!("of the authorizer"),
            Some(_) => Authorization::Unknown,
        }
    }
}

struct MetricsServer {
    server: HttpsServer,
    ca: Ca,
    tokens: Tokens,
}

async fn metrics_server() -> MetricsServer {
    let (ca, tokens) = (ca(), Tokens::default());
    let certificate = CertResolver::new(serving_certificate(&ca));
    let server = serve(&certificate, &tokens).await;
    MetricsServer { server, ca, tokens }
}

async fn serve(certificate: &CertResolver, tokens: &Tokens) -> HttpsServer {
    let metrics = Metrics::new("otter");
    HttpsServer::bind(ANYWHERE.parse().unwrap(), certificate, tokens.clone(), metrics.clone(), &metrics).await.unwrap()
}

fn trust(ca: &Ca) -> ClientTrust {
    ClientTrust { ca_certificates: vec![ca.certificate().clone()], server_name: "localhost".try_into().unwrap() }
}

fn request(method: &str, target: &str, token: Option<&str>) -> Vec<u8> {
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n{token}\r\n").into_bytes()
}

impl MetricsServer {
    async fn client(&self) -> Client {
        Client::connect(self.server.address(), &trust(&self.ca)).await.unwrap()
    }

    async fn get(&self, token: Option<&str>) -> Response {
        self.client().await.ask(&request("GET", "/metrics", token)).await
    }

    fn calls(&self) -> usize {
        self.tokens.0.total.load(Ordering::SeqCst)
    }

    /// How many calls of the authorizer are running.
    fn running(&self) -> usize {
        self.tokens.0.running.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn an_authorized_caller_reads_the_metrics() {
    let metrics = metrics_server().await;
    let response = metrics.get(Some("scraper")).await;
    assert_eq!(response.status, 200);
    assert!(String::from_utf8(response.body).unwrap().contains("otter_webhook_panics_total 0\n"));
}

#[tokio::test]
async fn other_callers_read_nothing() {
    let metrics = metrics_server().await;
    for (token, status) in [(None, 401), (Some("stranger"), 403), (Some("unknown"), 503), (Some("panics"), 503)] {
        let response = metrics.get(token).await;
        assert_eq!(response.status, status, "{token:?}");
        assert!(!String::from_utf8_lossy(&response.body).contains("otter"), "{response:?}");
        assert_eq!(response.header("www-authenticate"), (status == 401).then_some("Bearer"), "{token:?}");
    }
    assert_eq!(metrics.get(Some("scraper")).await.status, 200, "a panic cost one response");
}

#[tokio::test]
async fn a_response_closes_its_connection() {
    let metrics = metrics_server().await;
    for (token, status) in [(None, 401), (Some("scraper"), 200)] {
        let mut client = metrics.client().await;
        let response = client.ask(&request("GET", "/metrics", token)).await;
        assert_eq!((response.status, response.header("connection")), (status, Some("close")));
        client.closed().await;
    }
}

#[tokio::test]
async fn an_unknown_path_is_not_authorized() {
    let metrics = metrics_server().await;
    for target in ["/", "/metrics/", "/healthz", "/..%2fmetrics"] {
        let response = metrics.client().await.ask(&request("GET", target, Some("scraper"))).await;
        assert_eq!(response.status, 404, "{target}");
    }
    let response = metrics.client().await.ask(&request("POST", "/metrics", Some("scraper"))).await;
    assert_eq!((response.status, response.header("allow")), (405, Some("GET, HEAD")));
    assert_eq!(metrics.calls(), 0);
}

#[tokio::test]
async fn a_slow_authorization_delays_no_other() {
    let metrics = metrics_server().await;
    let mut slow = metrics.client().await;
    slow.send(&request("GET", "/metrics", Some("slow"))).await.unwrap();
    until("the authorizer is running", || metrics.running() == 1).await;
    assert_eq!(metrics.get(Some("scraper")).await.status, 200);
    metrics.tokens.0.release.add_permits(1);
    assert_eq!(slow.response().await.unwrap().status, 200);
}

#[tokio::test]
async fn an_authorization_is_dropped_with_its_connection() {
    let metrics = metrics_server().await;
    let mut slow = metrics.client().await;
    slow.send(&request("GET", "/metrics", Some("slow"))).await.unwrap();
    until("the authorizer is running", || metrics.running() == 1).await;
    drop(slow);
    until("the authorizer is dropped", || metrics.running() == 0).await;
}

#[tokio::test]
async fn a_slow_head_times_out() {
    let metrics = metrics_server().await;
    let mut client = metrics.client().await;
    client.send(b"GET /metrics HTTP/1.1\r\nX: ").await.unwrap();
    client.closed().await;
}

#[tokio::test]
async fn handshakes_fail_until_there_is_a_certificate() {
    let (ca, certificate, tokens) = (ca(), CertResolver::empty(), Tokens::default());
    let server = serve(&certificate, &tokens).await;
    assert!(Client::connect(server.address(), &trust(&ca)).await.is_err());
    certificate.set(serving_certificate(&ca));
    let mut client = Client::connect(server.address(), &trust(&ca)).await.unwrap();
    assert_eq!(client.ask(&request("GET", "/metrics", Some("scraper"))).await.status, 200);
}

#[tokio::test]
async fn plain_http_garbage_and_idle_connections_are_closed() {
    let metrics = metrics_server().await;
    for garbage in [&b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], &[0; 600], b""] {
        let mut socket = TcpStream::connect(metrics.server.address()).await.unwrap();
        socket.write_all(garbage).await.unwrap();
        let mut answer = Vec::new();
        let _ = within_timeout(socket.read_to_end(&mut answer)).await;
        assert!(!String::from_utf8_lossy(&answer).contains("HTTP"), "{answer:?}");
    }
    assert_eq!(metrics.get(Some("scraper")).await.status, 200);
}

#[tokio::test]
async fn an_overlong_token_is_431() {
    let metrics = metrics_server().await;
    assert_eq!(metrics.get(Some(&"x".repeat(100_000))).await.status, 431);
    assert_eq!(metrics.calls(), 0);
}

#[tokio::test]
async fn no_token_is_logged_at_any_level() {
    tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_ansi(false).with_writer(|| Log).init();
    let metrics = metrics_server().await;
    for token in ["scraper", "stranger", "some-secret", "panics"] {
        metrics.get(Some(token)).await;
    }
    let _ = TcpStream::connect(metrics.server.address()).await.unwrap().write_all(b"no TLS").await;
    until("the log is captured", || everything_logged().contains("TLS handshake failed")).await;
    let logged = everything_logged();
    for token in ["scraper", "stranger", "some-secret"] {
        assert!(!logged.contains(token), "{logged}");
    }
}
