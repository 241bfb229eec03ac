//! Metrics over TLS: nobody reads them but who may, and nobody who may not costs much.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what can't be set up is a failed test, and one of them is a trap"
)]

mod scene;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gateward_certs::Ca;
use gateward_server::{Authorize, IdentitySlot, Metrics, Permission, SecureServer, Trust};
use scene::client::{Client, Response, patiently};
use scene::log::{Log, everything_logged};
use scene::{ANYWHERE, authority, leaf, until};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// Knows some tokens by what they are called, and counts what it is asked.
#[derive(Clone, Default)]
struct Book(Arc<Entries>);

struct Entries {
    asked: AtomicUsize,
    asking: AtomicUsize,
    wake: Semaphore,
}

impl Default for Entries {
    fn default() -> Self {
        Self { asked: AtomicUsize::new(0), asking: AtomicUsize::new(0), wake: Semaphore::new(0) }
    }
}

/// A question that is open until this is dropped.
struct Open<'a>(&'a AtomicUsize);

impl<'a> Open<'a> {
    fn new(questions: &'a AtomicUsize) -> Self {
        questions.fetch_add(1, Ordering::SeqCst);
        Self(questions)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Authorize for Book {
    async fn may_read(&self, path: &str, token: Option<&str>) -> Permission {
        assert_eq!(path, "/metrics");
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        match token {
            None => Permission::Unauthenticated,
            Some("scraper") => Permission::Granted,
            Some("stranger") => Permission::Forbidden,
            Some("slow") => {
                let _open = Open::new(&self.0.asking);
                self.0.wake.acquire().await.unwrap().forget();
                Permission::Granted
            }
            Some("trap") => panic!("a trap"),
            Some(_) => Permission::Unknown,
        }
    }
}

struct Guarded {
    server: SecureServer,
    authority: Ca,
    book: Book,
}

async fn guarded() -> Guarded {
    let (authority, book) = (authority(), Book::default());
    let identity = IdentitySlot::holding(leaf(&authority));
    let server = serve(&identity, &book).await;
    Guarded { server, authority, book }
}

async fn serve(identity: &IdentitySlot, book: &Book) -> SecureServer {
    let metrics = Metrics::new("otter");
    SecureServer::bind(ANYWHERE.parse().unwrap(), identity, book.clone(), metrics.clone(), &metrics).await.unwrap()
}

fn trust(authority: &Ca) -> Trust {
    Trust { authorities: vec![authority.certificate().clone()], name: "localhost".try_into().unwrap() }
}

fn request(method: &str, target: &str, token: Option<&str>) -> Vec<u8> {
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n{token}\r\n").into_bytes()
}

impl Guarded {
    async fn client(&self) -> Client {
        Client::connect(self.server.address(), &trust(&self.authority)).await.unwrap()
    }

    async fn get(&self, token: Option<&str>) -> Response {
        self.client().await.ask(&request("GET", "/metrics", token)).await
    }

    fn asked(&self) -> usize {
        self.book.0.asked.load(Ordering::SeqCst)
    }

    /// How many questions are open.
    fn asking(&self) -> usize {
        self.book.0.asking.load(Ordering::SeqCst)
    }
}

#[tokio::test]
async fn who_may_reads_the_metrics() {
    let guarded = guarded().await;
    let response = guarded.get(Some("scraper")).await;
    assert_eq!(response.status, 200);
    assert!(String::from_utf8(response.body).unwrap().contains("otter_webhook_panics_total 0\n"));
}

#[tokio::test]
async fn nobody_else_sees_a_line_of_them() {
    let guarded = guarded().await;
    for (token, status) in [(None, 401), (Some("stranger"), 403), (Some("unheard-of"), 503), (Some("trap"), 503)] {
        let response = guarded.get(token).await;
        assert_eq!(response.status, status, "{token:?}");
        assert!(!String::from_utf8_lossy(&response.body).contains("otter"), "{response:?}");
        assert_eq!(response.header("www-authenticate"), (status == 401).then_some("Bearer"), "{token:?}");
    }
    assert_eq!(guarded.get(Some("scraper")).await.status, 200, "a panic cost one answer");
}

#[tokio::test]
async fn a_connection_ends_with_its_answer() {
    let guarded = guarded().await;
    for (token, status) in [(None, 401), (Some("scraper"), 200)] {
        let mut client = guarded.client().await;
        let response = client.ask(&request("GET", "/metrics", token)).await;
        assert_eq!((response.status, response.header("connection")), (status, Some("close")));
        client.hung_up().await;
    }
}

#[tokio::test]
async fn what_is_no_page_is_not_asked_about() {
    let guarded = guarded().await;
    for target in ["/", "/metrics/", "/healthz", "/..%2fmetrics"] {
        let response = guarded.client().await.ask(&request("GET", target, Some("scraper"))).await;
        assert_eq!(response.status, 404, "{target}");
    }
    let response = guarded.client().await.ask(&request("POST", "/metrics", Some("scraper"))).await;
    assert_eq!((response.status, response.header("allow")), (405, Some("GET, HEAD")));
    assert_eq!(guarded.asked(), 0);
}

#[tokio::test]
async fn who_waits_for_a_grant_keeps_nobody_else_waiting() {
    let guarded = guarded().await;
    let mut slow = guarded.client().await;
    slow.send(&request("GET", "/metrics", Some("slow"))).await.unwrap();
    until("the question is open", || guarded.asking() == 1).await;
    assert_eq!(guarded.get(Some("scraper")).await.status, 200);
    guarded.book.0.wake.add_permits(1);
    assert_eq!(slow.response().await.unwrap().status, 200);
}

#[tokio::test]
async fn a_question_whose_asker_hangs_up_is_dropped() {
    let guarded = guarded().await;
    let mut slow = guarded.client().await;
    slow.send(&request("GET", "/metrics", Some("slow"))).await.unwrap();
    until("the question is open", || guarded.asking() == 1).await;
    drop(slow);
    until("the question is dropped", || guarded.asking() == 0).await;
}

#[tokio::test]
async fn a_head_that_trickles_is_given_up() {
    let guarded = guarded().await;
    let mut client = guarded.client().await;
    client.send(b"GET /metrics HTTP/1.1\r\nX: ").await.unwrap();
    client.hung_up().await;
}

#[tokio::test]
async fn before_there_is_a_certificate_handshakes_fail_and_after_it_they_succeed() {
    let (authority, identity, book) = (authority(), IdentitySlot::empty(), Book::default());
    let server = serve(&identity, &book).await;
    assert!(Client::connect(server.address(), &trust(&authority)).await.is_err());
    identity.put(leaf(&authority));
    let mut client = Client::connect(server.address(), &trust(&authority)).await.unwrap();
    assert_eq!(client.ask(&request("GET", "/metrics", Some("scraper"))).await.status, 200);
}

#[tokio::test]
async fn plain_http_garbage_and_silence_are_turned_away() {
    let guarded = guarded().await;
    for garbage in [&b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], &[0; 600], b""] {
        let mut socket = TcpStream::connect(guarded.server.address()).await.unwrap();
        socket.write_all(garbage).await.unwrap();
        let mut answer = Vec::new();
        let _ = patiently(socket.read_to_end(&mut answer)).await;
        assert!(!String::from_utf8_lossy(&answer).contains("HTTP"), "{answer:?}");
    }
    assert_eq!(guarded.get(Some("scraper")).await.status, 200);
}

#[tokio::test]
async fn a_token_of_any_length_costs_no_more_than_a_head() {
    let guarded = guarded().await;
    assert_eq!(guarded.get(Some(&"x".repeat(100_000))).await.status, 431);
    assert_eq!(guarded.asked(), 0);
}

#[tokio::test]
async fn no_token_is_logged_however_much_is_logged() {
    tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_ansi(false).with_writer(|| Log).init();
    let guarded = guarded().await;
    for token in ["scraper", "stranger", "secret-of-nobody", "trap"] {
        guarded.get(Some(token)).await;
    }
    let _ = TcpStream::connect(guarded.server.address()).await.unwrap().write_all(b"no TLS").await;
    until("the log is listened to", || everything_logged().contains("TLS handshake for a page")).await;
    let logged = everything_logged();
    for token in ["scraper", "stranger", "secret-of-nobody"] {
        assert!(!logged.contains(token), "{logged}");
    }
}
