//! `serve --local` as a user starts it: the real binary, asked over verified TLS.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test")]

#[path = "../src/demo/client.rs"]
mod client;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use client::ReviewClient;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server in a process of its own.
struct Serving {
    child: Child,
    webhooks: SocketAddr,
    health: SocketAddr,
    metrics: SocketAddr,
    folder: TempDir,
}

impl Serving {
    /// Starts on free ports and reads where they are.
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = command(&folder, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut address = |name: &str| -> SocketAddr {
            let line = lines.next().unwrap();
            assert!(line.starts_with(name), "{line}");
            line.split("://").nth(1).unwrap().split('/').next().unwrap().parse().unwrap()
        };
        let (webhooks, health, metrics) = (address("webhooks"), address("health"), address("metrics"));
        Self { child, webhooks, health, metrics, folder }
    }

    /// A client that trusts what `--ca-out` wrote, and nothing else.
    fn client(&self) -> ReviewClient {
        let ca = std::fs::read_to_string(self.folder.path().join("ca.crt")).unwrap();
        ReviewClient::new(self.webhooks, &ca).unwrap()
    }

    async fn ask(&self, path: &str, review: &Value) -> Value {
        self.client().post(path, review).await.unwrap_or_else(|error| panic!("{path}: {error:#}"))["response"].take()
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("sh").args(["-c", &format!("kill -{name} {}", self.child.id())]).status().unwrap();
        assert!(sent.success());
    }

    /// Ends the server as Ctrl-C does, and gives its exit and its log.
    fn stop(mut self) -> (ExitStatus, String) {
        self.signal("INT");
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        (self.child.wait().unwrap(), log)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It has ended already, where the test went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(folder: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gateward"));
    command.args(["serve", "--local", "--listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0"]);
    command.args(["--metrics-listen", "127.0.0.1:0"]);
    if !arguments.contains(&"--ca-out") {
        command.args(["--ca-out", "ca.crt"]);
    }
    command.args(arguments).env_remove("GATEWARD_LOG").current_dir(folder.path());
    command
}

/// Status and body of a page that needs no TLS; `None` where nobody listens.
fn page(address: SocketAddr, path: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

fn review(version: &str, kind: &str, spec: &Value) -> Value {
    let api_version = format!("nvidia.com/{version}");
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "8f9e",
            "kind": {"group": "nvidia.com", "version": version, "kind": kind},
            "name": "plover",
            "namespace": "marsh",
            "operation": "CREATE",
            "userInfo": {"username": "jane"},
            "object": {
                "apiVersion": api_version,
                "kind": kind,
                "metadata": {"name": "plover", "namespace": "marsh"},
                "spec": spec,
            },
        }
    })
}

fn model(uri: &str) -> Value {
    let spec = json!({"modelName": "a", "baseModelName": "b", "modelType": "lora", "source": {"uri": uri}});
    review("v1alpha1", "DynamoModel", &spec)
}

/// A graph whose verdict needs two look-ups in the cluster.
fn graph() -> Value {
    let pod = |tag: &str| json!({"spec": {"containers": [{"name": "main", "image": format!("example.org/x:{tag}")}]}});
    let spec = json!({
        "topologyConstraint": {"clusterTopologyName": "east", "packDomain": "rack"},
        "components": [
            {"name": "frontend", "type": "frontend", "podTemplate": pod("1.4.2")},
            {"name": "picker", "type": "epp", "podTemplate": pod("1.6.2")},
        ],
    });
    review("v1beta1", "DynamoGraphDeployment", &spec)
}

#[tokio::test]
async fn every_path_that_a_configuration_may_name_is_served() {
    let serving = Serving::start(&[]);
    let empty = json!({});
    let graph = |version| review(version, "DynamoGraphDeployment", &empty);
    let component = |version| review(version, "DynamoComponentDeployment", &empty);
    let request = |version| review(version, "DynamoGraphDeploymentRequest", &empty);
    let served = [
        ("/validate/nvidia.com/v1beta1/dynamocomponentdeployments", component("v1beta1")),
        ("/validate/nvidia.com/v1beta1/dynamocomponentdeployments", component("v1alpha1")),
        ("/validate-nvidia-com-v1alpha1-dynamocomponentdeployment", component("v1alpha1")),
        ("/validate/nvidia.com/v1beta1/dynamographdeployments", graph("v1beta1")),
        ("/validate/nvidia.com/v1beta1/dynamographdeployments", graph("v1alpha1")),
        ("/validate-nvidia-com-v1alpha1-dynamographdeployment", graph("v1alpha1")),
        ("/validate-nvidia-com-v1alpha1-dynamomodel", model("hf://a/b")),
        ("/validate-nvidia-com-v1beta1-dynamographdeploymentrequest", request("v1beta1")),
        ("/validate-nvidia-com-v1beta1-dynamographdeploymentrequest", request("v1alpha1")),
        ("/validate-nvidia-com-v1alpha1-dynamographdeploymentrequest", request("v1alpha1")),
        ("/mutate/nvidia.com/v1beta1/dynamographdeployments", graph("v1beta1")),
        ("/mutate-nvidia-com-v1alpha1-dynamographdeployment", graph("v1alpha1")),
        ("/mutate-nvidia-com-v1beta1-dynamocomponentdeployment", component("v1beta1")),
        ("/mutate-nvidia-com-v1beta1-dynamographdeploymentrequest", request("v1beta1")),
    ];
    for (path, review) in served {
        assert_eq!(serving.ask(path, &review).await["uid"], "8f9e", "{path}");
    }
    let error = serving.client().post("/validate-nvidia-com-v1alpha1-dynamopod", &model("")).await.unwrap_err();
    assert!(error.to_string().contains("404"), "{error}");
}

#[tokio::test]
async fn a_log_line_says_what_was_decided_and_nothing_of_the_object() {
    let serving = Serving::start(&["--log-format", "json"]);
    let path = "/validate-nvidia-com-v1alpha1-dynamomodel";
    assert_eq!(serving.ask(path, &model("hf://a/b")).await["allowed"], true);
    assert_eq!(serving.ask(path, &model("https://heron:hunter2@example.org")).await["allowed"], false);
    let mut updated = model("s3://b/c");
    updated["request"]["operation"] = "UPDATE".into();
    updated["request"]["oldObject"] = updated["request"]["object"].clone();
    serving.ask(path, &updated).await;
    let (exit, log) = serving.stop();
    assert!(exit.success());
    assert!(!log.contains("hunter2") && !log.contains("hf://"), "{log}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lines_with = |message: &str| lines.iter().filter(|line| line["message"] == message).collect::<Vec<_>>();
    assert_eq!(lines_with("Registering validation webhooks").len(), 1);
    assert_eq!(lines_with("Starting webhook server").len(), 1);
    assert_eq!(lines_with("validate update")[0]["verdict"], "allowed");
    let [admitted, refused] = lines_with("validate create")[..] else { panic!("{log}") };
    assert_eq!((&admitted["verdict"], &admitted["rules"]), (&json!("allowed"), &json!("")));
    let wanted = [
        ("uid", "8f9e"),
        ("kind", "nvidia.com/v1alpha1 DynamoModel"),
        ("namespace", "marsh"),
        ("name", "plover"),
        ("verdict", "denied"),
        ("rules", "MODEL-05"),
        ("findings", "MODEL-05 spec.source.uri"),
        ("level", "INFO"),
    ];
    for (member, value) in wanted {
        assert_eq!(refused[member], value, "{member} of {refused}");
    }
}

/// A write to the pipe would block as soon as that is full.
#[tokio::test]
async fn reviews_are_answered_while_nobody_reads_the_log() {
    let serving = Serving::start(&[]);
    let (client, review) = (serving.client(), model("hf://a/b"));
    for _ in 0..400 {
        let answer = client.post("/validate-nvidia-com-v1alpha1-dynamomodel", &review).await.unwrap();
        assert_eq!(answer["response"]["allowed"], true);
    }
    let (exit, log) = serving.stop();
    assert!(exit.success());
    assert!(log.contains("log lines were lost: nobody read standard error"), "{log}");
}

#[tokio::test]
async fn a_name_can_neither_command_the_terminal_nor_turn_a_log_line_around() {
    let name = "plo\u{202e}ver\u{9b}31m\u{2066}";
    for format in ["json", "text"] {
        let serving = Serving::start(&["--log-format", format]);
        let mut review = model("hf://a/b");
        review["request"]["name"] = name.into();
        serving.ask("/validate-nvidia-com-v1alpha1-dynamomodel", &review).await;
        let (_, log) = serving.stop();
        let line = log.lines().find(|line| line.contains("validate create")).unwrap();
        assert!(line.contains("plo\\u") && line.is_ascii(), "{line}");
        let same = serde_json::from_str::<Value>(line).is_ok_and(|line| line["name"] == name);
        assert_eq!(same, format == "json", "{line}");
    }
}

#[tokio::test]
async fn probes_and_metrics_have_the_pages_and_names_that_operators_know() {
    let serving = Serving::start(&[]);
    assert_eq!(page(serving.health, "/healthz").unwrap(), (200, "ok".into()));
    assert_eq!(page(serving.health, "/readyz").unwrap(), (200, "ok".into()));
    let (status, parts) = page(serving.health, "/readyz?verbose").unwrap();
    assert!(status == 200 && parts.contains("[+]handshake ok"), "{parts}");

    serving.ask("/validate-nvidia-com-v1alpha1-dynamomodel", &model("hf://a/b")).await;
    serving.ask("/validate-nvidia-com-v1alpha1-dynamomodel", &model("nowhere")).await;
    let (_, metrics) = page(serving.metrics, "/metrics").unwrap();
    for series in [
        r#"dynamo_operator_webhook_requests_total{resource_type="DynamoModel",operation="CREATE",result="allowed"} 1"#,
        r#"dynamo_operator_webhook_requests_total{resource_type="DynamoModel",operation="CREATE",result="denied"} 1"#,
        r#"dynamo_operator_webhook_denials_total{resource_type="DynamoModel",operation="CREATE",reason="validation"} 1"#,
        r#"dynamo_operator_webhook_duration_seconds_bucket{le="0.001",resource_type="DynamoModel",operation="CREATE"}"#,
        r#"dynamo_operator_webhook_duration_seconds_bucket{le="5.0",resource_type="DynamoModel",operation="CREATE"} 2"#,
    ] {
        assert!(metrics.contains(series), "{series} is not in\n{metrics}");
    }
}

#[tokio::test]
async fn what_is_not_known_of_a_cluster_is_a_warning_and_a_facts_file_decides_it() {
    let path = "/validate/nvidia.com/v1beta1/dynamographdeployments";
    let unknown = Serving::start(&[]).ask(path, &graph()).await;
    assert_eq!((&unknown["allowed"], unknown["warnings"].as_array().unwrap().len()), (&json!(true), 2), "{unknown}");

    let folder = tempfile::tempdir().unwrap();
    let facts = folder.path().join("facts.yaml");
    std::fs::write(&facts, "inferencePoolAvailable: false\n").unwrap();
    let known = Serving::start(&["--facts", facts.to_str().unwrap()]).ask(path, &graph()).await;
    assert_eq!(known["auditAnnotations"]["rules"], "SHARED-46,DGD-66", "{known}");
    assert_eq!(known.get("warnings"), None);
}

#[tokio::test]
async fn sigterm_fails_readiness_first_and_goes_on_answering() {
    let mut serving = Serving::start(&[]);
    serving.signal("TERM");
    let start = Instant::now();
    while page(serving.health, "/readyz").unwrap().0 == 200 {
        assert!(start.elapsed() < Duration::from_secs(5), "still ready");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(page(serving.health, "/healthz").unwrap().0, 200);
    assert_eq!(serving.ask("/validate-nvidia-com-v1alpha1-dynamomodel", &model("hf://a/b")).await["allowed"], true);
    assert!(serving.child.wait().unwrap().success());
    assert!(page(serving.health, "/healthz").is_none());
}

/// What a server that doesn't start says, and its exit code.
fn failing(arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let output = command(&folder, arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_server_that_can_not_start_says_why_and_exits_with_2() {
    let folder = tempfile::tempdir().unwrap();
    let facts = folder.path().join("facts.json");
    std::fs::write(&facts, r#"{"clusterWid": true}"#).unwrap();
    let (code, said) = failing(&["--facts", facts.to_str().unwrap()]);
    assert!(code == Some(2) && said.contains("clusterWid"), "{said}");

    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gateward"));
    command.args(["serve", "--local", "--health-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]);
    let output = command.args(["--listen", &address]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains(&address), "{said}");

    let (code, said) = failing(&["--log-level", "x=y=z"]);
    assert!(code == Some(2) && said.contains("--log-level"), "{said}");
}

#[test]
fn the_certificate_is_written_to_a_file_and_to_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (there, link) = (folder.path().join("there"), folder.path().join("ca.crt"));
    std::fs::write(&there, "untouched").unwrap();
    std::os::unix::fs::symlink(&there, &link).unwrap();
    let (code, said) = failing(&["--ca-out", link.to_str().unwrap()]);
    assert!(code == Some(2) && said.contains("not a regular file"), "{said}");
    assert_eq!(std::fs::read_to_string(&there).unwrap(), "untouched");
    assert!(link.is_symlink());

    let (code, said) = failing(&["--ca-out", "/dev/null"]);
    assert!(code == Some(2) && said.contains("/dev/null: it is not a regular file"), "{said}");

    let serving = Serving::start(&[]);
    let names: Vec<_> = std::fs::read_dir(serving.folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names, ["ca.crt"], "nothing is left beside it");
}
