//! The control plane.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{OnceLock, RwLock};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::addresses::Addresses;
use crate::cert_manager::CertManager;
use crate::client::Client;
use crate::control_plane::{self, ADMIN, API_SERVER, CONTROLLERS};
use crate::enter::Workspace;
use crate::ground::Grant;
use crate::node::Node;
use crate::process::Process;
use crate::programs::Programs;
use crate::resource_names::ResourceNames;

/// Where CRDs are.
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A control plane that runs. It ends when this is dropped.
pub struct Bed {
    processes: Mutex<Vec<Process>>,
    programs: Programs,
    folder: PathBuf,
    grant: Grant,
    addresses: Addresses,
    client: Client,
    node: OnceLock<Node>,
    cert_manager: OnceLock<CertManager>,
    /// Of the CRDs that were installed.
    names: RwLock<ResourceNames>,
}

impl Bed {
    /// Starts a control plane that keeps everything in the place's folder, and waits until it is of use.
    pub async fn start(place: &Workspace) -> anyhow::Result<Self> {
        let (folder, grant) = (place.folder.as_path(), place.grant.clone());
        let (programs, addresses) = (Programs::find()?.in_group(place.group()), Addresses::choose(grant.ground)?);
        let ca = control_plane::write_files(folder, &addresses)?;
        let client = Client::new(addresses.api_server, &ca, ADMIN)?;
        let mut processes = vec![
            Process::start("etcd", folder, &mut control_plane::store(&programs, &addresses))?,
            Process::start(API_SERVER, folder, &mut control_plane::api_server(&programs, &addresses))?,
        ];
        wait_for(&mut processes, &client, "/readyz").await?;
        if programs.has(CONTROLLERS) {
            // It gives up where the API server isn't there at once.
            processes.push(Process::start(CONTROLLERS, folder, &mut control_plane::controllers(&programs))?);
            wait_for(&mut processes, &client, "/api/v1/namespaces/default/serviceaccounts/default").await?;
        }
        Ok(Self {
            processes: Mutex::new(processes),
            programs,
            folder: folder.into(),
            grant,
            addresses,
            client,
            node: OnceLock::new(),
            cert_manager: OnceLock::new(),
            names: RwLock::default(),
        })
    }

    /// A client that may do everything.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// A client of the API server for the bearer of a token.
    pub fn client_with(&self, token: &str) -> anyhow::Result<Client> {
        let ca = std::fs::read_to_string(self.folder.join("ca.crt"))?;
        Client::new(self.addresses.api_server, &ca, token)
    }

    /// The programs that belong to the bed.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// The folder of logs, keys and data; gone when the test program ends.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Ends the API server as an upgrade of it would, starts it again and waits until it is ready.
    pub async fn restart_api_server(&self) -> anyhow::Result<()> {
        let mut processes = self.processes.lock().await;
        for process in processes.iter_mut().filter(|process| process.name() == API_SERVER) {
            // It has stopped listening at once, and only waits for those who watch.
            process.end(Duration::from_secs(3)).await?;
            let mut command = control_plane::api_server(&self.programs, &self.addresses);
            *process = Process::start(API_SERVER, &self.folder, &mut command)?;
        }
        wait_for(&mut processes, &self.client, "/readyz").await
    }

    /// Where the store is asked past the API server.
    pub fn store(&self) -> SocketAddr {
        self.addresses.store
    }

    /// Where the server under test listens, if it is in no Pod.
    pub fn webhooks(&self) -> SocketAddr {
        self.addresses.webhooks
    }

    /// The address of the machine for a test that plays a Pod, by its number: see [`Ground`](crate::Ground).
    pub fn pod_address(&self, number: u8) -> Ipv4Addr {
        self.grant.ground.pod_address(number)
    }

    /// Fails where no Pod can run and none can be called at a Service, and tells how to change that: see
    /// [`Ground`](crate::Ground).
    pub fn require_pods(&self) -> anyhow::Result<()> {
        self.grant.require_pods()
    }

    /// Lets Pods run, from now on. Until then they stay pending, and their addresses are free for tests.
    pub async fn start_node(&self) -> anyhow::Result<()> {
        self.start_node_with(&[]).await
    }

    /// The same, where containers find further programs by their names.
    pub async fn start_node_with(&self, programs: &[(&'static str, PathBuf)]) -> anyhow::Result<()> {
        self.require_pods()?;
        ensure!(self.programs.has(CONTROLLERS), "no {CONTROLLERS} is among the programs, so no Pod would be made");
        let node = Node::start(&self.folder, &self.programs, &self.client, programs).await?;
        self.node.set(node).map_err(|_| anyhow::anyhow!("the bed has its node already"))
    }

    /// The node on which Pods run, after [`start_node`](Self::start_node).
    pub fn node(&self) -> &Node {
        self.node.get().unwrap()
    }

    /// Installs cert-manager, which runs from now on.
    pub async fn start_cert_manager(&self) -> anyhow::Result<()> {
        let cert_manager = CertManager::new(&self.programs, self.folder.clone(), &self.client);
        for crd in cert_manager.apply_crds().await? {
            self.wait_until_served(&crd).await?;
        }
        cert_manager.make_namespace().await?;
        cert_manager.start()?;
        self.cert_manager.set(cert_manager).map_err(|_| anyhow::anyhow!("the bed has its cert-manager already"))
    }

    /// cert-manager, after [`start_cert_manager`](Self::start_cert_manager).
    pub fn cert_manager(&self) -> &CertManager {
        self.cert_manager.get().unwrap()
    }

    /// Helm as the administrator.
    pub fn helm(&self) -> Command {
        let mut command = self.programs().control_plane("helm");
        command.env("KUBECONFIG", self.folder().join("kubeconfig")).env("HOME", self.folder());
        for kind in ["CACHE", "CONFIG", "DATA"] {
            command.env(format!("HELM_{kind}_HOME"), self.folder().join("helm"));
        }
        command.current_dir(self.folder()).stdin(Stdio::null());
        command
    }

    /// kubectl as the administrator.
    pub fn kubectl(&self) -> Command {
        self.programs.kubectl(&self.folder)
    }

    /// Installs CRDs and waits until their objects are served.
    pub async fn install_crds(&self, crds: &[Value]) -> anyhow::Result<()> {
        for crd in crds {
            let name = crd["metadata"]["name"].as_str().context("a CRD without a name")?;
            let path = format!("{CRDS}/{name}?fieldManager=test-bed&force=true");
            self.client.apply(&path, crd).await?.granted()?;
        }
        for crd in crds {
            self.wait_until_served(crd).await?;
            self.names.write().unwrap().add(crd);
        }
        Ok(())
    }

    /// Where the objects of a kind are, in a version; `of` is an object of that kind. Those of a namespaced kind are in
    /// this namespace. Of the kinds of no CRD that was installed here, the plural is guessed.
    pub fn collection(&self, of: &Value, version: &str, namespace: &str) -> String {
        self.names.read().unwrap().collection(of, version, namespace)
    }

    /// Whether an object is in a namespace.
    pub(crate) fn is_namespaced(&self, object: &Value) -> bool {
        self.names.read().unwrap().is_namespaced(object)
    }

    /// Waits until clients can discover each version of a CRD, which is last of all.
    async fn wait_until_served(&self, crd: &Value) -> anyhow::Result<()> {
        let (group, plural) = (crd["spec"]["group"].as_str().unwrap_or_default(), &crd["spec"]["names"]["plural"]);
        let start = Instant::now();
        for version in crd["spec"]["versions"].as_array().into_iter().flatten() {
            let version = version["name"].as_str().unwrap_or_default();
            while !self.discovers(&format!("/apis/{group}/{version}"), plural).await? {
                if start.elapsed() > Duration::from_mins(1) {
                    bail!("{plural} of {version} are not served");
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        Ok(())
    }

    async fn discovers(&self, path: &str, plural: &Value) -> anyhow::Result<bool> {
        let answer = self.client.get(path).await?.body;
        let mut resources = answer["resources"].as_array().into_iter().flatten();
        Ok(resources.any(|resource| &resource["name"] == plural))
    }
}

/// Waits until something can be read.
async fn wait_for(running: &mut [Process], client: &Client, path: &str) -> anyhow::Result<()> {
    let start = Instant::now();
    loop {
        running.iter_mut().try_for_each(Process::must_run)?;
        let answer = client.get(path).await;
        if answer.as_ref().is_ok_and(|answer| answer.status.is_success()) {
            return Ok(());
        }
        if start.elapsed() > Duration::from_mins(2) {
            let words: Vec<String> = running.iter().map(Process::last_words).collect();
            bail!("{path} can't be read: {answer:?}\n{}", words.join("\n"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
