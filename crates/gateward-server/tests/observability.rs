//! What an administrator sees: probes, metrics and the log.
#![allow(clippy::unwrap_used, clippy::panic, reason = "what can't be set up is a failed test")]

mod support;

use std::net::SocketAddr;
use std::sync::Once;
use std::time::Duration;

use gateward_server::{Cap, HttpServer, Limits, Metrics, Port, Readiness, ReportLine};
use support::client::{post, within_timeout};
use support::log::{Log, line, logged};
use support::otter::{conversion, review, review_of};
use support::{ANYWHERE, CONVERT, MUTATE, VALIDATE, test_server};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn get(address: SocketAddr, target: &str, headers: &str) -> String {
    let mut socket = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n");
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    within_timeout(socket.read_to_string(&mut response)).await.unwrap();
    response
}

async fn health(readiness: Readiness) -> HttpServer {
    let metrics = Metrics::new("otter");
    HttpServer::bind(ANYWHERE.parse().unwrap(), Port::Health, readiness, &metrics).await.unwrap()
}

#[tokio::test]
async fn probes_respond_before_and_after_the_listener_is_open() {
    let readiness = Readiness::new();
    let probes = health(readiness.clone()).await;
    assert!(get(probes.address(), "/healthz", "").await.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(get(probes.address(), "/readyz", "").await.starts_with("HTTP/1.1 503 "));
    assert!(get(probes.address(), "/metrics", "").await.starts_with("HTTP/1.1 404 "));

    let server = test_server(Limits::default()).await;
    server.running.self_check(&server.trust()).await;
    let probes = health(server.readiness.clone()).await;
    assert!(get(probes.address(), "/readyz", "").await.ends_with("\r\n\r\nok"));
    let verbose = get(probes.address(), "/readyz?verbose", "").await;
    assert!(verbose.contains("[+]listener ok\n[+]certificate ok\n[+]handshake ok\n"), "{verbose}");
}

#[tokio::test]
async fn readyz_of_a_starting_pod_shows_its_waits() {
    let readiness = Readiness::new();
    let probes = health(readiness.clone()).await;
    let waiting = readiness.wait_for("certificate", "the Secret zoo/webhook-server-cert");
    readiness.report("injection", vec![ReportLine::Warning("no webhook configuration carries our labels".into())]);
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
async fn probes_reject_other_methods() {
    let probes = health(Readiness::new()).await;
    let mut socket = TcpStream::connect(probes.address()).await.unwrap();
    socket.write_all(b"DELETE /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).await.unwrap();
    assert!(response.starts_with("HTTP/1.1 405 ") && response.contains("allow: GET, HEAD\r\n"), "{response}");
    let address = probes.address();
    drop(probes);
    support::until("the listener is closed", || std::net::TcpStream::connect(address).is_err()).await;
}

#[tokio::test]
async fn metrics_have_the_names_and_labels_of_the_dashboards() {
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
    for (path, mood) in [(VALIDATE, "playful"), (VALIDATE, "playful"), (VALIDATE, "unprintable"), (MUTATE, "playful")] {
        assert_eq!(client.ask(&post(path, &review(mood))).await.status, 200);
    }
    client.ask(&post(MUTATE, &review_of(r#"{"mood":"playful","river":"Tay"}"#))).await;
    client.ask(&post(VALIDATE, b"{}")).await;
    client.ask(&post("/nowhere", b"{}")).await;

    let otter = "resource_type=\"Otter\",operation=\"CREATE\"";
    let seen = |name: &str, labels: &str| server.metric(&format!("otter_webhook_{name}{{{otter}{labels}}}"));
    assert_eq!(seen("requests_total", ",result=\"allowed\""), 2);
    assert_eq!(seen("requests_total", ",result=\"denied\""), 1);
    assert_eq!(seen("denials_total", ",reason=\"validation\""), 1);
    assert_eq!(seen("duration_seconds_count", ""), 3);
    assert_eq!(seen("mutations_total", ",result=\"patched\""), 1);
    assert_eq!(seen("mutations_total", ",result=\"unchanged\""), 1);
    assert_eq!(seen("mutation_duration_seconds_count", ""), 2);
    assert_eq!(server.metric("otter_webhook_errors_total{review=\"validate\",code=\"400\"}"), 1);
    assert_eq!(server.metric("otter_webhook_errors_total{review=\"none\",code=\"404\"}"), 1);
    assert_eq!(server.metric("otter_webhook_requests_in_flight"), 0);
    assert_eq!(server.metric("otter_webhook_connections"), 1);
    assert!(server.metric("otter_webhook_request_bytes_total") > 2_000);
}

#[tokio::test]
async fn durations_have_the_buckets_of_the_dashboards() {
    let server = test_server(Limits::default()).await;
    server.still_serves().await;
    let (_, text) = server.metrics.text(None);
    let bounds: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("otter_webhook_duration_seconds_bucket"))
        .map(|line| line.split("le=\"").nth(1).unwrap().split('"').next().unwrap())
        .collect();
    assert_eq!(bounds, ["0.001", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1.0", "2.5", "5.0", "+Inf"]);
}

#[tokio::test]
async fn metrics_are_served_in_the_accepted_format() {
    let metrics = Metrics::new("dynamo_operator");
    let server = HttpServer::bind(ANYWHERE.parse().unwrap(), Port::Metrics, metrics.clone(), &metrics).await.unwrap();
    let text = get(server.address(), "/metrics", "").await;
    assert!(text.contains("content-type: text/plain; version=0.0.4"), "{text}");
    assert!(text.contains("# TYPE dynamo_operator_webhook_panics_total counter\n"));
    let open_metrics =
        get(server.address(), "/metrics", "Accept: application/openmetrics-text;version=1.0.0\r\n").await;
    assert!(open_metrics.contains("content-type: application/openmetrics-text; version=1.0.0"), "{open_metrics}");
    assert!(open_metrics.contains("\ndynamo_operator_webhook_panics_total 0\n") && open_metrics.ends_with("# EOF\n"));
}

#[tokio::test]
async fn unknown_kinds_are_no_labels() {
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
    for number in 0..100 {
        let body = String::from_utf8(review("playful")).unwrap().replace("Otter", &format!("Weasel{number}"));
        assert_eq!(client.ask(&post(VALIDATE, body.as_bytes())).await.status, 400);
        let body = String::from_utf8(conversion("playful", 1)).unwrap().replace("Otter", &format!("Weasel{number}"));
        assert_eq!(client.ask(&post(CONVERT, body.as_bytes())).await.status, 200);
    }
    assert!(!server.metrics.text(None).1.contains("Weasel"));
}

/// Captures the log at info from now on.
fn capture_the_log() {
    static SUBSCRIBER: Once = Once::new();
    SUBSCRIBER.call_once(|| tracing_subscriber::fmt().with_ansi(false).with_writer(|| Log).init());
}

#[tokio::test]
async fn the_startup_log_is_that_of_controller_runtime() {
    capture_the_log();
    let server = test_server(Limits::default()).await;
    assert!(line("Registering validation webhooks").contains(VALIDATE));
    assert!(line("Registering mutating webhooks").contains(MUTATE));
    assert!(line("Starting webhook server").contains(&server.address().to_string()));
    server.running.self_check(&server.trust()).await;
    assert!(line("self-check passed: TLS handshake verified against all caBundles").contains("INFO"));
}

#[tokio::test]
async fn each_review_is_one_line_without_object_contents() {
    capture_the_log();
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
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
async fn what_a_handler_logs_names_the_review() {
    capture_the_log();
    let server = test_server(Limits::default()).await;
    server.client().await.ask(&post(VALIDATE, &review("talkative"))).await;
    for text in ["before a pause", "after a pause"] {
        let line = line(text);
        for part in [
            "review{",
            "uid=\"705ab4f5\"",
            "kind=\"zoo.dev/v1 Otter\"",
            "namespace=\"river\"",
            "object_name=\"ottilie\"",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }
    let answered = line("validate create");
    assert!(answered.contains("verdict=\"allowed\"") && !answered.contains("review{"), "{answered}");
}

#[tokio::test]
async fn a_review_that_was_given_up_is_named_in_the_log() {
    capture_the_log();
    let server = test_server(Limits { deadline: Duration::from_millis(300), ..Limits::default() }).await;
    assert_eq!(server.client().await.ask(&post(VALIDATE, &review("asleep"))).await.status, 504);
    assert_eq!(server.client().await.ask(&post(VALIDATE, &review("angry"))).await.status, 500);
    for line in [line("status=504"), line("a handler panicked")] {
        assert!(line.contains("uid=\"705ab4f5\"") && line.contains("name=\"ottilie\""), "{line}");
    }
}

#[tokio::test]
async fn a_conversion_is_one_line_and_lost_data_is_a_warning() {
    capture_the_log();
    let server = test_server(Limits::default()).await;
    let mut client = server.client().await;
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
async fn a_failed_conversion_is_a_warning_with_object_and_field_and_without_values() {
    capture_the_log();
    let server = test_server(Limits::default()).await;
    let body = String::from_utf8(conversion("playful", 2)).unwrap();
    let bad = body.replacen("ottilie\"", "otto\",\"namespace\":\"river\"", 2).replacen("\"playful\"", "12345", 1);
    server.client().await.ask(&post(CONVERT, bad.as_bytes())).await;
    let line = line("convert uid");
    for field in ["WARN", "name=\"otto\"", "namespace=\"river\"", "verdict=\"failed\"", "index=0", "path=\"spec.mood\""]
    {
        assert!(line.contains(field), "{field} in {line}");
    }
    assert!(!logged().iter().any(|line| line.contains("12345")));
}

#[tokio::test]
async fn a_name_cannot_forge_a_line_or_fill_the_log() {
    capture_the_log();
    let server = test_server(Limits::default()).await;
    let body = String::from_utf8(review("playful")).unwrap();
    let forged = body.replacen("ottilie", &format!("x\\n2026 INFO webhook: forged{}", "x".repeat(10_000)), 1);
    server.client().await.ask(&post(VALIDATE, forged.as_bytes())).await;
    let line = line("validate create");
    assert!(line.contains("x\\n2026 INFO webhook: forged") && line.len() < 1_000, "{line}");
}

#[tokio::test]
async fn a_review_without_a_verdict_is_a_warning() {
    capture_the_log();
    let server = test_server(Limits::default()).await;
    server.client().await.ask(&post(&format!("{VALIDATE}?timeout=200ms"), &review("asleep"))).await;
    let line = line("verdict=\"undecided\"");
    assert!(line.contains("WARN") && line.contains("status=504"), "{line}");
}

#[tokio::test]
async fn evicted_connections_are_logged_once_a_minute() {
    capture_the_log();
    let server = test_server(Limits { connections: Cap::at_most(1), ..Limits::default() }).await;
    let mut flood = Vec::new();
    for _ in 0..10 {
        flood.push(TcpStream::connect(server.address()).await.unwrap());
    }
    server.until_metric("otter_webhook_connections_evicted_total{port=\"webhooks\"}", 9).await;
    let lines: Vec<_> = logged().into_iter().filter(|line| line.contains("connection limit reached")).collect();
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert!(line.contains("WARN") && line.contains("port=\"webhooks\" refused=0 evicted=1"), "{line}");
}
