//! Ordinary callers of the real binary beside one who means harm: none of theirs fails. What they notice is printed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

#[path = "../src/demo/client.rs"]
#[allow(dead_code, reason = "it posts bytes only")]
mod client;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use client::ReviewClient;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;

/// How long ordinary callers ask alone, and beside the other.
const QUIET: Duration = Duration::from_secs(3);
const NOISY: Duration = Duration::from_secs(9);
/// How long the API server waits for an answer by default.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two ordinary requests: fifty a second.
const PAUSE: Duration = Duration::from_millis(20);

const GRAPHS: &str = "/validate/nvidia.com/v1beta1/dynamographdeployments";
const DEFAULTS: &str = "/mutate/nvidia.com/v1beta1/dynamographdeployments";

struct Server {
    child: Child,
    webhooks: SocketAddr,
    health: SocketAddr,
    metrics: SocketAddr,
    folder: TempDir,
}

impl Server {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_gateward"));
        command.args(["serve", "--local", "--listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0"]);
        command.args(["--metrics-listen", "127.0.0.1:0", "--ca-out", "ca.crt", "--log-level", "error"]);
        let mut child = command.current_dir(folder.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut address =
            || lines.next().unwrap().split("://").nth(1).unwrap().split('/').next().unwrap().parse().unwrap();
        let (webhooks, health, metrics) = (address(), address(), address());
        Self { child, webhooks, health, metrics, folder }
    }

    fn client(&self) -> ReviewClient {
        let ca = std::fs::read_to_string(self.folder.path().join("ca.crt")).unwrap();
        ReviewClient::new(self.webhooks, &ca).unwrap()
    }

    /// The most resident memory so far, in megabytes.
    fn peak_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn review(version: &str, object: &str) -> Bytes {
    let kind = format!(r#"{{"group":"nvidia.com","version":"{version}","kind":"DynamoGraphDeployment"}}"#);
    Bytes::from(format!(
        concat!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"8f9e","kind":{kind},"#,
            r#""name":"plover","namespace":"marsh","operation":"CREATE","userInfo":{{"username":"jane"}},"#,
            r#""object":{object}}}}}"#,
        ),
        kind = kind,
        object = object,
    ))
}

fn object(version: &str, spec: &str) -> String {
    format!(
        r#"{{"apiVersion":"nvidia.com/{version}","kind":"DynamoGraphDeployment","metadata":{{"name":"plover","namespace":"marsh"}},"spec":{spec}}}"#
    )
}

fn ordinary() -> Bytes {
    let pod = json!({"spec": {"containers": [{"name": "main", "image": "example.org/x:1.6.2"}]}});
    let spec = json!({"components": [{"name": "frontend", "type": "frontend", "podTemplate": pod}]});
    review("v1beta1", &object("v1beta1", &spec.to_string()))
}

/// The worst bodies that are known, each with its path.
fn worst() -> Vec<(&'static str, Bytes)> {
    let components = object("v1beta1", &format!(r#"{{"components":[{}]}}"#, vec!["{}"; 1_000_000].join(",")));
    let services: Vec<String> = (0..300_000).map(|number| format!(r#""{number:x}":{{}}"#)).collect();
    let services = object("v1alpha1", &format!(r#"{{"services":{{{}}}}}"#, services.join(",")));
    let text = object("v1beta1", &format!(r#"{{"components":"{}"}}"#, "🦦".repeat(1_700_000)));
    let conversion = format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{{"uid":"8f9e","desiredAPIVersion":"nvidia.com/v1alpha1","objects":[{components}]}}}}"#
    );
    vec![
        (DEFAULTS, review("v1beta1", &components)),
        (GRAPHS, review("v1beta1", &components)),
        (GRAPHS, review("v1alpha1", &services)),
        (GRAPHS, review("v1beta1", &text)),
        ("/convert", Bytes::from(conversion)),
    ]
}

/// Fifty ordinary requests a second, each over a connection of its own: how long each took.
async fn ask(server: &Server, time: Duration) -> Vec<Duration> {
    let (client, body) = (Arc::new(server.client()), ordinary());
    let (mut asking, start) = (JoinSet::new(), Instant::now());
    let mut pace = tokio::time::interval(PAUSE);
    while start.elapsed() < time {
        pace.tick().await;
        let (client, body) = (Arc::clone(&client), body.clone());
        asking.spawn(async move {
            let start = Instant::now();
            let answer = tokio::time::timeout(PATIENCE, client.post_bytes(GRAPHS, body)).await;
            let answer = answer.unwrap_or_else(|_| panic!("an ordinary request was not answered in time"));
            let (status, body) = answer.unwrap_or_else(|error| panic!("an ordinary request failed: {error:#}"));
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert!(status == 200 && body["response"]["allowed"] == true, "an ordinary request: {status} {body}");
            start.elapsed()
        });
    }
    asking.join_all().await
}

/// Sends the worst bodies over eight connections, with little time for each.
fn harm(server: &Server, stop: &Arc<AtomicBool>, sent: &Arc<AtomicUsize>) -> JoinSet<()> {
    let (client, worst) = (Arc::new(server.client()), Arc::new(worst()));
    let mut harming = JoinSet::new();
    for first in 0..8 {
        let (client, worst) = (Arc::clone(&client), Arc::clone(&worst));
        let (stop, sent) = (Arc::clone(stop), Arc::clone(sent));
        harming.spawn(async move {
            for number in first.. {
                let (path, body) = &worst[number % worst.len()];
                // Whatever comes of it; it may be nothing.
                let _ = client.post_bytes(&format!("{path}?timeout=1s"), body.clone()).await;
                sent.fetch_add(1, Ordering::SeqCst);
                if stop.load(Ordering::SeqCst) {
                    return;
                }
            }
        });
    }
    harming
}

/// Keeps seventy connections open at each port, and says nothing over them.
fn rest(server: &Server, stop: &Arc<AtomicBool>) -> thread::JoinHandle<()> {
    let (ports, stop) = ([server.webhooks, server.health, server.metrics], Arc::clone(stop));
    thread::spawn(move || {
        while !stop.load(Ordering::SeqCst) {
            let resting: Vec<_> = ports.iter().flat_map(|port| vec![port; 70]).map(TcpStream::connect).collect();
            thread::sleep(Duration::from_secs(1));
            drop(resting);
        }
    })
}

/// Probes all the time: how long each took.
fn probe(server: &Server, stop: &Arc<AtomicBool>) -> thread::JoinHandle<Vec<Duration>> {
    let (health, stop) = (server.health, Arc::clone(stop));
    thread::spawn(move || {
        let mut took = Vec::new();
        while !stop.load(Ordering::SeqCst) {
            let start = Instant::now();
            let mut stream = TcpStream::connect(health).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            write!(stream, "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
            let mut page = String::new();
            stream.read_to_string(&mut page).unwrap();
            assert!(page.ends_with("\r\n\r\nok"), "{page}");
            took.push(start.elapsed());
            thread::sleep(PAUSE);
        }
        took
    })
}

/// The longest of all but one in a hundred, and the longest.
fn percentiles(mut took: Vec<Duration>) -> String {
    took.sort_unstable();
    let (count, longest) = (took.len(), took.last().copied().unwrap_or_default());
    format!("{count}, p99 {:.1?}, longest {longest:.1?}", took[(count * 99 / 100).min(count - 1)])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_ordinary_request_fails_beside_the_worst_that_is_known() {
    let server = Server::start();
    let quiet = ask(&server, QUIET).await;
    println!("ordinary requests, quiet: {}; {} MB", percentiles(quiet), server.peak_memory());
    let (stop, sent) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
    let (harming, resting, probing) = (harm(&server, &stop, &sent), rest(&server, &stop), probe(&server, &stop));
    let noisy = ask(&server, NOISY).await;
    stop.store(true, Ordering::SeqCst);
    let probes = probing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    resting.join().unwrap();
    println!("ordinary requests, beside the worst: {}; {} MB", percentiles(noisy), server.peak_memory());
    println!("probes: {}; worst requests answered: {}", percentiles(probes), sent.load(Ordering::SeqCst));
    // They may wait for long, and nobody waits for them.
    drop(harming);
    assert!(sent.load(Ordering::SeqCst) > 0, "nobody did any harm");
}
