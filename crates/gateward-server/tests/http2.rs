//! HTTP/2, where it is compiled in and switched on.
#![cfg(feature = "http2")]
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gateward_core::Facts;
use gateward_server::{ClientTrust, Http2Limits, Limits, Protocols, WebhooksHandler};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use support::client::{Client, config, post, within_timeout};
use support::otter::{Blocker, review, webhooks};
use support::{TestServer, VALIDATE, test_server, test_server_with, until};
use tokio::task::JoinHandle;

async fn both() -> TestServer {
    both_with(Limits::default()).await
}

async fn both_with(limits: Limits) -> TestServer {
    let blocker = Blocker::default();
    let facts = || Arc::new(()) as Arc<dyn Facts>;
    let handler = WebhooksHandler::new(Arc::new(webhooks(&blocker)), facts);
    test_server_with(handler, limits, Protocols::Http1AndHttp2(Http2Limits::default()), blocker).await
}

async fn offering_both(server: &TestServer) -> Client {
    let trust = server.trust();
    Client::connect_with(server.address(), &trust, config(&trust, &["h2", "http/1.1"])).await.unwrap()
}

type Sender = SendRequest<Full<Bytes>>;

async fn http2_client(server: &TestServer) -> Sender {
    http2_client_at(server.address(), &server.trust()).await
}

async fn http2_client_at(address: SocketAddr, trust: &ClientTrust) -> Sender {
    let client = Client::connect_with(address, trust, config(trust, &["h2", "http/1.1"])).await.unwrap();
    assert_eq!(client.protocol(), Some(&b"h2"[..]));
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(client.into_stream())).await.unwrap();
    tokio::spawn(connection);
    sender
}

async fn ask(sender: &mut Sender, body: Vec<u8>) -> Response<Incoming> {
    try_to_ask(sender, body).await.unwrap()
}

async fn try_to_ask(sender: &mut Sender, body: Vec<u8>) -> hyper::Result<Response<Incoming>> {
    let request = Request::post(format!("https://localhost{VALIDATE}")).header("content-type", "application/json");
    sender.send_request(request.body(Full::new(Bytes::from(body))).unwrap()).await
}

#[tokio::test]
async fn compiled_in_it_is_still_off() {
    let server = test_server(Limits::default()).await;
    assert_eq!(offering_both(&server).await.protocol(), Some(&b"http/1.1"[..]));
}

#[tokio::test]
async fn switched_on_both_protocols_answer() {
    let server = both().await;
    let mut sender = http2_client(&server).await;
    let response = ask(&mut sender, review("playful")).await;
    assert_eq!(response.status(), 200);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&body).unwrap()["response"]["allowed"], true);
    assert_eq!(server.client().await.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
}

#[tokio::test]
async fn body_limits_apply() {
    let server = both().await;
    let mut sender = http2_client(&server).await;
    assert_eq!(ask(&mut sender, vec![b' '; 9_000_000]).await.status(), 413);
    assert_eq!(ask(&mut sender, review("playful")).await.status(), 200);
}

#[tokio::test]
async fn an_overlong_head_reaches_no_handler() {
    let server = both().await;
    let mut sender = http2_client(&server).await;
    let request = Request::post(format!("https://localhost{VALIDATE}"))
        .header("content-type", "application/json")
        .header("x-long", "x".repeat(70_000))
        .body(Full::new(Bytes::from(review("playful"))));
    let refused = match sender.send_request(request.unwrap()).await {
        Ok(response) => response.status() == 431,
        Err(_) => true,
    };
    assert!(refused);
    server.still_serves().await;
}

/// A request whose handler is blocked.
async fn blocked(server: &TestServer, sender: &Sender) -> JoinHandle<u16> {
    let mut sender = sender.clone();
    let asking = tokio::spawn(async move { ask(&mut sender, review("asleep")).await.status().as_u16() });
    until("the handler blocks", || server.blocker.blocked() == 1).await;
    asking
}

/// Waits for GOAWAY; requests before it are served.
async fn goes_away(sender: &mut Sender) {
    while let Ok(response) = within_timeout(try_to_ask(sender, review("playful"))).await {
        assert_eq!(response.status(), 200);
    }
}

#[tokio::test]
async fn a_connection_past_its_age_gets_goaway_after_a_response() {
    let server = both_with(Limits { age: Duration::from_millis(500), ..Limits::default() }).await;
    let mut sender = http2_client(&server).await;
    let busy = blocked(&server, &sender).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!sender.is_closed(), "a request in flight is served");
    assert_eq!(ask(&mut sender, review("playful")).await.status(), 200);
    goes_away(&mut sender).await;
    server.blocker.release(1);
    assert_eq!(busy.await.unwrap(), 200, "the request in flight is served");
    assert_eq!(ask(&mut http2_client(&server).await, review("playful")).await.status(), 200);
}

#[tokio::test]
async fn a_draining_server_serves_and_sends_goaway() {
    let server = both().await;
    let (mut idle, address, trust) = (http2_client(&server).await, server.address(), server.trust());
    let busy = blocked(&server, &idle).await;
    let TestServer { running, blocker, .. } = server;
    let draining = running.start_drain();
    assert!(!idle.is_closed(), "an idle connection stays open");
    assert_eq!(ask(&mut idle, review("playful")).await.status(), 200);
    goes_away(&mut idle).await;
    let mut new = http2_client_at(address, &trust).await;
    assert_eq!(ask(&mut new, review("playful")).await.status(), 200);
    goes_away(&mut new).await;
    let closing = draining.close().await;
    blocker.release(1);
    assert_eq!(busy.await.unwrap(), 200, "the request in flight is served");
    assert_eq!(closing.finish(Duration::from_mins(1)).await.aborted, 0);
}
