//! What an operator sees from outside: probes, metrics and the log.
#![allow(clippy::unwrap_used, clippy::panic, reason = "what can't be set up is a failed test")]

mod scene;

use std::net::SocketAddr;
use std::sync::Once;

use gateward_server::{Cap, Limits, Line, Metrics, PlainServer, Port, Readiness};
use scene::client::{patiently, post};
use scene::log::{Log, line, logged};
use scene::otter::{conversion, review, review_of};
use scene::{ANYWHERE, CONVERT, MUTATE, VALIDATE, scene};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn get(address: SocketAddr, target: &str, headers: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    patiently(socket.read_to_string(&mut response)).await.unwrap();
    response
}

async fn health(readiness: Readiness) -> PlainServer {
    let metrics = Metrics::new("otter");
    PlainServer::bind(ANYWHERE.parse().unwrap(), Port::Health, readiness, &metrics).await.unwrap()
}

#[tokio::test]
async fn probes_answer_before_and_after_the_listener() {
    let readiness = Readiness::new();
    let probes = health(readiness.clone()).await;
    assert!(get(probes.address(), "/healthz", "").await.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(get(probes.address(), "/readyz", "").await.starts_with("HTTP/1.1 503 "));
    assert!(get(probes.address(), "/metrics", "").await.starts_with("HTTP/1.1 404 "));

    let scene = scene(Limits::default()).await;
    scene.server.prove(&scene.trust()).await;
    let probes = health(scene.readiness.clone()).await;
    assert!(get(probes.address(), "/readyz", "").await.ends_with("\r\n\r\nok"));
    let verbose = get(probes.address(), "/readyz?verbose", "").await;
    assert!(verbose.contains("[+]listener ok\n[+]certificate ok\n[+]handshake ok\n"), "{verbose}");
}

#[tokio::test]
async fn a_probe_of_a_pod_that_starts_says_what_it_waits_for() {
    let readiness = Readiness::new();
    let probes = health(readiness.clone()).await;
    let waiting = readiness.wait_for("certificate", "the Secret zoo/webhook-server-cert");
    readiness.report("injection", vec![Line::Warning("no webhook configuration carries our labels".into())]);
    let response = get(probes.address(), "/readyz", "").await;
    assert!(response.starts_with("HTTP/1.1 503 "), "{response}");
    assert!(response.contains("[-]listener failed: the listener is not open yet\n"), "{response}");
    assert!(response.contains("[-]certificate failed: waiting for 0 s: the Secret zoo/webhook-server-cert\n"));
    assert!(response.contains("[!]injection: no webhook configuration carries our labels\n"), "{response}");
    assert!(get(probes.address(), "/healthz", "").await.ends_with("\r\n\r\nok"));
    drop(waiting);
    assert!(!get(probes.address(), "/readyz", "").await.contains("waiting"));
}

#[tokio::test]
async fn probes_take_no_other_method_and_no_garbage() {
    let probes = health(Readiness::new()).await;
    let mut socket = TcpStream::connect(probes.address()).await.unwrap();
    socket.write_all(b"DELETE /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 405 ") && response.contains("allow: GET, HEAD\r\n"), "{response}");
    let address = probes.address();
    drop(probes);
    scene::until("the listener is closed", || std::net::TcpStream::connect(address).is_err()).await;
}

#[tokio::test]
async fn metrics_have_the_names_and_labels_that_dashboards_know() {
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    for (path, mood) in [(VALIDATE, "playful"), (VALIDATE, "playful"), (VALIDATE, "unprintable"), (MUTATE, "playful")] {
        assert_eq!(client.ask(&post(path, &review(mood))).await.status, 200);
    }
    client.ask(&post(MUTATE, &review_of(r#"{"mood":"playful","river":"Tay"}"#))).await;
    client.ask(&post(VALIDATE, b"{}")).await;
    client.ask(&post("/nowhere", b"{}")).await;

    let otter = "resource_type=\"Otter\",operation=\"CREATE\"";
    let seen = |name: &str, labels: &str| scene.metric(&format!("otter_webhook_{name}{{{otter}{labels}}}"));
    assert_eq!(seen("requests_total", ",result=\"allowed\""), 2);
    assert_eq!(seen("requests_total", ",result=\"denied\""), 1);
    assert_eq!(seen("denials_total", ",reason=\"validation\""), 1);
    assert_eq!(seen("duration_seconds_count", ""), 3);
    assert_eq!(seen("mutations_total", ",result=\"patched\""), 1);
    assert_eq!(seen("mutations_total", ",result=\"unchanged\""), 1);
    assert_eq!(seen("mutation_duration_seconds_count", ""), 2);
    assert_eq!(scene.metric("otter_webhook_errors_total{review=\"validate\",code=\"400\"}"), 1);
    assert_eq!(scene.metric("otter_webhook_errors_total{review=\"none\",code=\"404\"}"), 1);
    assert_eq!(scene.metric("otter_webhook_requests_in_flight"), 0);
    assert_eq!(scene.metric("otter_webhook_connections"), 1);
    assert!(scene.metric("otter_webhook_request_bytes_total") > 2_000);
}

#[tokio::test]
async fn durations_have_the_buckets_that_dashboards_know() {
    let scene = scene(Limits::default()).await;
    scene.still_serves().await;
    let (_, text) = scene.metrics.text(None);
    let bounds: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("otter_webhook_duration_seconds_bucket"))
        .map(|line| line.split("le=\"").nth(1).unwrap().split('"').next().unwrap())
        .collect();
    assert_eq!(bounds, ["0.001", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1.0", "2.5", "5.0", "+Inf"]);
}

#[tokio::test]
async fn metrics_are_served_in_the_format_that_the_scraper_asks_for() {
    let metrics = Metrics::new("dynamo_operator");
    let server = PlainServer::bind(ANYWHERE.parse().unwrap(), Port::Metrics, metrics.clone(), &metrics).await.unwrap();
    let older = get(server.address(), "/metrics", "").await;
    assert!(older.contains("content-type: text/plain; version=0.0.4"), "{older}");
    assert!(older.contains("# TYPE dynamo_operator_webhook_panics_total counter\n"));
    let newer = get(server.address(), "/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n").await;
    assert!(newer.contains("content-type: application/openmetrics-text; version=1.0.0"), "{newer}");
    assert!(newer.contains("\ndynamo_operator_webhook_panics_total 0\n") && newer.ends_with("# EOF\n"));
}

#[tokio::test]
async fn nobody_fills_the_memory_with_names_of_kinds() {
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    for number in 0..100 {
        let body = String::from_utf8(review("playful")).unwrap().replace("Otter", &format!("Weasel{number}"));
        assert_eq!(client.ask(&post(VALIDATE, body.as_bytes())).await.status, 400);
        let body = String::from_utf8(conversion("playful", 1)).unwrap().replace("Otter", &format!("Weasel{number}"));
        assert_eq!(client.ask(&post(CONVERT, body.as_bytes())).await.status, 200);
    }
    assert!(!scene.metrics.text(None).1.contains("Weasel"));
}

/// Keeps what is logged at info from now on.
fn listen_to_the_log() {
    static SUBSCRIBER: Once = Once::new();
    SUBSCRIBER.call_once(|| tracing_subscriber::fmt().with_ansi(false).with_writer(|| Log).init());
}

#[tokio::test]
async fn the_start_is_logged_as_the_guide_says() {
    listen_to_the_log();
    let scene = scene(Limits::default()).await;
    assert!(line("Registering validation webhooks").contains(VALIDATE));
    assert!(line("Registering mutating webhooks").contains(MUTATE));
    assert!(line("Starting webhook server").contains(&scene.address().to_string()));
    scene.server.prove(&scene.trust()).await;
    assert!(line("The listener is proved by a verified handshake").contains("INFO"));
}

#[tokio::test]
async fn each_review_is_one_line_without_contents() {
    listen_to_the_log();
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    client.ask(&post(VALIDATE, &review("unprintable"))).await;
    client.ask(&post(MUTATE, &review("playful"))).await;

    let denied = line("validate create");
    for field in ["uid=\"705ab4f5\"", "kind=\"zoo.dev/v1 Otter\"", "namespace=\"river\"", "name=\"ottilie\""] {
        assert!(denied.contains(field), "{field} in {denied}");
    }
    assert!(denied.contains("verdict=\"denied\" rules=\"OTTER-01\" findings=\"OTTER-01 spec.mood\""), "{denied}");
    assert!(line("mutate create").contains("verdict=\"patched\""));
    assert_eq!(logged().iter().filter(|line| line.contains("ottilie")).count(), 2);
    assert!(!logged().iter().any(|line| line.contains("unprintable") || line.contains("playful")));
}

#[tokio::test]
async fn a_conversion_is_one_line_and_what_it_gave_up_is_a_warning() {
    listen_to_the_log();
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    client.ask(&post(CONVERT, &conversion("playful", 3))).await;
    client.ask(&post(CONVERT, &conversion("forgetful", 1))).await;

    let converted = line("convert uid");
    let fields = ["INFO", "uid=\"705ab4f5\"", "kind=\"zoo.dev/v1 Otter\"", "verdict=\"converted\"", "objects=3"];
    for field in fields {
        assert!(converted.contains(field), "{field} in {converted}");
    }
    let dropped = line("can't read what it kept");
    for field in ["WARN", "uid=\"705ab4f5\"", "rule=\"STASH\"", "path=\"metadata.annotations[zoo.dev/rest]\""] {
        assert!(dropped.contains(field), "{field} in {dropped}");
    }
    assert!(!logged().iter().any(|line| line.contains("playful") || line.contains("forgetful")));
}

#[tokio::test]
async fn a_failed_conversion_is_a_warning_that_names_object_and_field_and_quotes_nothing() {
    listen_to_the_log();
    let scene = scene(Limits::default()).await;
    let body = String::from_utf8(conversion("playful", 2)).unwrap();
    let bad = body.replacen("ottilie\"", "otto\",\"namespace\":\"river\"", 2).replacen("\"playful\"", "12345", 1);
    scene.client().await.ask(&post(CONVERT, bad.as_bytes())).await;
    let line = line("convert uid");
    for field in ["WARN", "name=\"otto\"", "namespace=\"river\"", "verdict=\"failed\"", "index=0", "path=\"spec.mood\""]
    {
        assert!(line.contains(field), "{field} in {line}");
    }
    assert!(!logged().iter().any(|line| line.contains("12345")));
}

#[tokio::test]
async fn a_name_cannot_forge_a_line_or_fill_the_log() {
    listen_to_the_log();
    let scene = scene(Limits::default()).await;
    let body = String::from_utf8(review("playful")).unwrap();
    let forged = body.replacen("ottilie", &format!("x\\n2026 INFO webhook: forged{}", "x".repeat(10_000)), 1);
    scene.client().await.ask(&post(VALIDATE, forged.as_bytes())).await;
    let line = line("validate create");
    assert!(line.contains("x\\n2026 INFO webhook: forged") && line.len() < 1_000, "{line}");
}

#[tokio::test]
async fn what_could_not_be_decided_is_a_warning() {
    listen_to_the_log();
    let scene = scene(Limits::default()).await;
    scene.client().await.ask(&post(&format!("{VALIDATE}?timeout=200ms"), &review("asleep"))).await;
    let line = line("verdict=\"undecided\"");
    assert!(line.contains("WARN") && line.contains("status=504"), "{line}");
}

#[tokio::test]
async fn connections_that_find_no_room_are_logged_once_a_minute() {
    listen_to_the_log();
    let scene = scene(Limits { connections: Cap::at_most(1), ..Limits::default() }).await;
    let mut crowd = Vec::new();
    for _ in 0..10 {
        crowd.push(TcpStream::connect(scene.address()).await.unwrap());
    }
    scene.until_metric("otter_webhook_connections_evicted_total{port=\"webhooks\"}", 9).await;
    let lines: Vec<_> = logged().into_iter().filter(|line| line.contains("connection limit reached")).collect();
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert!(line.contains("WARN") && line.contains("port=\"webhooks\" refused=0 evicted=1"), "{line}");
}
