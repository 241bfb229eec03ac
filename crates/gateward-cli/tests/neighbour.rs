//! Ordinary callers of the real binary beside one who means harm: none of theirs fails. What they notice is printed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

#[path = "../src/demo/client.rs"]
#[allow(dead_code, reason = "it posts bytes only")]
mod client;
#[path = "../../dynamo-webhooks/tests/cost/dear.rs"]
#[allow(dead_code, reason = "it has parts that are measured alone")]
mod dear;
#[path = "../../dynamo-webhooks/tests/cost/shape.rs"]
#[allow(dead_code, reason = "few of them are dear")]
mod shape;
#[path = "../../dynamo-webhooks/tests/cost/target.rs"]
#[allow(dead_code, reason = "what is hostile in each place costs less")]
mod target;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
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
/// The memory limit of the chart, in MiB.
const MEMORY: u64 = 2048;
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

    /// The most resident memory so far, in MiB.
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

/// A body that harms, and where it is sent.
struct Harmful {
    path: &'static str,
    body: Bytes,
}

/// The dearest ones that are known.
fn dear() -> Vec<Harmful> {
    dear::bodies().into_iter().map(|dear| Harmful { path: dear.path, body: dear.text.into() }).collect()
}

/// Large ones that are refused when a part of them is read.
fn refused() -> [Harmful; 2] {
    let components = object("v1beta1", &format!(r#"{{"components":[{}]}}"#, vec!["{}"; 1_000_000].join(",")));
    let services: Vec<String> = (0..300_000).map(|number| format!(r#""{number:x}":{{}}"#)).collect();
    let services = object("v1alpha1", &format!(r#"{{"services":{{{}}}}}"#, services.join(",")));
    [
        Harmful { path: DEFAULTS, body: review("v1beta1", &components) },
        Harmful { path: GRAPHS, body: review("v1alpha1", &services) },
    ]
}

/// Each does what it is for where nothing presses: the dear ones are judged or converted, the others refused.
async fn assert_harmful(server: &Server) {
    let client = server.client();
    let ask = async |harmful: &Harmful| {
        let (status, answer) = client.post_bytes(harmful.path, harmful.body.clone()).await.unwrap();
        assert_eq!(status, 200, "{} {}", harmful.path, String::from_utf8_lossy(&answer));
        serde_json::from_slice::<Value>(&answer).unwrap()["response"].take()
    };
    for harmful in dear() {
        let answer = ask(&harmful).await;
        match harmful.path {
            "/convert" => assert_eq!(answer["result"]["status"], "Success", "{answer}"),
            DEFAULTS => assert_eq!(answer["allowed"], true, "{answer}"),
            // Refused by a rule, after all of it was read.
            _ => assert_eq!(answer["auditAnnotations"]["rules"], "RT-03", "{answer}"),
        }
    }
    for harmful in refused() {
        assert_eq!(ask(&harmful).await["allowed"], false);
    }
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

/// How many bodies were answered, by status; 0 is no answer.
type Answered = Arc<Mutex<BTreeMap<u16, usize>>>;

/// Sends the worst bodies over eight connections: half of them with little time for each, half with all there is.
fn harm(server: &Server, stop: &Arc<AtomicBool>, answered: &Answered) -> JoinSet<()> {
    let worst: Vec<Harmful> = dear().into_iter().chain(refused()).collect();
    let (client, worst) = (Arc::new(server.client()), Arc::new(worst));
    let mut harming = JoinSet::new();
    for first in 0..8 {
        let (client, worst) = (Arc::clone(&client), Arc::clone(&worst));
        let (stop, answered) = (Arc::clone(stop), Arc::clone(answered));
        harming.spawn(async move {
            for number in first.. {
                let Harmful { path, body } = &worst[number % worst.len()];
                let target = if first % 2 == 0 { format!("{path}?timeout=1s") } else { (*path).to_owned() };
                // Whatever comes of it; it may be nothing.
                let answer = client.post_bytes(&target, body.clone()).await;
                let status = answer.map_or(0, |(status, _)| status.as_u16());
                *answered.lock().unwrap().entry(status).or_default() += 1;
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
    println!("ordinary requests, quiet: {}; {} MiB", percentiles(quiet), server.peak_memory());
    assert_harmful(&server).await;
    println!("each of the worst alone: {} MiB", server.peak_memory());
    let (stop, answered) = (Arc::<AtomicBool>::default(), Answered::default());
    let (harming, resting, probing) = (harm(&server, &stop, &answered), rest(&server, &stop), probe(&server, &stop));
    let noisy = ask(&server, NOISY).await;
    stop.store(true, Ordering::SeqCst);
    let probes = probing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    resting.join().unwrap();
    let (memory, answered) = (server.peak_memory(), answered.lock().unwrap().clone());
    println!("ordinary requests, beside the worst: {}; {memory} MiB", percentiles(noisy));
    println!("/healthz: {}; answers to the worst by status: {answered:?}", percentiles(probes));
    // They may wait for long, and nobody waits for them.
    drop(harming);
    assert!(!answered.is_empty(), "nobody did any harm");
    assert!(memory < MEMORY, "{memory} MiB");
}
