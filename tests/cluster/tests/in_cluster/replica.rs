//! A process that believes to be in a Pod, and the Pod that leads to it.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster_tests::{Bed, until};
use serde_json::{Value, json};

use crate::release::{NAMESPACE, RELEASE, SERVICE, apply};

/// Where Pods of replicas are. Controllers pass over a Pod that is on no node.
const NODE: &str = "island";

/// A running replica. It is killed when this is dropped.
pub struct Replica {
    bed: Arc<Bed>,
    child: Child,
    pub ip: Ipv4Addr,
    pub name: String,
    log: PathBuf,
}

impl Replica {
    /// Starts the program with a configuration, and makes the Pod that it believes to be in.
    pub async fn start(bed: &Arc<Bed>, number: u8, further: &Value) -> anyhow::Result<Self> {
        // Every address of the bed's network of Pods is local.
        let (ip, name) = (Ipv4Addr::new(10, 244, 77, number), format!("otter-{number}"));
        let (file, log) = (bed.folder().join(format!("{name}.yaml")), bed.folder().join(format!("{name}.log")));
        std::fs::write(&file, configuration(ip, further).to_string())?;
        let out = std::fs::OpenOptions::new().create(true).append(true).open(&log)?;
        let mut command = bed.programs().gateward();
        command.args(["serve", "--config"]).arg(&file).args(["--operator-version", "1.4.0"]);
        in_a_pod(&mut command, bed, ip, &name);
        let child = command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out).spawn()?;
        let replica = Self { bed: Arc::clone(bed), child, ip, name, log };
        replica.make_pod().await?;
        Ok(replica)
    }

    async fn make_pod(&self) -> anyhow::Result<()> {
        let pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": self.name, "namespace": NAMESPACE, "labels": labels()},
            "spec": {"containers": [{"name": "manager", "image": "gateward"}], "nodeName": NODE},
        });
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}});
        apply(&self.bed, &format!("/api/v1/nodes/{NODE}"), &node).await?;
        apply(&self.bed, &self.place(), &pod).await?;
        self.tell_ready("False").await
    }

    /// Says what a kubelet would say of its readiness.
    pub async fn tell_ready(&self, ready: &str) -> anyhow::Result<()> {
        let status = json!({"status": {
            "phase": "Running",
            "podIP": self.ip.to_string(),
            "podIPs": [{"ip": self.ip.to_string()}],
            "conditions": [{"type": "Ready", "status": ready}],
        }});
        self.bed.client().merge(&format!("{}/status", self.place()), &status).await?.granted()?;
        let reported = async || self.is_called().await == [ready == "True"; 2];
        until(&format!("the API server hears of {}", self.name), Duration::from_mins(2), reported).await;
        Ok(())
    }

    /// Waits until it says that it is ready, tells so, and gives the time that it took.
    pub async fn becomes_ready(&self) -> Duration {
        let start = Instant::now();
        let what = format!("{} is ready", self.name);
        until(&what, Duration::from_mins(2), async || self.page("/readyz").is_some_and(|(status, _)| status == 200))
            .await;
        self.tell_ready("True").await.unwrap();
        start.elapsed()
    }

    fn place(&self) -> String {
        format!("/api/v1/namespaces/{NAMESPACE}/pods/{}", self.name)
    }

    /// Whether its address is behind the Service, by slices and by Endpoints.
    async fn is_called(&self) -> [bool; 2] {
        let read = async |path: String| self.bed.client().get(&path).await.unwrap().body;
        let slices = read(format!("/apis/discovery.k8s.io/v1/namespaces/{NAMESPACE}/endpointslices")).await;
        let endpoints = read(format!("/api/v1/namespaces/{NAMESPACE}/endpoints/{SERVICE}")).await;
        let own = Value::from(self.ip.to_string());
        let is_ready = |endpoint: &Value| {
            endpoint["conditions"]["ready"] == true && items(&endpoint["addresses"]).any(|address| *address == own)
        };
        [
            items(&slices["items"]).flat_map(|slice| items(&slice["endpoints"])).any(is_ready),
            items(&endpoints["subsets"]).flat_map(|subset| items(&subset["addresses"])).any(|one| one["ip"] == own),
        ]
    }

    /// A page of the health listener, if anybody answers.
    pub fn page(&self, path: &str) -> Option<(u16, String)> {
        let address = SocketAddr::from((self.ip, 8081));
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(2)).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: otter\r\nConnection: close\r\n\r\n").ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let status = answer.get(9..12)?.parse().ok()?;
        Some((status, answer.split_once("\r\n\r\n")?.1.to_owned()))
    }

    /// What it has logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let reported = Command::new("sh").args(["-c", &format!("kill -s {name} {}", self.child.id())]).status();
        assert!(reported.unwrap().success());
    }

    /// How it has ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Takes its Pod away.
    pub async fn remove_pod(&self) {
        let now = json!({"gracePeriodSeconds": 0});
        self.bed.client().delete_with(&self.place(), &now).await.unwrap().granted().unwrap();
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// By which Pods of replicas are found.
pub fn labels() -> Value {
    json!({
        "app.kubernetes.io/name": "dynamo-operator",
        "app.kubernetes.io/instance": RELEASE,
        "app.kubernetes.io/component": "webhook",
    })
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn configuration(ip: Ipv4Addr, further: &Value) -> Value {
    let mut configuration = json!({
        "apiVersion": "operator.config.dynamo.nvidia.com/v1alpha1",
        "kind": "OperatorConfiguration",
        "server": {
            "metrics": {"bindAddress": ip.to_string(), "secure": true},
            "healthProbe": {"bindAddress": ip.to_string()},
            "webhook": {"host": ip.to_string(), "certProvisionMode": "auto"},
        },
        "leaderElection": {"enabled": true, "id": "dynamo.nvidia.com", "namespace": "kube-system"},
        "colour": "green",
    });
    for (key, value) in further.as_object().into_iter().flatten() {
        configuration[key] = value.clone();
    }
    configuration
}

fn in_a_pod(command: &mut Command, bed: &Bed, ip: Ipv4Addr, name: &str) {
    command.env("KUBECONFIG", bed.folder().join("kubeconfig"));
    command.env("POD_NAME", name).env("POD_NAMESPACE", NAMESPACE).env("POD_IP", ip.to_string());
    command.env("POD_SERVICE_ACCOUNT", "otter-dynamo-operator").env("POD_INSTANCE", RELEASE);
}
