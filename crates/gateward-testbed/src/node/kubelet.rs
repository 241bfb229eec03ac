//! The scheduler and the kubelet: which Pods there are, and who works for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::entry::{Entry, Seen};
use super::environment::Source;
use super::fields::text;
use super::network::MACHINE;
use super::node_context::NodeContext;
use super::sources;
use super::status::timestamp;
use super::worker;
use crate::feed::{Event, Feed};

/// The one node.
const NAME: &str = "n1";
/// How soon something is tried again.
const PAUSE: Duration = Duration::from_millis(200);

/// The Pods of the node, each with a worker.
pub(crate) struct Kubelet {
    pub(crate) context: Arc<NodeContext>,
    pub(crate) pods: Mutex<BTreeMap<String, Arc<Entry>>>,
}

impl Kubelet {
    pub(crate) fn new(context: NodeContext) -> Self {
        Self { context: Arc::new(context), pods: Mutex::default() }
    }

    /// Makes the node and begins to work.
    pub(crate) async fn start(self: Arc<Self>) -> anyhow::Result<()> {
        self.context.client.post("/api/v1/nodes", &node()).await?.granted()?;
        // Nothing else removes the taint that each new node gets.
        self.context
            .client
            .merge(&format!("/api/v1/nodes/{NAME}"), &json!({"spec": {"taints": null}}))
            .await?
            .granted()?;
        let path = format!("/api/v1/nodes/{NAME}/status");
        self.context.client.merge(&path, &json!({"status": node()["status"]})).await?.granted()?;
        let watch = |collection, source| {
            sources::watch(self.context.client.clone(), collection, source, self.context.changes.clone())
        };
        tokio::spawn(watch("/api/v1/configmaps", Source::ConfigMap));
        tokio::spawn(watch("/api/v1/secrets", Source::Secret));
        tokio::spawn(self.follow());
        Ok(())
    }

    /// Works for each Pod there is, for ever.
    async fn follow(self: Arc<Self>) {
        let mut feed = Feed::of(&self.context.client, "/api/v1/pods");
        loop {
            match feed.next().await {
                Event::Listed(pods) => {
                    let there: BTreeSet<&str> = pods.iter().map(|pod| text(pod, "/metadata/uid")).collect();
                    let known: Vec<String> = self.pods.lock().unwrap().keys().cloned().collect();
                    known.iter().filter(|uid| !there.contains(uid.as_str())).for_each(|uid| self.lose(uid));
                    for pod in pods {
                        self.see(pod);
                    }
                }
                Event::Applied(pod) => self.see(pod),
                Event::Deleted(pod) => self.lose(text(&pod, "/metadata/uid")),
            }
        }
    }

    fn see(self: &Arc<Self>, pod: Value) {
        let uid = text(&pod, "/metadata/uid").to_owned();
        match text(&pod, "/spec/nodeName") {
            NAME => {}
            "" => {
                tokio::spawn(Arc::clone(self).bind(pod));
                return;
            }
            _ => return,
        }
        let mut pods = self.pods.lock().unwrap();
        if let Some(known) = pods.get(&uid) {
            known.seen.send_replace(Seen::There(Arc::new(pod)));
            return;
        }
        let entry = Arc::new(Entry::new(Arc::clone(&self.context), pod));
        tokio::spawn(worker::live(Arc::clone(&entry)));
        pods.insert(uid, entry);
    }

    fn lose(&self, uid: &str) {
        if let Some(known) = self.pods.lock().unwrap().remove(uid) {
            known.lose();
        }
    }

    /// Gives a Pod to the node. A Pod that is being deleted isn't given to anybody.
    async fn bind(self: Arc<Self>, pod: Value) {
        if pod.pointer("/metadata/deletionTimestamp").is_some() {
            return;
        }
        let (namespace, name) = (text(&pod, "/metadata/namespace"), text(&pod, "/metadata/name"));
        let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/binding");
        let metadata = json!({"name": name, "uid": pod["metadata"]["uid"]});
        let target = json!({"apiVersion": "v1", "kind": "Node", "name": NAME});
        let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": metadata, "target": target});
        loop {
            match self.context.client.post(&path, &binding).await {
                // Whatever is wrong, it is the Pod: it is bound already, or gone.
                Ok(answer) if !answer.status.is_server_error() => return,
                Ok(answer) => self.context.journal(&format!("{path}: {}", answer.body)),
                Err(error) => self.context.journal(&format!("{path}: {error:#}")),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// What `kubectl get nodes` shows; the rest has to be there.
fn node_info() -> Value {
    let mut info = json!({"kubeletVersion": "test-bed", "operatingSystem": "linux", "osImage": "none"});
    let rest = ["architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "machineID"];
    for name in rest.into_iter().chain(["systemUUID"]) {
        info[name] = "".into();
    }
    info
}

fn node() -> Value {
    let room = json!({"cpu": "64", "memory": "256Gi", "pods": "1000", "ephemeral-storage": "1Ti"});
    let now = timestamp(SystemTime::now());
    let ready = json!({
        "type": "Ready",
        "status": "True",
        "reason": "KubeletReady",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    });
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": NAME, "labels": {"kubernetes.io/hostname": NAME, "kubernetes.io/os": "linux"}},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": [ready],
            // A name would come first, and nothing could resolve it.
            "addresses": [{"type": "InternalIP", "address": MACHINE}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": node_info(),
        },
    })
}
