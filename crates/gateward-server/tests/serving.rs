//! What well-behaved clients see: verdicts, deadlines, renewed certificates, overload, panics and the drain.
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod support;

use std::time::{Duration, SystemTime};

use futures_util::stream;
use gateward_server::{Cap, CertResolver, Drain, Drained, Limits, Protocols, ReviewServer};
use support::client::{Client, post, post_with, within_timeout};
use support::gate::{Gate, Obeys};
use support::otter::{Blocker, review, webhooks};
use support::{ANYWHERE, MUTATE, TestServer, VALIDATE, serving_certificate, test_server, test_server_with, until};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

/// A client with a review whose handler is blocked.
async fn blocked(server: &TestServer) -> Client {
    let before = server.blocker.blocked();
    let mut client = server.client().await;
    client.send(&post(VALIDATE, &review("asleep"))).await.unwrap();
    until("the handler blocks", || server.blocker.blocked() == before + 1).await;
    client
}

async fn allowed(client: &mut Client) -> bool {
    let response = client.ask(&post(VALIDATE, &review("playful"))).await;
    response.status == 200 && response.json()["response"]["allowed"] == true
}

#[tokio::test]
async fn a_response_has_the_uid_of_the_request() {
    let server = test_server(Limits::default()).await;
    let response = server.client().await.ask(&post(VALIDATE, &review("unprintable"))).await;
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    let answer = &response.json()["response"];
    assert_eq!(answer["uid"], "705ab4f5");
    assert_eq!(answer["allowed"], false);
    assert_eq!(answer["status"]["details"]["causes"][0]["field"], "spec.mood");
    assert_eq!(response.header("connection"), None, "the connection is kept");
}

#[tokio::test]
async fn a_mutating_review_gets_a_patch() {
    let server = test_server(Limits::default()).await;
    let response = server.client().await.ask(&post(MUTATE, &review("playful"))).await;
    assert_eq!(response.json()["response"]["patchType"], "JSONPatch");
}

#[tokio::test]
async fn the_timeout_of_the_caller_ends_the_work() {
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
    let response = client.ask(&post(&format!("{VALIDATE}?timeout=300ms"), &review("asleep"))).await;
    assert_eq!(response.status, 504);
    assert_eq!(server.blocker.blocked(), 0, "the work was dropped");
    assert!(allowed(&mut client).await, "the connection is still good");
}

#[tokio::test]
async fn without_a_timeout_of_the_caller_the_deadline_ends_the_work() {
    let server = test_server(Limits { deadline: Duration::from_millis(300), ..Limits::default() }).await;
    let response = server.client().await.ask(&post(VALIDATE, &review("asleep"))).await;
    assert_eq!(response.status, 504);
}

#[tokio::test]
async fn a_body_after_the_deadline_is_504() {
    let server = test_server(Limits::default()).await;
    let target = format!("{VALIDATE}?timeout=300ms");
    let head = post_with(&target, "Content-Type: application/json\r\nContent-Length: 100\r\n", b"{");
    assert_eq!(server.client().await.ask(&head).await.status, 504);
}

#[tokio::test]
async fn a_panic_costs_one_response() {
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
    let response = client.ask(&post(VALIDATE, &review("angry"))).await;
    assert_eq!(response.status, 500);
    assert!(!String::from_utf8(response.body).unwrap().contains("bites"), "its message is not sent");
    assert!(allowed(&mut client).await, "the connection is still good");
    assert_eq!(server.metric("otter_webhook_panics_total"), 1);
}

#[tokio::test]
async fn reviews_beyond_the_concurrency_are_429_with_retry_after() {
    let server = test_server(Limits { concurrency: Cap::at_most(1), ..Limits::default() }).await;
    let mut first = blocked(&server).await;
    let mut second = server.client().await;
    let response = second.ask(&post(VALIDATE, &review("playful"))).await;
    assert_eq!((response.status, response.header("retry-after")), (429, Some("1")));
    assert_eq!(server.metric("otter_webhook_shed_total{limit=\"concurrency\"}"), 1);
    server.blocker.release(1);
    assert_eq!(first.response().await.unwrap().status, 200);
    assert!(allowed(&mut second).await, "the connection is still good");
}

#[tokio::test]
async fn expect_100_continue_is_supported() {
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
    let body = review("playful");
    let headers =
        format!("Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n", body.len());
    assert_eq!(client.ask(&post_with(VALIDATE, &headers, b"")).await.status, 100);
    assert_eq!(client.ask(&body).await.status, 200);
    let too_large = "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 9000000\r\n";
    assert_eq!(client.ask(&post_with(VALIDATE, too_large, b"")).await.status, 413);
}

#[tokio::test]
async fn new_connections_get_a_new_certificate_and_old_ones_stay_open() {
    let server = test_server(Limits::default()).await;
    let mut old = server.client().await;
    assert!(allowed(&mut old).await);
    server.certificate.set(serving_certificate(&server.ca));
    let mut new = server.client().await;
    assert_ne!(old.peer_certificate(), new.peer_certificate());
    assert!(allowed(&mut old).await && allowed(&mut new).await);
}

#[tokio::test]
async fn the_server_is_ready_when_it_gets_a_certificate() {
    let ca = support::ca();
    let (certificate, blocker) = (CertResolver::empty(), Blocker::default());
    let readiness = gateward_server::Readiness::new();
    let facts = || std::sync::Arc::new(()) as std::sync::Arc<dyn gateward_core::Facts>;
    let handler = gateward_server::WebhooksHandler::new(std::sync::Arc::new(webhooks(&blocker)), facts);
    let server = ReviewServer::new(certificate.clone(), handler).readiness(readiness.clone());
    let server = server.bind(ANYWHERE.parse().unwrap()).await.unwrap().serve();
    let trust = gateward_server::ClientTrust {
        ca_certificates: vec![ca.certificate().clone()],
        server_name: "localhost".try_into().unwrap(),
    };
    assert!(Client::connect(server.address(), &trust).await.is_err());
    assert!(!readiness.is_ready(SystemTime::now()));
    let check = async { server.self_check(&trust).await };
    let issue = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        certificate.set(serving_certificate(&ca));
    };
    tokio::join!(check, issue);
    assert!(readiness.is_ready(SystemTime::now()));
    assert!(Client::connect(server.address(), &trust).await.is_ok());
}

#[tokio::test]
async fn a_handshake_under_another_ca_fails_the_self_check() {
    let server = test_server(Limits::default()).await;
    let other = gateward_server::ClientTrust {
        ca_certificates: vec![support::ca().certificate().clone()],
        server_name: "localhost".try_into().unwrap(),
    };
    let tried = tokio::time::timeout(Duration::from_millis(500), server.running.self_check(&other)).await;
    assert!(tried.is_err(), "still trying");
    assert!(!server.readiness.is_ready(SystemTime::now()));
    server.running.self_check(&server.trust()).await;
    assert!(server.readiness.is_ready(SystemTime::now()));
}

#[tokio::test]
async fn a_draining_server_serves_and_closes_connections() {
    let server = test_server(Limits::default()).await;
    let (mut idle, trust, address) = (server.client().await, server.trust(), server.address());
    server.running.self_check(&trust).await;
    let mut busy = blocked(&server).await;
    let draining = server.running.start_drain();
    assert!(!server.readiness.is_ready(SystemTime::now()), "readiness fails first");

    let mut new = Client::connect(address, &trust).await.unwrap();
    for client in [&mut idle, &mut new] {
        let response = client.ask(&post(VALIDATE, &review("playful"))).await;
        assert_eq!((response.status, response.header("connection")), (200, Some("close")));
        client.closed().await;
    }
    let mut stays = Client::connect(address, &trust).await.unwrap();
    assert!(!stays.closes_within(Duration::from_millis(200)).await, "an idle connection stays open");

    let closing = draining.close().await;
    stays.closed().await;
    assert!(TcpStream::connect(address).await.is_err(), "the listener is closed");
    server.blocker.release(1);
    let response = busy.response().await.unwrap();
    assert_eq!((response.status, response.header("connection")), (200, Some("close")));
    assert_eq!(closing.finish(Duration::from_mins(1)).await, Drained { aborted: 0 });
}

#[tokio::test]
async fn a_connection_past_its_age_closes_with_its_next_response() {
    let server = test_server(Limits { age: Duration::from_millis(500), ..Limits::default() }).await;
    let mut client = server.client().await;
    let response = client.ask(&post(VALIDATE, &review("playful"))).await;
    assert_eq!((response.status, response.header("connection")), (200, None), "below its age");
    let mut busy = blocked(&server).await;
    assert!(!client.closes_within(Duration::from_secs(1)).await, "an idle connection is not closed for its age");
    let response = client.ask(&post(VALIDATE, &review("playful"))).await;
    assert_eq!((response.status, response.header("connection")), (200, Some("close")));
    client.closed().await;
    server.blocker.release(1);
    let response = busy.response().await.unwrap();
    assert_eq!((response.status, response.header("connection")), (200, Some("close")), "a request in flight is served");
    busy.closed().await;
    let response = server.client().await.ask(&post(VALIDATE, &review("playful"))).await;
    assert_eq!(response.header("connection"), None, "a new connection is kept");
}

#[tokio::test]
async fn work_that_never_ends_is_aborted() {
    let server = test_server(Limits::default()).await;
    let mut busy = blocked(&server).await;
    let drain = Drain { grace: Duration::ZERO, finish: Duration::from_millis(200) };
    assert_eq!(server.running.drain(drain).await, Drained { aborted: 1 });
    busy.closed().await;
    until("the work is dropped", || server.blocker.blocked() == 0).await;
}

#[tokio::test]
async fn each_skip_ends_the_current_wait_of_the_drain() {
    let server = test_server(Limits::default()).await;
    let (mut idle, mut busy) = (server.client().await, blocked(&server).await);
    let hour = Drain { grace: Duration::from_hours(1), finish: Duration::from_hours(1) };
    let (skips, mut skipped) = mpsc::unbounded_channel();
    let skip = stream::poll_fn(move |cx| skipped.poll_recv(cx));
    let watch = async {
        until("it drains", || !server.readiness.is_ready(SystemTime::now())).await;
        assert!(!idle.closes_within(Duration::from_millis(200)).await, "in the grace period");
        skips.send(()).unwrap();
        idle.closed().await;
        assert!(!busy.closes_within(Duration::from_millis(200)).await, "its request is in flight");
        skips.send(()).unwrap();
        busy.closed().await;
    };
    let (drained, ()) =
        within_timeout(Box::pin(async { tokio::join!(server.running.drain_with_skip(hour, skip), watch) })).await;
    assert_eq!(drained, Drained { aborted: 1 });
}

#[tokio::test]
async fn a_dropped_server_closes_everything() {
    let server = test_server(Limits::default()).await;
    let (mut client, address) = (server.client().await, server.address());
    drop(server.running);
    client.closed().await;
    until("the listener is closed", || !server.readiness.is_ready(SystemTime::now())).await;
    tokio::task::yield_now().await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn any_handler_can_be_served() {
    let server =
        test_server_with(Obeys(Gate::default()), Limits::default(), Protocols::default(), Blocker::default()).await;
    let response = server.client().await.ask(&post("/anything", &vec![b'x'; 1_000_000])).await;
    assert_eq!((response.status, response.body), (200, Vec::new()));
}
