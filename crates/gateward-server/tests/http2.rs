//! HTTP/2, where it is compiled in and switched on.
#![cfg(feature = "http2")]
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod scene;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gateward_core::Facts;
use gateward_server::{Http2Limits, Limits, Protocols, RegistryAnswerer, Trust};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use scene::client::{Client, config, patiently, post};
use scene::otter::{Lodge, registry, review};
use scene::{Scene, VALIDATE, scene, scene_of, until};
use tokio::task::JoinHandle;

async fn both() -> Scene {
    both_with(Limits::default()).await
}

async fn both_with(limits: Limits) -> Scene {
    let lodge = Lodge::default();
    let facts = || Arc::new(()) as Arc<dyn Facts>;
    let answerer = RegistryAnswerer::new(Arc::new(registry(&lodge)), facts);
    scene_of(answerer, limits, Protocols::Http1AndHttp2(Http2Limits::default()), lodge).await
}

async fn offering_both(scene: &Scene) -> Client {
    let trust = scene.trust();
    Client::connect_with(scene.address(), &trust, config(&trust, &["h2", "http/1.1"])).await.unwrap()
}

type Sender = SendRequest<Full<Bytes>>;

async fn http2_client(scene: &Scene) -> Sender {
    http2_client_at(scene.address(), &scene.trust()).await
}

async fn http2_client_at(address: SocketAddr, trust: &Trust) -> Sender {
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
    let scene = scene(Limits::default()).await;
    assert_eq!(offering_both(&scene).await.protocol(), Some(&b"http/1.1"[..]));
}

#[tokio::test]
async fn switched_on_both_protocols_answer() {
    let scene = both().await;
    let mut sender = http2_client(&scene).await;
    let response = ask(&mut sender, review("playful")).await;
    assert_eq!(response.status(), 200);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&body).unwrap()["response"]["allowed"], true);
    assert_eq!(scene.client().await.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
}

#[tokio::test]
async fn the_limits_of_bodies_hold_here_too() {
    let scene = both().await;
    let mut sender = http2_client(&scene).await;
    assert_eq!(ask(&mut sender, vec![b' '; 9_000_000]).await.status(), 413);
    assert_eq!(ask(&mut sender, review("playful")).await.status(), 200);
}

#[tokio::test]
async fn a_head_that_is_too_large_never_reaches_a_handler() {
    let scene = both().await;
    let mut sender = http2_client(&scene).await;
    let request = Request::post(format!("https://localhost{VALIDATE}"))
        .header("content-type", "application/json")
        .header("x-long", "x".repeat(70_000))
        .body(Full::new(Bytes::from(review("playful"))));
    let refused = match sender.send_request(request.unwrap()).await {
        Ok(response) => response.status() == 431,
        Err(_) => true,
    };
    assert!(refused);
    scene.still_serves().await;
}

/// A request that waits for an otter to wake, and the otter asleep.
async fn sleeping(scene: &Scene, sender: &Sender) -> JoinHandle<u16> {
    let mut sender = sender.clone();
    let asking = tokio::spawn(async move { ask(&mut sender, review("asleep")).await.status().as_u16() });
    until("the otter sleeps", || scene.lodge.asleep() == 1).await;
    asking
}

/// The server says that the connection takes no more requests; what it still takes before that, it answers.
async fn goes_away(sender: &mut Sender) {
    while let Ok(response) = patiently(try_to_ask(sender, review("playful"))).await {
        assert_eq!(response.status(), 200);
    }
}

#[tokio::test]
async fn a_connection_of_age_goes_away_after_an_answer_and_cuts_nothing() {
    let scene = both_with(Limits { age: Duration::from_millis(500), ..Limits::default() }).await;
    let mut sender = http2_client(&scene).await;
    let busy = sleeping(&scene, &sender).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!sender.is_closed(), "none is cut for its age");
    assert_eq!(ask(&mut sender, review("playful")).await.status(), 200);
    goes_away(&mut sender).await;
    scene.lodge.wake(1);
    assert_eq!(busy.await.unwrap(), 200, "what was under way is answered");
    assert_eq!(ask(&mut http2_client(&scene).await, review("playful")).await.status(), 200);
}

#[tokio::test]
async fn a_server_that_leaves_answers_new_connections_and_says_goodbye() {
    let scene = both().await;
    let (mut resting, address, trust) = (http2_client(&scene).await, scene.address(), scene.trust());
    let busy = sleeping(&scene, &resting).await;
    let Scene { server, lodge, .. } = scene;
    let leaving = server.leave();
    assert!(!resting.is_closed(), "a resting connection stays open");
    assert_eq!(ask(&mut resting, review("playful")).await.status(), 200);
    goes_away(&mut resting).await;
    let mut new = http2_client_at(address, &trust).await;
    assert_eq!(ask(&mut new, review("playful")).await.status(), 200);
    goes_away(&mut new).await;
    let closing = leaving.close().await;
    lodge.wake(1);
    assert_eq!(busy.await.unwrap(), 200, "what was under way is answered");
    assert_eq!(closing.finish(Duration::from_mins(1)).await.cut, 0);
}
