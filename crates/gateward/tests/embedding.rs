//! The webhooks in a process that does other things too.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::future::pending;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use gateward::config::{Config, HttpVersions, ListenAddress, Listeners, MetricsAccess};
use gateward::prelude::*;
use gateward::testing::Stored;
use gateward::{
    CertResolver, Client, ClusterReader, ControllersError, Drain, Identity, Limits, Metrics, Operator, Readiness,
    Release, Server, ServerError, ShutdownSignal,
};
use gateward_certs::{Ca, CommonName, IssuedCertificate, ServerNames, SystemKeys, TEN_YEARS, Validity};
use http_body_util::{BodyExt as _, Full};
use rustls_pki_types::CertificateDer;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio_rustls::TlsConnector;
use tower_service::Service as _;

#[derive(Serialize, Deserialize)]
struct Otter {
    spec: Spec,
}

#[derive(Serialize, Deserialize)]
struct Spec {
    fish: i64,
}

resource!(Otter, "zoo.example/v1", "Otter", "otters");

#[derive(Serialize, Deserialize)]
struct Holt {}

resource!(Holt, "zoo.example/v1", "Holt", "holts");

/// An otter is fed.
struct Fed;

#[handler]
impl Validator<Otter> for Fed {
    async fn create(&self, new: &Otter, _: &Request) -> Verdict {
        if new.spec.fish > 0 { Verdict::allow() } else { Verdict::deny("an otter needs fish") }
    }
}

fn otters() -> Webhooks {
    Webhooks::new().register(Webhook::<Otter>::new().validator(Fed).on([Create]))
}

fn review(fish: i64) -> String {
    let object =
        json!({"apiVersion": "zoo.example/v1", "kind": "Otter", "metadata": {"name": "a"}, "spec": {"fish": fish}});
    let kind = json!({"group": "zoo.example", "version": "v1", "kind": "Otter"});
    let resource = json!({"group": "zoo.example", "version": "v1", "resource": "otters"});
    let request = json!({
        "uid": "1", "kind": kind, "resource": resource, "name": "a", "namespace": "zoo", "operation": "CREATE",
        "userInfo": {"username": "keeper"}, "object": object,
    });
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).to_string()
}

fn validating_path() -> String {
    let webhooks = otters();
    let path = webhooks.paths().map(|(path, _)| path.to_owned()).find(|path| path.starts_with("/validate"));
    path.unwrap()
}

/// A server's certificate from a CA of its own.
struct Pair {
    ca: Ca,
    leaf: IssuedCertificate,
}

impl Pair {
    fn new() -> Self {
        Self::valid(Validity::starting(SystemTime::now(), TEN_YEARS).unwrap())
    }

    fn valid(validity: Validity) -> Self {
        let always = Validity::starting(SystemTime::UNIX_EPOCH + TEN_YEARS, TEN_YEARS * 9).unwrap();
        let ca = Ca::new(&CommonName::new("zoo").unwrap(), always, &SystemKeys).unwrap();
        let leaf = ca.issue(&ServerNames::parse(["otters.zoo.svc"]).unwrap(), validity, &SystemKeys).unwrap();
        Self { ca, leaf }
    }

    fn write(&self, directory: &Path) {
        self.write_as(directory, "tls");
    }

    fn write_as(&self, directory: &Path, name: &str) {
        let file = |extension: &str| directory.join(format!("{name}.{extension}"));
        std::fs::write(file("key"), self.leaf.private_key_pem().as_bytes()).unwrap();
        std::fs::write(file("crt"), self.leaf.certificate_pem()).unwrap();
    }

    /// Whether a client that trusts this pair's CA talks to a server that shows this certificate.
    async fn is_shown_at(&self, address: SocketAddr) -> bool {
        self.connected(address).await.is_some_and(|shown| shown == *self.leaf.certificate())
    }

    async fn connected(&self, address: SocketAddr) -> Option<CertificateDer<'static>> {
        let stream = self.connect(address).await?;
        stream.get_ref().1.peer_certificates()?.first().map(|shown| shown.clone().into_owned())
    }

    async fn connect(&self, address: SocketAddr) -> Option<tokio_rustls::client::TlsStream<TcpStream>> {
        let mut roots = rustls::RootCertStore::empty();
        roots.add(self.ca.certificate().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config =
            rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = config.with_root_certificates(roots).with_no_client_auth();
        let socket = TcpStream::connect(address).await.ok()?;
        TlsConnector::from(Arc::new(config)).connect("otters.zoo.svc".try_into().unwrap(), socket).await.ok()
    }
}

fn free_ports() -> Listeners {
    let free = ListenAddress { ip: Some([127, 0, 0, 1].into()), port: 0 };
    Listeners {
        webhooks: free,
        health: free,
        metrics: free,
        metrics_access: MetricsAccess::Open,
        http: HttpVersions::Http1,
    }
}

/// A client whose API server never answers.
fn unreachable_client() -> Client {
    Client::try_from(kube::Config::new("http://127.0.0.1:1".parse().unwrap())).unwrap()
}

fn at_once() -> Drain {
    Drain { grace: Duration::ZERO, ..Drain::default() }
}

/// A review as a request, after which the connection is closed.
fn posted(review: &str) -> String {
    let (path, length) = (validating_path(), review.len());
    format!(
        "POST {path} HTTP/1.1\r\nHost: otter\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{review}"
    )
}

/// The answer to a request over a connection that is closed after it.
async fn ask(mut stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // The other side may close without a word of TLS.
    drop(stream.read_to_end(&mut answer).await);
    String::from_utf8(answer).unwrap()
}

async fn readiness_at(address: SocketAddr) -> String {
    let stream = TcpStream::connect(address).await.unwrap();
    ask(stream, "GET /readyz?verbose HTTP/1.1\r\nHost: otter\r\nConnection: close\r\n\r\n").await
}

async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !holds().await {
        assert!(start.elapsed() < Duration::from_mins(1), "{what} in a minute");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_certificate_in_a_directory_is_shown_and_reloaded_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let builder = Server::builder(otters()).certificate_dir(folder.path()).listeners(free_ports()).drain(at_once());
    let server = builder.start().await.unwrap();
    let (address, health) = (server.address(), server.health_address());
    let (end, ended) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run_until(async { drop(ended.await) }));

    until("it says what it waits for", async || readiness_at(health).await.contains("tls.crt: No such file")).await;
    assert!(readiness_at(health).await.starts_with("HTTP/1.1 503"));
    let first = Pair::new();
    first.write(folder.path());
    until("the first is shown", async || first.is_shown_at(address).await).await;
    until("it is ready", async || readiness_at(health).await.starts_with("HTTP/1.1 200")).await;

    let answer = ask(first.connect(address).await.unwrap(), &posted(&review(0))).await;
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("an otter needs fish"), "{answer}");

    let second = Pair::new();
    // The key of another certificate: nothing changes but the report.
    std::fs::write(folder.path().join("tls.key"), second.leaf.private_key_pem().as_bytes()).unwrap();
    until("the fault is reported", async || readiness_at(health).await.contains("does not belong to the certificate"))
        .await;
    assert!(first.is_shown_at(address).await);
    assert!(readiness_at(health).await.starts_with("HTTP/1.1 200"));
    second.write(folder.path());
    until("the second is shown", async || second.is_shown_at(address).await).await;
    until("the fault is gone", async || !readiness_at(health).await.contains("does not belong")).await;

    let yesterday = SystemTime::now() - Duration::from_hours(24);
    Pair::valid(Validity::starting(yesterday, Duration::from_hours(1)).unwrap()).write(folder.path());
    until("it is reported", async || readiness_at(health).await.contains("not valid at present")).await;
    assert!(second.is_shown_at(address).await);

    end.send(()).unwrap();
    assert_eq!(running.await.unwrap().unwrap().aborted, 0);
    assert!(TcpStream::connect(address).await.is_err(), "nobody listens any more");
}

/// OLM mounts its pair under these names too.
#[tokio::test]
async fn a_pair_with_the_names_of_an_api_server_is_shown_and_its_faults_name_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let builder = Server::builder(otters()).certificate_dir(folder.path()).listeners(free_ports()).drain(at_once());
    let server = builder.start().await.unwrap();
    let (address, health) = (server.address(), server.health_address());
    let (end, ended) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run_until(async { drop(ended.await) }));
    let first = Pair::new();
    first.write_as(folder.path(), "apiserver");
    until("the pair is shown", async || first.is_shown_at(address).await).await;
    let second = Pair::new();
    std::fs::write(folder.path().join("apiserver.key"), second.leaf.private_key_pem().as_bytes()).unwrap();
    until("the fault is reported", async || readiness_at(health).await.contains("apiserver.key")).await;
    second.write_as(folder.path(), "apiserver");
    until("the second is shown", async || second.is_shown_at(address).await).await;
    drop(end);
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_certificate_in_memory_is_the_resolvers_and_the_callers_readiness_counts() {
    let pair = Pair::new();
    let resolver = CertResolver::empty();
    let readiness = Readiness::new();
    let waiting = readiness.wait_for("cache", "the cache is not filled yet");
    let builder = Server::builder(otters()).certificates(resolver.clone()).readiness(readiness).drain(at_once());
    let server = builder.listeners(free_ports()).start().await.unwrap();
    let (address, health) = (server.address(), server.health_address());
    let (end, ended) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run_until(async { drop(ended.await) }));
    assert!(!pair.is_shown_at(address).await, "there is none yet");
    resolver.set(Identity::try_from(&pair.leaf).unwrap());
    assert!(pair.is_shown_at(address).await);
    let page = readiness_at(health).await;
    assert!(
        page.starts_with("HTTP/1.1 503") && page.contains("[-]cache ") && page.contains("the cache is not filled yet"),
        "{page}"
    );
    drop(waiting);
    let page = readiness_at(health).await;
    assert!(page.starts_with("HTTP/1.1 200") && !page.contains("handshake"), "{page}");
    drop(end);
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn reviews_are_counted_into_the_metrics_of_the_caller() {
    let (pair, resolver, metrics) = (Pair::new(), CertResolver::empty(), Metrics::new("zoo"));
    resolver.set(Identity::try_from(&pair.leaf).unwrap());
    let builder = Server::builder(otters()).certificates(resolver).metrics(metrics.clone()).drain(at_once());
    let server = builder.listeners(free_ports()).start().await.unwrap();
    let address = server.address();
    let (end, ended) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run_until(async { drop(ended.await) }));
    let answer = ask(pair.connect(address).await.unwrap(), &posted(&review(0))).await;
    assert!(answer.contains("an otter needs fish"), "{answer}");
    let (_, text) = metrics.text(None);
    let is_counted = |line: &&str| line.starts_with("zoo_webhook_denials_total{") && line.ends_with(" 1");
    assert_eq!(text.lines().filter(is_counted).count(), 1, "{text}");
    drop(end);
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_release_is_set_up_as_the_caller_says_and_waits_for_its_certificate() {
    let release = Release { name: "otters".into(), namespace: "zoo".into() };
    let config = Config { listeners: free_ports(), ..Config::of_release(&release, "otters").unwrap() };
    let builder =
        Server::builder(otters()).client(unreachable_client()).release("otters", "zoo").config(config).drain(at_once());
    let server = builder.start().await.unwrap();
    assert!(server.address().ip().is_loopback(), "the usual is all addresses");
    let health = server.health_address();
    let (end, ended) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run_until(async { drop(ended.await) }));
    let page = readiness_at(health).await;
    assert!(page.starts_with("HTTP/1.1 503") && page.contains("[-]certificate "), "{page}");
    drop(end);
    running.await.unwrap().unwrap();
}

/// Webhooks with controllers beside them.
struct Tended<C> {
    webhooks: Webhooks,
    controllers: C,
}

impl<C, F> Operator for Tended<C>
where
    C: Fn(ShutdownSignal) -> F + Send + Sync + 'static,
    F: Future<Output = Result<(), ControllersError>> + Send,
{
    fn webhooks(&self) -> &Webhooks {
        &self.webhooks
    }

    fn controllers(
        &self,
        _: Client,
        shutdown: ShutdownSignal,
    ) -> impl Future<Output = Result<(), ControllersError>> + Send {
        (self.controllers)(shutdown)
    }
}

/// A server of an operator with controllers, and the pair that it shows.
async fn tended(operator: impl Operator) -> (Server<impl Operator>, Pair) {
    let (pair, resolver) = (Pair::new(), CertResolver::empty());
    resolver.set(Identity::try_from(&pair.leaf).unwrap());
    let builder = Server::builder(operator).certificates(resolver).client(unreachable_client()).drain(at_once());
    (builder.listeners(free_ports()).start().await.unwrap(), pair)
}

/// Allows when it is released.
#[derive(Clone, Default)]
struct Held {
    begun: Arc<Notify>,
    released: Arc<Notify>,
}

#[handler]
impl Validator<Otter> for Held {
    async fn create(&self, _: &Otter, _: &Request) -> Verdict {
        self.begun.notify_one();
        self.released.notified().await;
        Verdict::allow()
    }
}

#[tokio::test]
async fn controllers_that_fail_end_the_server_once_reviews_in_flight_are_answered() {
    let held = Held::default();
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(held.clone()).on([Create]));
    let begun = Arc::clone(&held.begun);
    let controllers = move |_: ShutdownSignal| {
        let begun = Arc::clone(&begun);
        async move {
            begun.notified().await;
            Err(ControllersError::from("no such kind"))
        }
    };
    let (server, pair) = tended(Tended { webhooks, controllers }).await;
    let (address, health) = (server.address(), server.health_address());
    let running = tokio::spawn(server.run_until(pending()));
    until("it is ready", async || readiness_at(health).await.starts_with("HTTP/1.1 200")).await;

    let stream = pair.connect(address).await.unwrap();
    let asking = tokio::spawn(async move { ask(stream, &posted(&review(1))).await });
    until("readiness fails", async || readiness_at(health).await.starts_with("HTTP/1.1 503")).await;
    held.released.notify_one();
    let answer = asking.await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("\"allowed\":true"), "{answer}");
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the operator's controllers have ended: no such kind");
}

#[tokio::test]
async fn controllers_that_panic_start_anew_and_the_server_stays_ready_and_answers() {
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&starts);
    let controllers = move |shutdown: ShutdownSignal| {
        let before = counted.fetch_add(1, Ordering::Relaxed);
        async move {
            assert!(before > 0, "the first ones panic");
            shutdown.await;
            Ok(())
        }
    };
    let (server, pair) = tended(Tended { webhooks: otters(), controllers }).await;
    let (address, health) = (server.address(), server.health_address());
    let (end, ended) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run_until(async { drop(ended.await) }));
    until("they start anew", async || starts.load(Ordering::Relaxed) == 2).await;
    let page = readiness_at(health).await;
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("[!]controllers: panics so far: 1;"), "{page}");
    let answer = ask(pair.connect(address).await.unwrap(), &posted(&review(0))).await;
    assert!(answer.contains("an otter needs fish"), "{answer}");
    drop(end);
    running.await.unwrap().unwrap();
}

#[tokio::test]
async fn metrics_that_nobody_can_be_asked_about_are_no_start() {
    let listeners = Listeners { metrics_access: MetricsAccess::Authorized, ..free_ports() };
    let builder = Server::builder(otters()).certificates(CertResolver::empty()).listeners(listeners);
    let error = builder.start().await.err().unwrap();
    assert!(matches!(error, ServerError::MetricsAccess), "{error}");
    assert!(error.to_string().contains(".client(client)"), "{error}");
}

/// The verdict of the service, or the status that it answers with instead.
async fn served(path: &str, body: String) -> Result<Value, u16> {
    let mut service = otters().into_service(Arc::new(())).unwrap();
    let request = http::Request::post(path).header("Content-Type", "application/json").body(Full::from(body)).unwrap();
    let response = service.call(request).await.unwrap();
    if !response.status().is_success() {
        return Err(response.status().as_u16());
    }
    let body = response.into_body().collect().await.unwrap().to_bytes();
    Ok(serde_json::from_slice::<Value>(&body).unwrap()["response"].take())
}

#[tokio::test]
async fn a_router_that_is_already_there_answers_reviews() {
    assert_eq!(served(&validating_path(), review(1)).await.unwrap()["allowed"], true);
    let denied = served(&validating_path(), review(0)).await.unwrap();
    assert_eq!(denied["allowed"], false);
    assert!(denied["status"]["message"].as_str().unwrap().contains("an otter needs fish"), "{denied}");
    assert_eq!(served("/hello", review(1)).await, Err(404));
}

#[tokio::test]
async fn the_service_looks_up_in_the_cluster_that_it_is_given_and_counts() {
    async fn has_a_holt(_: &Otter, request: &Request) -> Result<(), Verdict> {
        let holt = request.find::<Holt>(Some("zoo"), "a").await?;
        holt.map(drop).ok_or_else(|| Verdict::deny("an otter needs a holt"))
    }
    let response = async |cluster: Option<Stored>| {
        let metrics = Metrics::new("otter");
        let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(has_a_holt).on([Create]));
        let cluster = cluster.map(|cluster| Arc::new(cluster) as Arc<dyn ClusterReader>);
        let mut service =
            webhooks.into_service_with(Arc::new(()), cluster, Limits::default(), metrics.clone()).unwrap();
        let request = http::Request::post(validating_path()).header("Content-Type", "application/json");
        let response = service.call(request.body(Full::from(review(1))).unwrap()).await.unwrap();
        (response.status().as_u16(), metrics.text(None).1)
    };
    assert_eq!(response(None).await.0, 503);
    let holt = json!({"metadata": {"namespace": "zoo", "name": "a"}});
    let (status, page) = response(Some(Stored::new().with::<Holt>(&holt))).await;
    assert_eq!(status, 200);
    assert!(page.contains("webhook_requests_total{resource_type=\"Otter\",operation=\"CREATE\""), "{page}");
}

#[tokio::test]
async fn the_service_keeps_the_limit_of_bodies() {
    assert_eq!(served(&validating_path(), " ".repeat(8 << 20)).await, Err(413));
}
