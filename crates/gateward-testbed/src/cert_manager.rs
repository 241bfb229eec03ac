//! cert-manager: its controllers and its cainjector, in one process of the bed.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use crate::client::Client;
use crate::process::Process;
use crate::programs::Programs;

/// The program, and the namespace where it looks for the Secrets of `ClusterIssuers`.
const CERT_MANAGER: &str = "cert-manager";
/// The folder of its CRDs, beside the program.
const CRDS: &str = "cert-manager-crds";
/// Longer than it takes to issue a certificate on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);
const GLANCE: Duration = Duration::from_millis(50);

/// The cert-manager of a bed. It does all that it does for CA and self-signed issuers, and injects CAs as an
/// administrator; nothing validates its objects but the schemas of their CRDs.
pub struct CertManager {
    programs: Programs,
    folder: PathBuf,
    client: Client,
    process: Mutex<Option<Process>>,
}

impl CertManager {
    /// One that doesn't run yet, for the bed in a folder.
    pub(crate) fn new(programs: &Programs, folder: PathBuf, client: &Client) -> Self {
        Self { programs: programs.clone(), folder, client: client.clone(), process: Mutex::default() }
    }

    /// Applies the CRDs, and gives them as they are stored.
    pub(crate) async fn apply_crds(&self) -> anyhow::Result<Vec<Value>> {
        // kubectl follows no links.
        let crds = self.programs.beside(CRDS).canonicalize().context("the CRDs of cert-manager")?;
        let mut kubectl = self.programs.kubectl(&self.folder);
        kubectl.args(["apply", "--server-side", "--output=json", "--filename"]).arg(crds);
        let output = tokio::task::spawn_blocking(move || kubectl.output()).await??;
        if !output.status.success() {
            bail!("the CRDs of cert-manager: {}", String::from_utf8_lossy(&output.stderr));
        }
        let mut list: Value = serde_json::from_slice(&output.stdout)?;
        list["items"].as_array_mut().map(std::mem::take).context("kubectl has printed no list")
    }

    /// Makes the namespace of cluster-wide Secrets.
    pub(crate) async fn make_namespace(&self) -> anyhow::Result<()> {
        let namespace = json!({"metadata": {"name": CERT_MANAGER}});
        self.client.post("/api/v1/namespaces", &namespace).await?.granted().map(drop)
    }

    /// Starts it, where it doesn't run. It takes up what has happened in the meantime.
    pub fn start(&self) -> anyhow::Result<()> {
        let mut process = self.process.lock().unwrap();
        if process.is_none() {
            let mut command = self.programs.control_plane(CERT_MANAGER);
            command.args(["-kubeconfig=kubeconfig", &format!("-cluster-resource-namespace={CERT_MANAGER}")]);
            *process = Some(Process::start(CERT_MANAGER, &self.folder, &mut command)?);
        }
        Ok(())
    }

    /// Ends it without a warning: from now on nothing is issued and nothing is injected.
    pub fn stop(&self) {
        *self.process.lock().unwrap() = None;
    }

    /// Has a Certificate issued anew, as `cmctl renew` does. The Secret follows a moment later.
    ///
    /// Waits first until cert-manager has done with the one before: it writes the Secret some time before it says so,
    /// and what is asked in between is lost.
    pub async fn renew(&self, namespace: &str, certificate: &str) -> anyhow::Result<()> {
        let path = format!("/apis/cert-manager.io/v1/namespaces/{namespace}/certificates/{certificate}");
        self.issued(&path).await?;
        let path = format!("{path}/status?fieldManager=test-bed&force=true");
        let issuing = json!({"type": "Issuing", "status": "True", "reason": "ManuallyTriggered"});
        let status = json!({
            "apiVersion": "cert-manager.io/v1",
            "kind": "Certificate",
            "metadata": {"name": certificate},
            "status": {"conditions": [issuing]},
        });
        self.client.apply(&path, &status).await?.granted().map(drop)
    }

    /// Waits until nothing is being issued for a Certificate.
    async fn issued(&self, path: &str) -> anyhow::Result<()> {
        let start = Instant::now();
        loop {
            let certificate = self.client.get(path).await?.granted()?;
            let conditions = certificate["status"]["conditions"].as_array();
            if !conditions.into_iter().flatten().any(|one| one["type"] == "Issuing" && one["status"] == "True") {
                return Ok(());
            }
            ensure!(start.elapsed() < PATIENCE, "{path} is still being issued after {PATIENCE:?}");
            tokio::time::sleep(GLANCE).await;
        }
    }
}
