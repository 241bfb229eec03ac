//! A whole server in an author's test.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::Arc;
use std::time::Duration;

use gateward::prelude::*;
use gateward::testing::{TestServer, test_server};
use gateward::{Limits, Server};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

#[derive(Serialize, Deserialize)]
struct Otter {
    fish: i64,
}

resource!(Otter, "zoo.example/v1", "Otter", "otters");

async fn fed(new: &Otter, _: &Request) -> Verdict {
    tokio::time::sleep(Duration::from_millis(5)).await;
    if new.fish > 0 { Verdict::allow() } else { Verdict::deny("an otter needs fish") }
}

fn otters() -> Webhooks {
    Webhooks::new().register(Webhook::<Otter>::new().validator(fed))
}

fn review(fish: i64) -> String {
    let object = json!({"apiVersion": "zoo.example/v1", "kind": "Otter", "metadata": {"name": "a"}, "fish": fish});
    let kind = json!({"group": "zoo.example", "version": "v1", "kind": "Otter"});
    let request =
        json!({"uid": "7", "kind": kind, "name": "a", "namespace": "zoo", "operation": "CREATE", "object": object});
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).to_string()
}

/// The status line, and the response of the review, of a client that trusts the server's CA and no other.
async fn ask(server: &TestServer, body: &str) -> (String, Value) {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(server.ca_pem().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let connector = TlsConnector::from(Arc::new(config.with_root_certificates(roots).with_no_client_auth()));
    let socket = TcpStream::connect(server.address()).await.unwrap();
    let mut stream = connector.connect("127.0.0.1".try_into().unwrap(), socket).await.unwrap();

    let webhooks = otters();
    let (path, _) = webhooks.paths().find(|(path, _)| path.starts_with("/validate")).unwrap();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: otter\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // The other side may close without a word of TLS.
    drop(stream.read_to_end(&mut answer).await);
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap_or_default();
    (head.lines().next().unwrap().to_owned(), body["response"].clone())
}

#[tokio::test]
async fn a_review_is_answered_over_tls_until_the_server_is_dropped() {
    let server = test_server(otters());
    let (status, denied) = ask(&server, &review(0)).await;
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert_eq!(denied["allowed"], false);
    assert_eq!(denied["uid"], "7");
    assert_eq!(ask(&server, &review(1)).await.1["allowed"], true);
    assert_eq!(server.url(), format!("https://{}", server.address()));
    assert!(server.address().ip().is_loopback() && server.health_address().ip().is_loopback());
    assert_eq!(
        CertificateDer::from(server.ca_der()),
        CertificateDer::from_pem_slice(server.ca_pem().as_bytes()).unwrap()
    );

    let address = server.address();
    drop(server);
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
}

#[tokio::test]
async fn a_server_is_set_up_otherwise() {
    let limits = Limits { admission_size: gateward::ByteSize::kibibytes(1), ..Limits::default() };
    let server = TestServer::start(Server::builder(otters()).limits(limits));
    assert_eq!(ask(&server, &" ".repeat(2000)).await.0, "HTTP/1.1 413 Payload Too Large");
}

#[test]
fn servers_stand_side_by_side_without_a_runtime() {
    let servers = [test_server(otters()), test_server(otters())];
    assert_ne!(servers[0].address(), servers[1].address());
    assert_ne!(servers[0].ca_pem(), servers[1].ca_pem());
}

#[test]
#[should_panic(expected = "the server doesn't start: ")]
fn declarations_that_contradict_each_other_are_no_start() {
    drop(test_server(Webhooks::new().register(Webhook::<Otter>::new())));
}
