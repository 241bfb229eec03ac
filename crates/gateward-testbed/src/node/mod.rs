//! A node on which Pods run, for real and without images: the bed plays scheduler and kubelet.
//!
//! What a Pod is made of is real: a network namespace with an address of its own on a bridge, through which the API
//! server reaches it and it reaches the API server (as `kubernetes.default`, at the Service's address); a file system
//! of its own in which the machine's programs are, and `gateward` as the binary under test, with `crontab` where that
//! example is built beside it, and what a test adds; environment, volumes and tokens; probes, restarts, hooks and
//! signals in the order in which kubelet has them; `kubectl logs`, and `kubectl port-forward` by kubelet's own code.
//!
//! What is not: there are no images, so that a container names the program that it runs; every user inside is root;
//! containers see each other's processes; resources and placement are not looked at; no address of a Service but the
//! API server's can be called, since the API server dials Pods itself (aggregator routing). Init containers that go on
//! (`restartPolicy: Always`), `postStart` and gRPC probes are not known.

mod answer;
mod ask;
mod container;
mod entry;
mod environment;
mod fields;
mod gate;
mod kubelet;
mod life;
mod listen;
mod logs;
mod network;
mod node_context;
mod pod;
mod port_forward;
mod probe;
mod process;
mod projection;
mod root;
mod server;
mod sources;
mod start;
mod status;
mod volumes;
mod worker;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::broadcast;

use crate::client::Client;
use crate::programs::Programs;
use gate::Delays;
use kubelet::Kubelet;
use network::Network;
use node_context::NodeContext;
pub use pod::Pod;
pub use process::Signal;
use root::Image;

/// The node of a bed. All Pods of the bed run on it.
pub struct Node {
    kubelet: Arc<Kubelet>,
    delays: Delays,
}

impl Node {
    /// Makes the node, with further programs for its containers; must be called within the bed's namespaces.
    pub(crate) async fn start(
        folder: &Path,
        programs: &Programs,
        client: &Client,
        further: &[(&'static str, PathBuf)],
    ) -> anyhow::Result<Self> {
        let delays = Delays::none();
        gate::open(client.clone(), folder, delays.clone()).await?;
        let port_forward = programs.beside("port-forward");
        let example = programs.example("crontab").map(|program| ("crontab", program));
        let gateward = programs.gateward_file().map(|file| ("gateward", file.into()));
        let kubectl = ("kubectl", programs.control_plane("kubectl"));
        let built = [kubectl].into_iter().chain(example).map(|(name, program)| (name, program.get_program().into()));
        let programs = gateward.into_iter().chain(built).chain(further.iter().cloned());
        let kubelet = Kubelet::new(NodeContext {
            client: client.clone(),
            folder: folder.into(),
            network: Network::new()?,
            port_forward,
            image: Image::make(folder.join("image"), programs.collect())?,
            changes: broadcast::Sender::new(1024),
            log: Mutex::new(File::create(folder.join("kubelet.log"))?),
        });
        let kubelet = Arc::new(kubelet);
        server::open(Arc::clone(&kubelet), folder).await?;
        Arc::clone(&kubelet).start().await?;
        Ok(Self { kubelet, delays })
    }

    /// The Pods of a namespace that carry the labels of a selector such as `app=otter,tier=front`, in the order of
    /// their names. An empty selector is for all.
    pub fn pods(&self, namespace: &str, selector: &str) -> Vec<Pod> {
        let entries: Vec<_> = self.kubelet.pods.lock().unwrap().values().cloned().collect();
        let pods = entries.into_iter().map(|entry| Pod { entry, delays: self.delays.clone() });
        let mut pods: Vec<_> = pods.filter(|pod| pod.namespace() == namespace && pod.is_selected(selector)).collect();
        pods.sort_by(|a, b| a.name().cmp(b.name()));
        pods
    }

    /// Delays what watches deliver to Pods, from now on and also in watches that have begun. A Pod's own delay wins.
    pub fn delay_watches(&self, delay: Duration) {
        self.delays.set(None, delay);
    }
}
