//! HTTP/2, where it is compiled in and switched on.
#![cfg(feature = "http2")]
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod scene;

use std::sync::Arc;

use bytes::Bytes;
use gateward_core::Facts;
use gateward_server::{Http2Limits, Limits, Protocols, RegistryAnswerer};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use scene::client::{Client, config, post};
use scene::otter::{Lodge, registry, review};
use scene::{Scene, VALIDATE, scene, scene_of};

async fn both() -> Scene {
    let lodge = Lodge::default();
    let facts = || Arc::new(()) as Arc<dyn Facts>;
    let answerer = RegistryAnswerer::new(Arc::new(registry(&lodge)), facts);
    scene_of(answerer, Limits::default(), Protocols::Http1AndHttp2(Http2Limits::default()), lodge).await
}

async fn offering_both(scene: &Scene) -> Client {
    let trust = scene.trust();
    Client::connect_with(scene.address(), &trust, config(&trust, &["h2", "http/1.1"])).await.unwrap()
}

async fn http2_client(scene: &Scene) -> SendRequest<Full<Bytes>> {
    let client = offering_both(scene).await;
    assert_eq!(client.protocol(), Some(&b"h2"[..]));
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(client.into_stream())).await.unwrap();
    tokio::spawn(connection);
    sender
}

async fn ask(sender: &mut SendRequest<Full<Bytes>>, body: Vec<u8>) -> Response<Incoming> {
    let request = Request::post(format!("https://localhost{VALIDATE}")).header("content-type", "application/json");
    sender.send_request(request.body(Full::new(Bytes::from(body))).unwrap()).await.unwrap()
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
