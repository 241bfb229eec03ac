//! More connections than the limit: which are evicted, which are refused, which are unaffected.
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod support;

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use gateward_server::{
    Authorization, Authorizer, Cap, CertResolver, ClientTrust, HttpServer, HttpsServer, Limits, Metrics, Port,
    Readiness,
};
use support::client::{Client, post, post_with, within_timeout};
use support::otter::review;
use support::{ANYWHERE, VALIDATE, ca, metric, serving_certificate, test_server, until};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

/// Above every limit of these tests.
const FLOOD: usize = 200;

/// Connections that send nothing.
async fn silent(address: SocketAddr, count: usize) -> Vec<TcpStream> {
    let mut silent = Vec::new();
    for _ in 0..count {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    silent
}

/// Waits until the server has closed a connection.
async fn closed(socket: &mut TcpStream) {
    while within_timeout(socket.read(&mut [0; 64])).await.is_ok_and(|count| count > 0) {}
}

/// Sends a GET without a runtime: the one of the test is blocked meanwhile.
fn get(address: SocketAddr, target: &str) -> String {
    let mut socket = std::net::TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    write!(socket, "GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).unwrap();
    response
}

async fn health(metrics: &Metrics) -> HttpServer {
    HttpServer::bind(ANYWHERE.parse().unwrap(), Port::Health, Readiness::new(), metrics).await.unwrap()
}

#[tokio::test]
async fn idle_connections_to_the_probe_port_fail_no_probe() {
    let metrics = Metrics::new("otter");
    let probes = health(&metrics).await;
    let _flood = silent(probes.address(), FLOOD).await;
    for _ in 0..10 {
        assert!(get(probes.address(), "/healthz").ends_with("\r\n\r\nok"));
    }
    let evicted = metric(&metrics, "otter_webhook_connections_evicted_total{port=\"health\"}");
    assert!(evicted >= FLOOD as u64 - 64, "{evicted}");
    assert_eq!(metric(&metrics, "otter_webhook_connections_refused_total{port=\"health\"}"), 0);
}

#[tokio::test]
async fn a_probe_succeeds_during_a_flood() {
    let probes = health(&Metrics::new("otter")).await;
    for _ in 0..10 {
        let mut probe = std::net::TcpStream::connect(probes.address()).unwrap();
        probe.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        write!(probe, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let _flood = silent(probes.address(), FLOOD).await;
        let mut response = String::new();
        probe.read_to_string(&mut response).unwrap();
        assert!(response.ends_with("\r\n\r\nok"), "{response}");
    }
}

#[tokio::test]
async fn idle_connections_to_the_metrics_port_block_no_scrape() {
    let metrics = Metrics::new("otter");
    let address = ANYWHERE.parse().unwrap();
    let server = HttpServer::bind(address, Port::Metrics, metrics.clone(), &metrics).await.unwrap();
    let _flood = silent(server.address(), FLOOD).await;
    let page = get(server.address(), "/metrics");
    assert!(page.contains("otter_webhook_connections_evicted_total{port=\"metrics\"} "), "{page}");
    assert!(metric(&metrics, "otter_webhook_connections_evicted_total{port=\"metrics\"}") >= FLOOD as u64 - 64);
}

/// Allows every request.
struct AllowAll;

impl Authorizer for AllowAll {
    async fn authorize(&self, _: &str, _: Option<&str>) -> Authorization {
        Authorization::Allowed
    }
}

#[tokio::test]
async fn idle_connections_to_metrics_over_tls_block_no_scrape() {
    let (ca, metrics) = (ca(), Metrics::new("otter"));
    let certificate = CertResolver::new(serving_certificate(&ca));
    let endpoint = metrics.clone();
    let server =
        HttpsServer::bind(ANYWHERE.parse().unwrap(), &certificate, AllowAll, endpoint, &metrics).await.unwrap();
    let _flood = silent(server.address(), FLOOD).await;
    let trust =
        ClientTrust { ca_certificates: vec![ca.certificate().clone()], server_name: "localhost".try_into().unwrap() };
    let mut client = Client::connect(server.address(), &trust).await.unwrap();
    assert_eq!(client.ask(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await.status, 200);
}

#[tokio::test]
async fn a_probe_succeeds_while_every_thread_of_the_server_is_busy() {
    let metrics = Metrics::new("otter");
    let probes = health(&metrics).await;
    // The one thread of this test's runtime is blocked here.
    assert!(get(probes.address(), "/healthz").ends_with("\r\n\r\nok"));
}

#[tokio::test]
async fn an_admin_response_closes_its_connection() {
    let probes = health(&Metrics::new("otter")).await;
    for target in ["/healthz", "/readyz", "/nowhere"] {
        let response = get(probes.address(), target);
        assert!(response.contains("\r\nconnection: close\r\n"), "{response}");
    }
}

#[tokio::test]
async fn an_idle_connection_to_the_probe_port_times_out() {
    let probes = health(&Metrics::new("otter")).await;
    let mut silent = silent(probes.address(), 1).await;
    closed(&mut silent[0]).await;
}

#[tokio::test]
async fn incomplete_handshakes_block_no_client() {
    let limits = Limits { connections: Cap::at_most(64), handshake: Duration::from_hours(1), ..Limits::default() };
    let server = test_server(limits).await;
    let mut flood = silent(server.address(), FLOOD).await;
    for _ in 0..10 {
        server.still_serves().await;
    }
    closed(&mut flood[0]).await;
    assert!(server.metric("otter_webhook_connections_evicted_total{port=\"webhooks\"}") >= FLOOD as u64 - 64);
    assert_eq!(server.metric("otter_webhook_connections_refused_total{port=\"webhooks\"}"), 0);
    assert!(server.metric("otter_webhook_connections") <= 65);
}

#[tokio::test]
async fn a_connection_with_a_request_in_flight_survives_a_flood() {
    let server = test_server(Limits { connections: Cap::at_most(4), ..Limits::default() }).await;
    let mut busy = server.client().await;
    busy.send(&post(VALIDATE, &review("asleep"))).await.unwrap();
    until("the handler blocks", || server.blocker.blocked() == 1).await;
    let _flood = silent(server.address(), FLOOD).await;
    server.still_serves().await;
    server.blocker.release(1);
    assert_eq!(busy.response().await.unwrap().status, 200);
}

#[tokio::test]
async fn an_incomplete_request_is_evicted_before_an_idle_connection() {
    let server = test_server(Limits { connections: Cap::at_most(2), ..Limits::default() }).await;
    let mut idle = server.client().await;
    assert_eq!(idle.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    let mut slow = server.client().await;
    let half = post_with(VALIDATE, "Content-Type: application/json\r\nContent-Length: 100\r\n", b"{");
    slow.send(&half).await.unwrap();
    until("its head is read", || server.metric("otter_webhook_requests_in_flight") == 1).await;
    server.still_serves().await;
    slow.closed().await;
    assert_eq!(idle.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
}

#[tokio::test]
async fn the_longest_idle_connection_is_evicted_where_all_were_served() {
    let server = test_server(Limits { connections: Cap::at_most(2), ..Limits::default() }).await;
    let (mut first, mut second) = (server.client().await, server.client().await);
    for client in [&mut second, &mut first] {
        assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    }
    server.still_serves().await;
    second.closed().await;
    assert_eq!(first.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
}

#[tokio::test]
async fn a_new_connection_is_refused_while_all_have_a_request_in_flight() {
    let server = test_server(Limits { connections: Cap::at_most(1), ..Limits::default() }).await;
    let mut busy = server.client().await;
    busy.send(&post(VALIDATE, &review("asleep"))).await.unwrap();
    until("the handler blocks", || server.blocker.blocked() == 1).await;
    let mut refused = silent(server.address(), 1).await;
    closed(&mut refused[0]).await;
    assert_eq!(server.metric("otter_webhook_connections_refused_total{port=\"webhooks\"}"), 1);
    server.blocker.release(1);
    assert_eq!(busy.response().await.unwrap().status, 200);
}
