//! More connections than a port takes: who goes, who stays, and who never notices.
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod scene;

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use gateward_server::{
    Authorize, Cap, IdentitySlot, Limits, Metrics, Permission, PlainServer, Port, Readiness, SecureServer, Trust,
};
use scene::client::{Client, patiently, post, post_with};
use scene::otter::review;
use scene::{ANYWHERE, VALIDATE, authority, leaf, metric, scene, until};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// As many as nobody needs.
const CROWD: usize = 200;

/// Connections that say nothing.
async fn silent(address: SocketAddr, count: usize) -> Vec<TcpStream> {
    let mut silent = Vec::new();
    for _ in 0..count {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    silent
}

/// Waits until the other side has closed a connection.
async fn closed(socket: &mut TcpStream) {
    while patiently(socket.read(&mut [0; 64])).await.is_ok_and(|count| count > 0) {}
}

/// A page, fetched without the help of a runtime, so that none has to run here.
fn get(address: SocketAddr, target: &str) -> String {
    let mut socket = std::net::TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    write!(socket, "GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).unwrap();
    response
}

async fn health(metrics: &Metrics) -> PlainServer {
    PlainServer::bind(ANYWHERE.parse().unwrap(), Port::Health, Readiness::new(), metrics).await.unwrap()
}

#[tokio::test]
async fn silent_connections_to_the_probe_port_fail_no_probe() {
    let metrics = Metrics::new("otter");
    let probes = health(&metrics).await;
    let _crowd = silent(probes.address(), CROWD).await;
    for _ in 0..10 {
        assert!(get(probes.address(), "/healthz").ends_with("\r\n\r\nok"));
    }
    let evicted = metric(&metrics, "otter_webhook_connections_evicted_total{port=\"health\"}");
    assert!(evicted >= CROWD as u64 - 64, "{evicted}");
    assert_eq!(metric(&metrics, "otter_webhook_connections_refused_total{port=\"health\"}"), 0);
}

#[tokio::test]
async fn a_probe_among_many_connections_that_come_at_once_is_answered() {
    let probes = health(&Metrics::new("otter")).await;
    for _ in 0..10 {
        let mut probe = std::net::TcpStream::connect(probes.address()).unwrap();
        probe.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        write!(probe, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let _crowd = silent(probes.address(), CROWD).await;
        let mut response = String::new();
        probe.read_to_string(&mut response).unwrap();
        assert!(response.ends_with("\r\n\r\nok"), "{response}");
    }
}

#[tokio::test]
async fn silent_connections_to_the_metrics_port_hide_no_metrics() {
    let metrics = Metrics::new("otter");
    let address = ANYWHERE.parse().unwrap();
    let server = PlainServer::bind(address, Port::Metrics, metrics.clone(), &metrics).await.unwrap();
    let _crowd = silent(server.address(), CROWD).await;
    let page = get(server.address(), "/metrics");
    assert!(page.contains("otter_webhook_connections_evicted_total{port=\"metrics\"} "), "{page}");
    assert!(metric(&metrics, "otter_webhook_connections_evicted_total{port=\"metrics\"}") >= CROWD as u64 - 64);
}

/// Lets everyone read.
struct Anyone;

impl Authorize for Anyone {
    async fn may_read(&self, _: &str, _: Option<&str>) -> Permission {
        Permission::Granted
    }
}

#[tokio::test]
async fn silent_connections_to_metrics_over_tls_hide_no_metrics() {
    let (authority, metrics) = (authority(), Metrics::new("otter"));
    let identity = IdentitySlot::holding(leaf(&authority));
    let pages = metrics.clone();
    let server = SecureServer::bind(ANYWHERE.parse().unwrap(), &identity, Anyone, pages, &metrics).await.unwrap();
    let _crowd = silent(server.address(), CROWD).await;
    let trust = Trust { authorities: vec![authority.certificate().clone()], name: "localhost".try_into().unwrap() };
    let mut client = Client::connect(server.address(), &trust).await.unwrap();
    assert_eq!(client.ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await.status, 200);
}

#[tokio::test]
async fn a_probe_is_answered_while_every_thread_of_the_server_is_busy() {
    let metrics = Metrics::new("otter");
    let probes = health(&metrics).await;
    // The runtime of this test has one thread, and that waits here.
    assert!(get(probes.address(), "/healthz").ends_with("\r\n\r\nok"));
}

#[tokio::test]
async fn a_page_ends_its_connection() {
    let probes = health(&Metrics::new("otter")).await;
    for target in ["/healthz", "/readyz", "/nowhere"] {
        let response = get(probes.address(), target);
        assert!(response.contains("\r\nconnection: close\r\n"), "{response}");
    }
}

#[tokio::test]
async fn who_says_nothing_to_the_probe_port_is_given_up_though_there_is_room() {
    let probes = health(&Metrics::new("otter")).await;
    let mut silent = silent(probes.address(), 1).await;
    closed(&mut silent[0]).await;
}

#[tokio::test]
async fn handshakes_that_rest_refuse_nobody() {
    let limits = Limits { connections: Cap::at_most(64), handshake: Duration::from_hours(1), ..Limits::default() };
    let scene = scene(limits).await;
    let mut crowd = silent(scene.address(), CROWD).await;
    for _ in 0..10 {
        scene.still_serves().await;
    }
    closed(&mut crowd[0]).await;
    assert!(scene.metric("otter_webhook_connections_evicted_total{port=\"webhooks\"}") >= CROWD as u64 - 64);
    assert_eq!(scene.metric("otter_webhook_connections_refused_total{port=\"webhooks\"}"), 0);
    assert!(scene.metric("otter_webhook_connections") <= 65);
}

#[tokio::test]
async fn a_connection_that_waits_for_its_answer_outlasts_any_crowd() {
    let scene = scene(Limits { connections: Cap::at_most(4), ..Limits::default() }).await;
    let mut busy = scene.client().await;
    busy.send(&post(VALIDATE, &review("asleep"))).await.unwrap();
    until("the otter sleeps", || scene.lodge.asleep() == 1).await;
    let _crowd = silent(scene.address(), CROWD).await;
    scene.still_serves().await;
    scene.lodge.wake(1);
    assert_eq!(busy.response().await.unwrap().status, 200);
}

#[tokio::test]
async fn a_request_that_is_not_whole_makes_room_before_a_connection_that_rests() {
    let scene = scene(Limits { connections: Cap::at_most(2), ..Limits::default() }).await;
    let mut resting = scene.client().await;
    assert_eq!(resting.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    let mut slow = scene.client().await;
    let half = post_with(VALIDATE, "Content-Type: application/json\r\nContent-Length: 100\r\n", b"{");
    slow.send(&half).await.unwrap();
    until("its head is read", || scene.metric("otter_webhook_requests_in_flight") == 1).await;
    scene.still_serves().await;
    slow.hung_up().await;
    assert_eq!(resting.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
}

#[tokio::test]
async fn where_all_have_brought_requests_the_one_that_rests_longest_makes_room() {
    let scene = scene(Limits { connections: Cap::at_most(2), ..Limits::default() }).await;
    let (mut first, mut second) = (scene.client().await, scene.client().await);
    for client in [&mut second, &mut first] {
        assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    }
    scene.still_serves().await;
    second.hung_up().await;
    assert_eq!(first.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
}

#[tokio::test]
async fn where_all_wait_for_answers_a_new_connection_is_refused_and_counted() {
    let scene = scene(Limits { connections: Cap::at_most(1), ..Limits::default() }).await;
    let mut busy = scene.client().await;
    busy.send(&post(VALIDATE, &review("asleep"))).await.unwrap();
    until("the otter sleeps", || scene.lodge.asleep() == 1).await;
    let mut refused = silent(scene.address(), 1).await;
    closed(&mut refused[0]).await;
    assert_eq!(scene.metric("otter_webhook_connections_refused_total{port=\"webhooks\"}"), 1);
    scene.lodge.wake(1);
    assert_eq!(busy.response().await.unwrap().status, 200);
}
