//! Hostile and broken clients against a real server. Each test ends with an ordinary review that succeeds.
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod support;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use gateward_server::{ByteSize, Cap, Limits, Protocols};
use support::client::{Client, config, post, post_with, within_timeout};
use support::gate::{Gate, HUGE, Obeys};
use support::otter::{Blocker, review, review_of};
use support::{MUTATE, VALIDATE, test_server, test_server_with};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

const SHORT: Duration = Duration::from_millis(500);

/// Longer than any test.
const LONG: Duration = Duration::from_hours(1);

fn chunked(body: &[u8]) -> Vec<u8> {
    let mut chunked = format!("{:x}\r\n", body.len()).into_bytes();
    chunked.extend_from_slice(body);
    chunked.extend_from_slice(b"\r\n0\r\n\r\n");
    post_with(VALIDATE, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", &chunked)
}

/// Sends a byte now and then until the server closes the connection.
async fn trickle(client: &mut Client, bytes: &[u8]) {
    for byte in bytes.iter().cycle() {
        if client.send(&[*byte]).await.is_err() || client.closes_within(Duration::from_millis(50)).await {
            return;
        }
    }
}

#[tokio::test]
async fn a_slow_head_times_out_before_an_idle_connection() {
    let server = test_server(Limits { head: SHORT, idle: LONG, ..Limits::default() }).await;
    let mut idle = server.client().await;
    let mut slow = server.client().await;
    within_timeout(trickle(&mut slow, b"POST / HTTP/1.1\r\nX: ")).await;
    server.until_metric("otter_webhook_connection_errors_total{reason=\"head\"}", 1).await;
    assert_eq!(idle.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    server.still_serves().await;
}

#[tokio::test]
async fn a_slow_head_after_a_request_times_out() {
    let server = test_server(Limits { head: SHORT, idle: LONG, ..Limits::default() }).await;
    let mut client = server.client().await;
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    client.send(b"POST ").await.unwrap();
    client.closed().await;
    server.until_metric("otter_webhook_connection_errors_total{reason=\"head\"}", 1).await;
}

#[tokio::test]
async fn an_idle_connection_times_out() {
    let server = test_server(Limits { idle: SHORT, ..Limits::default() }).await;
    let mut client = server.client().await;
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    client.closed().await;
    server.until_metric("otter_webhook_connection_errors_total{reason=\"idle\"}", 1).await;
    server.still_serves().await;
}

#[tokio::test]
async fn a_slow_body_is_408() {
    let server = test_server(Limits { body: SHORT, ..Limits::default() }).await;
    let mut client = server.client().await;
    let head = post_with(VALIDATE, "Content-Type: application/json\r\nContent-Length: 1000\r\n", b"{");
    let response = client.ask(&head).await;
    assert_eq!((response.status, response.header("connection")), (408, Some("close")));
    client.closed().await;
    server.still_serves().await;
}

#[tokio::test]
async fn a_content_length_above_the_limit_is_413_before_the_body() {
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
    let head = post_with(VALIDATE, "Content-Type: application/json\r\nContent-Length: 9000000\r\n", b"");
    let response = client.ask(&head).await;
    assert_eq!((response.status, response.header("connection")), (413, Some("close")));
    assert_eq!(response.json()["code"], 413);
    server.still_serves().await;
}

#[tokio::test]
async fn a_client_that_sends_too_much_still_reads_the_response() {
    let server = test_server(Limits { linger: Duration::from_secs(30), ..Limits::default() }).await;
    let mut client = server.client().await;
    let response = client.ask(&post(VALIDATE, &vec![b' '; 9_000_000])).await;
    assert_eq!(response.status, 413);
    server.still_serves().await;
}

#[tokio::test]
async fn a_body_without_a_length_is_counted_while_it_streams() {
    let server = test_server(Limits { linger: Duration::from_secs(30), ..Limits::default() }).await;
    let mut client = server.client().await;
    let response = client.ask(&chunked(&vec![b' '; 9_000_000])).await;
    assert_eq!(response.status, 413);
    assert_eq!(server.client().await.ask(&chunked(&review("playful"))).await.status, 200);
    server.until_metric("otter_webhook_body_bytes_in_flight", 0).await;
}

#[tokio::test]
async fn invalid_chunks_are_400() {
    let server = test_server(Limits::default()).await;
    let headers = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
    let response = server.client().await.ask(&post_with(VALIDATE, headers, b"zz\r\n")).await;
    assert_eq!(response.status, 400);
    server.still_serves().await;
}

#[tokio::test]
async fn connections_beyond_the_limit_are_refused_while_all_have_a_request() {
    let server = test_server(Limits { connections: Cap::at_most(200), ..Limits::default() }).await;
    let mut clients = Vec::new();
    for _ in 0..200 {
        let mut client = server.client().await;
        client.send(&post(VALIDATE, &review("asleep"))).await.unwrap();
        clients.push(client);
    }
    support::until("all handlers block", || server.blocker.blocked() == 200).await;
    for _ in 0..100 {
        assert!(Client::connect(server.address(), &server.trust()).await.is_err());
    }
    assert_eq!(server.metric("otter_webhook_connections_refused_total{port=\"webhooks\"}"), 100);
    server.blocker.release(200);
    for client in &mut clients {
        assert_eq!(client.response().await.unwrap().status, 200);
    }
    clients.truncate(199);
    server.until_metric("otter_webhook_connections", 199).await;
    server.still_serves().await;
}

#[tokio::test]
async fn garbage_instead_of_tls_fails_the_handshake() {
    let server = test_server(Limits::default()).await;
    for garbage in [&b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], &[0; 600], &[0x16, 3, 1, 0xff, 0xff, 1]] {
        let mut socket = TcpStream::connect(server.address()).await.unwrap();
        socket.write_all(garbage).await.unwrap();
        socket.shutdown().await.unwrap();
        // The connection closes, with or without an alert.
        let _ = within_timeout(socket.read_to_end(&mut Vec::new())).await;
    }
    server.until_metric("otter_webhook_handshake_failures_total{reason=\"tls\"}", 3).await;
    server.still_serves().await;
}

#[tokio::test]
async fn a_peer_that_sends_nothing_is_closed() {
    let server = test_server(Limits { handshake: SHORT, ..Limits::default() }).await;
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    let _ = within_timeout(socket.read_to_end(&mut Vec::new())).await;
    assert_eq!(server.metric("otter_webhook_handshake_failures_total{reason=\"timeout\"}"), 1);
}

/// A socket that writes one byte at a time.
struct ByteByByte(TcpStream);

impl AsyncRead for ByteByByte {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for ByteByByte {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, &bytes[..1])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

#[tokio::test]
async fn a_fragmented_client_hello_is_accepted() {
    let server = test_server(Limits::default()).await;
    let socket = TcpStream::connect(server.address()).await.unwrap();
    socket.set_nodelay(true).unwrap();
    let mut config = config(&server.trust(), &["http/1.1"]);
    // TLS records of at most 32 bytes, each sent byte by byte.
    config.max_fragment_size = Some(32);
    let mut client = Client::over(ByteByByte(socket), &server.trust(), config).await.unwrap();
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    server.still_serves().await;
}

#[tokio::test]
async fn a_peer_without_a_common_alpn_protocol_fails_the_handshake() {
    let server = test_server(Limits::default()).await;
    let h2_only = config(&server.trust(), &["h2"]);
    assert!(Client::connect_with(server.address(), &server.trust(), h2_only).await.is_err());
    let both = config(&server.trust(), &["h2", "http/1.1"]);
    let client = Client::connect_with(server.address(), &server.trust(), both).await.unwrap();
    assert_eq!(client.protocol(), Some(&b"http/1.1"[..]));
    server.still_serves().await;
}

#[tokio::test]
async fn a_peer_that_disconnects_ends_its_work() {
    let server = test_server(Limits::default()).await;
    let mut half = server.client().await;
    half.send(&post(VALIDATE, &review("asleep"))).await.unwrap();
    support::until("the handler blocks", || server.blocker.blocked() == 1).await;
    let mut half = half.into_stream();
    half.shutdown().await.unwrap();
    support::until("the work is dropped", || server.blocker.blocked() == 0).await;
    drop(server.client().await);
    drop(half);
    server.until_metric("otter_webhook_connections", 0).await;
    server.still_serves().await;
}

#[tokio::test]
async fn a_name_of_six_megabytes_is_truncated_in_the_response() {
    let server = test_server(Limits::default()).await;
    let ordinary = String::from_utf8(review("unprintable")).unwrap();
    let answer = |response: support::client::Response| String::from_utf8(response.body).unwrap();
    let whole = answer(server.client().await.ask(&post(VALIDATE, ordinary.as_bytes())).await);
    assert!(whole.contains(r#"\"ottilie\" is invalid"#) && whole.contains(r#""name":"ottilie""#), "{whole}");
    let endless = ordinary.replacen("\"name\":\"ottilie", &format!("\"name\":\"{}", "x".repeat(6_000_000)), 1);
    let cut = answer(server.client().await.ask(&post(VALIDATE, endless.as_bytes())).await);
    assert!(cut.len() < 1_000 && cut.matches("xxx").count() < 100, "{} bytes", cut.len());
    assert!(cut.contains("x…") && cut.contains("spec.mood"), "{cut}");
}

#[tokio::test]
async fn invalid_utf8_is_400() {
    let server = test_server(Limits::default()).await;
    let mut body = review("playful");
    let mood = body.windows(7).position(|window| window == b"playful").unwrap();
    body[mood] = 0xff;
    let mut client = server.client().await;
    assert_eq!(client.ask(&post(VALIDATE, &body)).await.status, 400);
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200, "the connection is still good");
}

#[tokio::test]
async fn a_deeply_nested_object_costs_one_response() {
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
    for deep in ["[".repeat(100_000) + &"]".repeat(100_000), "[".repeat(100_000), r#"{"a":"#.repeat(100_000)] {
        for path in [VALIDATE, MUTATE] {
            let response = client.ask(&post(path, &review_of(&deep))).await;
            let refused = response.status == 400 || response.json()["response"]["allowed"] == false;
            assert!(refused, "{response:?}");
        }
    }
    server.still_serves().await;
}

#[tokio::test]
async fn a_compressed_body_is_415() {
    let server = test_server(Limits::default()).await;
    let headers = "Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n";
    let response = server.client().await.ask(&post_with(VALIDATE, headers, &[0x1f, 0x8b, 8])).await;
    assert_eq!(response.status, 415);
    server.still_serves().await;
}

#[tokio::test]
async fn two_lengths_are_400_and_two_types_415() {
    let server = test_server(Limits::default()).await;
    let lengths = "Content-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n";
    assert_eq!(server.client().await.ask(&post_with(VALIDATE, lengths, b"{}")).await.status, 400);
    let types = "Content-Type: application/json\r\nContent-Type: text/html\r\nContent-Length: 2\r\n";
    assert_eq!(server.client().await.ask(&post_with(VALIDATE, types, b"{}")).await.status, 415);
    server.still_serves().await;
}

#[tokio::test]
async fn a_length_beside_chunks_smuggles_no_request() {
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
    let headers = "Content-Type: application/json\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n";
    let smuggled = [&b"0\r\n\r\n"[..], &post(VALIDATE, &review("playful"))].concat();
    let first = client.ask(&post_with(VALIDATE, headers, &smuggled)).await;
    assert_eq!(first.status, 400, "an empty body is no review");
    // Chunks decide where the first request ends; what follows is read as a request of its own or not at all.
    if let Some(second) = client.response().await {
        assert_eq!(second.status, 200);
    }
    server.still_serves().await;
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
    let both = [post(VALIDATE, &review("playful")), post(VALIDATE, &review("unprintable"))].concat();
    client.send(&both).await.unwrap();
    assert_eq!(client.response().await.unwrap().json()["response"]["allowed"], true);
    assert_eq!(client.response().await.unwrap().json()["response"]["allowed"], false);
}

#[tokio::test]
async fn a_large_head_is_431() {
    let server = test_server(Limits::default()).await;
    let long = format!("X-Long: {}\r\n", "x".repeat(40_000));
    assert_eq!(server.client().await.ask(&post_with(VALIDATE, &long, b"")).await.status, 431);
    let many = "X-Many: x\r\n".repeat(200);
    assert_eq!(server.client().await.ask(&post_with(VALIDATE, &many, b"")).await.status, 431);
    server.still_serves().await;
}

#[tokio::test]
async fn another_method_is_405_and_another_path_404() {
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
    let get = client.ask(format!("GET {VALIDATE} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await;
    assert_eq!((get.status, get.header("allow")), (405, Some("POST")));
    assert_eq!(client.ask(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.status, 404);
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200, "the connection is still good");
}

#[tokio::test]
async fn invalid_http_is_400() {
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
    assert_eq!(client.ask(b"\0\0\0\0 nonsense\r\n\r\n").await.status, 400);
    client.closed().await;
    server.until_metric("otter_webhook_connection_errors_total{reason=\"malformed\"}", 1).await;
    server.still_serves().await;
}

#[tokio::test]
async fn a_peer_that_reads_no_responses_times_out() {
    let server = test_server(Limits { write: SHORT, ..Limits::default() }).await;
    let mut greedy = server.client().await;
    // The responses must fill the buffers of both sockets.
    let request = post(VALIDATE, &review_of(&format!(r#"{{"mood":["{}"]}}"#, "x".repeat(4_000))));
    let asking = async { while greedy.send(&request).await.is_ok() {} };
    let timed_out = server.until_metric("otter_webhook_connection_errors_total{reason=\"answer\"}", 1);
    within_timeout(async {
        tokio::select! { () = asking => {}, () = timed_out => {} }
    })
    .await;
    server.until_metric("otter_webhook_connection_errors_total{reason=\"answer\"}", 1).await;
    drop(greedy);
    server.still_serves().await;
}

#[tokio::test]
async fn peers_that_read_no_responses_keep_no_client_out() {
    let limits = Limits { connections: Cap::at_most(4), write: LONG, deadline: LONG, ..Limits::default() };
    let server = test_server_with(Obeys(Gate::default()), limits, Protocols::default(), Blocker::default()).await;
    let mut greedy = Vec::new();
    for _ in 0..4 {
        let mut client = server.client().await;
        client.send(&post(VALIDATE, b"huge")).await.unwrap();
        greedy.push(client);
    }
    server.until_metric("otter_webhook_errors_total{review=\"validate\",code=\"504\"}", 4).await;
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert_eq!(server.metric("otter_webhook_body_bytes_in_flight"), 4 * HUGE as u64, "no response is written");
    assert_eq!(server.client().await.ask(&post(VALIDATE, b"pass")).await.status, 200);
    assert_eq!(server.metric("otter_webhook_connections_evicted_total{port=\"webhooks\"}"), 1);
    assert_eq!(server.metric("otter_webhook_connections_refused_total{port=\"webhooks\"}"), 0);
}

#[tokio::test]
async fn bodies_beyond_the_budget_are_429_with_retry_after() {
    let limits = Limits {
        admission_size: ByteSize::bytes(1_000),
        conversion_size: ByteSize::bytes(1_000),
        bodies_in_flight: ByteSize::bytes(1_000),
        inline_size: ByteSize::bytes(0),
        ..Limits::default()
    };
    let server = test_server(limits).await;
    let mut first = server.client().await;
    first.send(&post(VALIDATE, &review("asleep"))).await.unwrap();
    support::until("the handler blocks", || server.blocker.blocked() == 1).await;
    let spec = format!(r#"{{"mood":"playful","x":"{}"}}"#, "x".repeat(400));
    let response = server.client().await.ask(&post(VALIDATE, &review_of(&spec))).await;
    assert_eq!((response.status, response.header("retry-after")), (429, Some("1")));
    assert_eq!(server.metric("otter_webhook_shed_total{limit=\"bytes\"}"), 1);
    server.blocker.release(1);
    assert_eq!(first.response().await.unwrap().status, 200);
    assert_eq!(server.client().await.ask(&post(VALIDATE, &review_of(&spec))).await.status, 200);
}
