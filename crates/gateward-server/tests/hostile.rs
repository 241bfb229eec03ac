//! Clients that mean harm, or are broken, against a real server. Each test ends with an ordinary review that passes.
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod scene;

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use gateward_server::{ByteSize, Cap, Limits};
use scene::client::{Client, config, patiently, post, post_with};
use scene::otter::{review, review_of};
use scene::{MUTATE, VALIDATE, scene};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

const SHORT: Duration = Duration::from_millis(500);

/// Longer than anything that a server should do by itself within a test.
const LONG: Duration = Duration::from_hours(1);

fn chunked(body: &[u8]) -> Vec<u8> {
    let mut chunked = format!("{:x}\r\n", body.len()).into_bytes();
    chunked.extend_from_slice(body);
    chunked.extend_from_slice(b"\r\n0\r\n\r\n");
    post_with(VALIDATE, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", &chunked)
}

/// Sends a byte now and then until the server hangs up.
async fn trickle(client: &mut Client, bytes: &[u8]) {
    for byte in bytes.iter().cycle() {
        if client.send(&[*byte]).await.is_err() || client.hangs_up_within(Duration::from_millis(50)).await {
            return;
        }
    }
}

#[tokio::test]
async fn a_head_that_trickles_is_given_up_though_idle_connections_may_rest() {
    let scene = scene(Limits { head: SHORT, idle: LONG, ..Limits::default() }).await;
    let mut resting = scene.client().await;
    let mut slow = scene.client().await;
    patiently(trickle(&mut slow, b"POST / HTTP/1.1\r\nX: ")).await;
    scene.until_metric("otter_webhook_connection_errors_total{reason=\"head\"}", 1).await;
    assert_eq!(resting.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    scene.still_serves().await;
}

#[tokio::test]
async fn half_a_head_after_a_good_request_is_given_up_too() {
    let scene = scene(Limits { head: SHORT, idle: LONG, ..Limits::default() }).await;
    let mut client = scene.client().await;
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    client.send(b"POST ").await.unwrap();
    client.hung_up().await;
    scene.until_metric("otter_webhook_connection_errors_total{reason=\"head\"}", 1).await;
}

#[tokio::test]
async fn a_connection_that_only_rests_is_closed_in_the_end() {
    let scene = scene(Limits { idle: SHORT, ..Limits::default() }).await;
    let mut client = scene.client().await;
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    client.hung_up().await;
    scene.until_metric("otter_webhook_connection_errors_total{reason=\"idle\"}", 1).await;
    scene.still_serves().await;
}

#[tokio::test]
async fn a_body_that_trickles_is_408() {
    let scene = scene(Limits { body: SHORT, ..Limits::default() }).await;
    let mut client = scene.client().await;
    let head = post_with(VALIDATE, "Content-Type: application/json\r\nContent-Length: 1000\r\n", b"{");
    let response = client.ask(&head).await;
    assert_eq!((response.status, response.header("connection")), (408, Some("close")));
    client.hung_up().await;
    scene.still_serves().await;
}

#[tokio::test]
async fn a_body_that_announces_too_much_is_413_before_it_is_read() {
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    let head = post_with(VALIDATE, "Content-Type: application/json\r\nContent-Length: 9000000\r\n", b"");
    let response = client.ask(&head).await;
    assert_eq!((response.status, response.header("connection")), (413, Some("close")));
    assert_eq!(response.json()["code"], 413);
    scene.still_serves().await;
}

#[tokio::test]
async fn a_client_that_sends_too_much_at_once_still_reads_the_refusal() {
    let scene = scene(Limits { linger: Duration::from_secs(30), ..Limits::default() }).await;
    let mut client = scene.client().await;
    let response = client.ask(&post(VALIDATE, &vec![b' '; 9_000_000])).await;
    assert_eq!(response.status, 413);
    scene.still_serves().await;
}

#[tokio::test]
async fn a_body_without_a_length_is_counted_while_it_streams() {
    let scene = scene(Limits { linger: Duration::from_secs(30), ..Limits::default() }).await;
    let mut client = scene.client().await;
    let response = client.ask(&chunked(&vec![b' '; 9_000_000])).await;
    assert_eq!(response.status, 413);
    assert_eq!(scene.client().await.ask(&chunked(&review("playful"))).await.status, 200);
    scene.until_metric("otter_webhook_body_bytes_in_flight", 0).await;
}

#[tokio::test]
async fn chunks_that_are_none_are_400() {
    let scene = scene(Limits::default()).await;
    let headers = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n";
    let response = scene.client().await.ask(&post_with(VALIDATE, headers, b"zz\r\n")).await;
    assert_eq!(response.status, 400);
    scene.still_serves().await;
}

#[tokio::test]
async fn three_hundred_connections_that_all_ask_meet_the_cap_and_the_rest_is_served() {
    let scene = scene(Limits { connections: Cap::at_most(200), ..Limits::default() }).await;
    let mut clients = Vec::new();
    for _ in 0..200 {
        let mut client = scene.client().await;
        client.send(&post(VALIDATE, &review("asleep"))).await.unwrap();
        clients.push(client);
    }
    scene::until("all otters sleep", || scene.lodge.asleep() == 200).await;
    for _ in 0..100 {
        assert!(Client::connect(scene.address(), &scene.trust()).await.is_err());
    }
    assert_eq!(scene.metric("otter_webhook_connections_refused_total{port=\"webhooks\"}"), 100);
    scene.lodge.wake(200);
    for client in &mut clients {
        assert_eq!(client.response().await.unwrap().status, 200);
    }
    clients.truncate(199);
    scene.until_metric("otter_webhook_connections", 199).await;
    scene.still_serves().await;
}

#[tokio::test]
async fn garbage_instead_of_tls_is_turned_away() {
    let scene = scene(Limits::default()).await;
    for garbage in [&b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"[..], &[0; 600], &[0x16, 3, 1, 0xff, 0xff, 1]] {
        let mut socket = TcpStream::connect(scene.address()).await.unwrap();
        socket.write_all(garbage).await.unwrap();
        socket.shutdown().await.unwrap();
        // Whatever is said, an alert or nothing, ends.
        let _ = patiently(socket.read_to_end(&mut Vec::new())).await;
    }
    scene.until_metric("otter_webhook_handshake_failures_total{reason=\"tls\"}", 3).await;
    scene.still_serves().await;
}

#[tokio::test]
async fn a_peer_that_connects_and_says_nothing_is_closed() {
    let scene = scene(Limits { handshake: SHORT, ..Limits::default() }).await;
    let mut socket = TcpStream::connect(scene.address()).await.unwrap();
    let _ = patiently(socket.read_to_end(&mut Vec::new())).await;
    assert_eq!(scene.metric("otter_webhook_handshake_failures_total{reason=\"timeout\"}"), 1);
}

/// A socket that takes one byte at a time.
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
async fn a_client_hello_in_fragments_is_put_together() {
    let scene = scene(Limits::default()).await;
    let socket = TcpStream::connect(scene.address()).await.unwrap();
    socket.set_nodelay(true).unwrap();
    let mut config = config(&scene.trust(), &["http/1.1"]);
    // TLS records of at most 32 bytes, each sent byte by byte.
    config.max_fragment_size = Some(32);
    let mut client = Client::over(ByteByByte(socket), &scene.trust(), config).await.unwrap();
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200);
    scene.still_serves().await;
}

#[tokio::test]
async fn a_peer_without_a_common_protocol_is_turned_away_in_the_handshake() {
    let scene = scene(Limits::default()).await;
    let h2_only = config(&scene.trust(), &["h2"]);
    assert!(Client::connect_with(scene.address(), &scene.trust(), h2_only).await.is_err());
    let both = config(&scene.trust(), &["h2", "http/1.1"]);
    let client = Client::connect_with(scene.address(), &scene.trust(), both).await.unwrap();
    assert_eq!(client.protocol(), Some(&b"http/1.1"[..]));
    scene.still_serves().await;
}

#[tokio::test]
async fn a_peer_that_closes_its_half_or_vanishes_leaves_nothing_behind() {
    let scene = scene(Limits::default()).await;
    let mut half = scene.client().await;
    half.send(&post(VALIDATE, &review("asleep"))).await.unwrap();
    scene::until("the otter sleeps", || scene.lodge.asleep() == 1).await;
    let mut half = half.into_stream();
    half.shutdown().await.unwrap();
    scene::until("the work is dropped", || scene.lodge.asleep() == 0).await;
    drop(scene.client().await);
    drop(half);
    scene.until_metric("otter_webhook_connections", 0).await;
    scene.still_serves().await;
}

#[tokio::test]
async fn a_name_of_six_megabytes_is_told_once_and_shortly() {
    let scene = scene(Limits::default()).await;
    let ordinary = String::from_utf8(review("unprintable")).unwrap();
    let answer = |response: scene::client::Response| String::from_utf8(response.body).unwrap();
    let whole = answer(scene.client().await.ask(&post(VALIDATE, ordinary.as_bytes())).await);
    assert!(whole.contains(r#"\"ottilie\" is invalid"#) && whole.contains(r#""name":"ottilie""#), "{whole}");
    let endless = ordinary.replacen("\"name\":\"ottilie", &format!("\"name\":\"{}", "x".repeat(6_000_000)), 1);
    let cut = answer(scene.client().await.ask(&post(VALIDATE, endless.as_bytes())).await);
    assert!(cut.len() < 1_000 && cut.matches("xxx").count() < 100, "{} bytes", cut.len());
    assert!(cut.contains("x…") && cut.contains("spec.mood"), "{cut}");
}

#[tokio::test]
async fn bytes_that_are_no_utf8_are_400() {
    let scene = scene(Limits::default()).await;
    let mut body = review("playful");
    let mood = body.windows(7).position(|window| window == b"playful").unwrap();
    body[mood] = 0xff;
    let mut client = scene.client().await;
    assert_eq!(client.ask(&post(VALIDATE, &body)).await.status, 400);
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200, "the connection is still good");
}

#[tokio::test]
async fn an_object_nested_a_hundred_thousand_deep_costs_one_answer() {
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    for deep in ["[".repeat(100_000) + &"]".repeat(100_000), "[".repeat(100_000), r#"{"a":"#.repeat(100_000)] {
        for path in [VALIDATE, MUTATE] {
            let response = client.ask(&post(path, &review_of(&deep))).await;
            let refused = response.status == 400 || response.json()["response"]["allowed"] == false;
            assert!(refused, "{response:?}");
        }
    }
    scene.still_serves().await;
}

#[tokio::test]
async fn a_packed_body_is_415() {
    let scene = scene(Limits::default()).await;
    let headers = "Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n";
    let response = scene.client().await.ask(&post_with(VALIDATE, headers, &[0x1f, 0x8b, 8])).await;
    assert_eq!(response.status, 415);
    scene.still_serves().await;
}

#[tokio::test]
async fn two_lengths_are_400_and_two_types_415() {
    let scene = scene(Limits::default()).await;
    let lengths = "Content-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n";
    assert_eq!(scene.client().await.ask(&post_with(VALIDATE, lengths, b"{}")).await.status, 400);
    let types = "Content-Type: application/json\r\nContent-Type: text/html\r\nContent-Length: 2\r\n";
    assert_eq!(scene.client().await.ask(&post_with(VALIDATE, types, b"{}")).await.status, 415);
    scene.still_serves().await;
}

#[tokio::test]
async fn a_length_beside_chunks_smuggles_nothing() {
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    let headers = "Content-Type: application/json\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n";
    let smuggled = [&b"0\r\n\r\n"[..], &post(VALIDATE, &review("playful"))].concat();
    let first = client.ask(&post_with(VALIDATE, headers, &smuggled)).await;
    assert_eq!(first.status, 400, "an empty body is no review");
    // Chunks decide where the first request ends; what follows is read as a request of its own or not at all.
    if let Some(second) = client.response().await {
        assert_eq!(second.status, 200);
    }
    scene.still_serves().await;
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    let both = [post(VALIDATE, &review("playful")), post(VALIDATE, &review("unprintable"))].concat();
    client.send(&both).await.unwrap();
    assert_eq!(client.response().await.unwrap().json()["response"]["allowed"], true);
    assert_eq!(client.response().await.unwrap().json()["response"]["allowed"], false);
}

#[tokio::test]
async fn a_large_head_is_431() {
    let scene = scene(Limits::default()).await;
    let long = format!("X-Long: {}\r\n", "x".repeat(40_000));
    assert_eq!(scene.client().await.ask(&post_with(VALIDATE, &long, b"")).await.status, 431);
    let many = "X-Many: x\r\n".repeat(200);
    assert_eq!(scene.client().await.ask(&post_with(VALIDATE, &many, b"")).await.status, 431);
    scene.still_serves().await;
}

#[tokio::test]
async fn another_method_is_405_and_another_path_404() {
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    let get = client.ask(format!("GET {VALIDATE} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await;
    assert_eq!((get.status, get.header("allow")), (405, Some("POST")));
    assert_eq!(client.ask(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.status, 404);
    assert_eq!(client.ask(&post(VALIDATE, &review("playful"))).await.status, 200, "the connection is still good");
}

#[tokio::test]
async fn what_is_no_http_is_400() {
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    assert_eq!(client.ask(b"\0\0\0\0 nonsense\r\n\r\n").await.status, 400);
    client.hung_up().await;
    scene.until_metric("otter_webhook_connection_errors_total{reason=\"malformed\"}", 1).await;
    scene.still_serves().await;
}

#[tokio::test]
async fn a_peer_that_takes_no_answers_is_given_up() {
    let scene = scene(Limits { write: SHORT, ..Limits::default() }).await;
    let mut greedy = scene.client().await;
    // The answers must fill the buffers of both sockets.
    let request = post(VALIDATE, &review_of(&format!(r#"{{"mood":["{}"]}}"#, "x".repeat(4_000))));
    let asking = async { while greedy.send(&request).await.is_ok() {} };
    let given_up = scene.until_metric("otter_webhook_connection_errors_total{reason=\"answer\"}", 1);
    patiently(async {
        tokio::select! { () = asking => {}, () = given_up => {} }
    })
    .await;
    scene.until_metric("otter_webhook_connection_errors_total{reason=\"answer\"}", 1).await;
    drop(greedy);
    scene.still_serves().await;
}

#[tokio::test]
async fn bodies_beyond_the_budget_are_shed_with_advice() {
    let limits = Limits {
        admission_size: ByteSize::bytes(1_000),
        conversion_size: ByteSize::bytes(1_000),
        bodies_in_flight: ByteSize::bytes(1_000),
        inline_size: ByteSize::bytes(0),
        ..Limits::default()
    };
    let scene = scene(limits).await;
    let mut first = scene.client().await;
    first.send(&post(VALIDATE, &review("asleep"))).await.unwrap();
    scene::until("the otter sleeps", || scene.lodge.asleep() == 1).await;
    let spec = format!(r#"{{"mood":"playful","x":"{}"}}"#, "x".repeat(400));
    let response = scene.client().await.ask(&post(VALIDATE, &review_of(&spec))).await;
    assert_eq!((response.status, response.header("retry-after")), (429, Some("1")));
    assert_eq!(scene.metric("otter_webhook_shed_total{limit=\"bytes\"}"), 1);
    scene.lodge.wake(1);
    assert_eq!(first.response().await.unwrap().status, 200);
    assert_eq!(scene.client().await.ask(&post(VALIDATE, &review_of(&spec))).await.status, 200);
}
