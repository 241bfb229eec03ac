//! Releases of our chart, as a user has them: by Helm and kubectl.

mod certificates;
mod series;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::{Context, bail};
use serde_json::Value;

pub use crate::release::certificates::{Bundle, CA_SECRET, CONVERTED, SERVING_SECRET};
use gateward_testbed::{Bed, Client, Response};
use gateward_testbed::{Prepared, Sandbox};

/// How long Helm and kubectl wait for Pods.
const PATIENCE: &str = "150s";

/// The one release of a suite.
pub const RELEASE: &str = "dynamo-platform";
/// The namespace of [`RELEASE`].
pub const NAMESPACE: &str = "dynamo-system";

/// A chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chart {
    /// The one of this tree.
    Current,
    /// One that was released, in the bed's folder of charts.
    Released(&'static str),
    /// One that the tests have made, in the folder of the bed that is given.
    Made(&'static str),
}

impl Chart {
    /// Where it is.
    pub fn folder(self, bed: &Bed) -> PathBuf {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        match self {
            Self::Current => root.join("deploy/helm/dynamo-platform"),
            Self::Released(version) => root.join("testbed/charts").join(version),
            Self::Made(name) => bed.folder().join(name),
        }
    }
}

/// A release, installed or not.
#[derive(Clone)]
pub struct Release {
    bed: Arc<Bed>,
    name: String,
    namespace: String,
}

impl Prepared for Release {
    /// No replica has asked for what its roles don't grant.
    fn judge(&self) -> anyhow::Result<()> {
        let (audit, account) = (self.bed.whole_audit(), self.account());
        let forbidden = audit.never_granted(&account)?;
        if let Some(first) = forbidden.first() {
            bail!("{account} has asked {} times for what it may not do, first {first}", forbidden.len());
        }
        let asked = audit.of(&account)?.len();
        println!("{account} has asked the API server {asked} times, each time for what it may do");
        Ok(())
    }
}

impl Release {
    /// Starts the node of a bed, and installs the one release of a suite on it.
    pub async fn installed(bed: Arc<Bed>, values: &Value) -> anyhow::Result<Self> {
        bed.start_node().await?;
        let release = Self::new(&bed, RELEASE, NAMESPACE);
        release.install(Chart::Current, values).await?;
        Ok(release)
    }

    /// The one release of a suite.
    pub fn only(sandbox: &Sandbox) -> Self {
        Self::of(sandbox, RELEASE, NAMESPACE)
    }

    /// A release on the bed of a test.
    pub fn of(sandbox: &Sandbox, name: &str, namespace: &str) -> Self {
        Self::new(&sandbox.shared_bed(), name, namespace)
    }

    /// A release in a namespace of its own.
    pub fn new(bed: &Arc<Bed>, name: &str, namespace: &str) -> Self {
        Self { bed: Arc::clone(bed), name: name.into(), namespace: namespace.into() }
    }

    /// The release's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace that it is installed into.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// What the names of most of its objects begin with.
    pub fn fullname(&self) -> String {
        format!("{}-dynamo-operator", self.name)
    }

    /// The user that its Pods are.
    pub fn account(&self) -> String {
        format!("system:serviceaccount:{}:{}", self.namespace, self.fullname())
    }

    /// Installs it and waits until it is ready.
    pub async fn install(&self, chart: Chart, values: &Value) -> anyhow::Result<()> {
        self.put("install", &["--create-namespace", "--wait"], chart, values).await
    }

    /// Upgrades it and waits until it is ready.
    pub async fn upgrade(&self, chart: Chart, values: &Value) -> anyhow::Result<()> {
        self.put("upgrade", &["--wait"], chart, values).await
    }

    async fn put(&self, verb: &str, options: &[&str], chart: Chart, values: &Value) -> anyhow::Result<()> {
        let file = self.bed.folder().join(format!("values-{}.json", self.name));
        std::fs::write(&file, values.to_string())?;
        let mut command = self.helm(verb);
        command
            .arg(&self.name)
            .arg(chart.folder(&self.bed))
            .args(options)
            .args(["--timeout", PATIENCE])
            .arg("-f")
            .arg(file);
        self.done(command).await.map(drop)
    }

    /// Goes back to an earlier revision and waits until it is ready.
    pub async fn roll_back(&self, revision: u32) -> anyhow::Result<()> {
        let mut command = self.helm("rollback");
        command.arg(&self.name).arg(revision.to_string()).args(["--wait", "--timeout", PATIENCE]);
        self.done(command).await.map(drop)
    }

    /// Uninstalls it, and waits until its objects are gone.
    pub async fn uninstall(&self) -> anyhow::Result<()> {
        let mut command = self.helm("uninstall");
        command.arg(&self.name).args(["--wait", "--timeout", PATIENCE]);
        self.done(command).await.map(drop)
    }

    /// Replaces its Pods by new ones, as `kubectl rollout restart` does, and waits until the old ones are gone.
    pub async fn restart(&self) -> anyhow::Result<()> {
        let deployment = format!("deployment/{}", self.fullname());
        self.kubectl(&["rollout", "restart", &deployment]).await?;
        self.rolled_out().await?;
        self.settled().await
    }

    /// Asks for so many Pods.
    pub async fn scale(&self, replicas: usize) -> anyhow::Result<()> {
        let (deployment, replicas) = (format!("deployment/{}", self.fullname()), format!("--replicas={replicas}"));
        self.kubectl(&["scale", &deployment, &replicas]).await.map(drop)
    }

    /// Waits until the Pods are those that the Deployment asks for.
    pub async fn rolled_out(&self) -> anyhow::Result<()> {
        let deployment = format!("deployment/{}", self.fullname());
        self.kubectl(&["rollout", "status", &deployment, "--timeout", PATIENCE]).await.map(drop)
    }

    /// Waits until no Pod is left that ends.
    pub async fn settled(&self) -> anyhow::Result<()> {
        // Until then an old Pod may not be marked yet.
        self.rolled_out().await?;
        while self.pods().await?.iter().any(|pod| pod["metadata"]["deletionTimestamp"].is_string()) {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        Ok(())
    }

    /// Its Pods.
    pub async fn pods(&self) -> anyhow::Result<Vec<Value>> {
        let selector = format!("app.kubernetes.io%2Finstance%3D{}", self.name);
        let path = format!("/api/v1/namespaces/{}/pods?labelSelector={selector}", self.namespace);
        let mut list = self.bed.client().get(&path).await?.granted()?;
        Ok(list["items"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }

    /// The names of its Pods.
    pub async fn pod_names(&self) -> anyhow::Result<Vec<String>> {
        let pods = self.pods().await?;
        Ok(pods.iter().filter_map(|pod| pod["metadata"]["name"].as_str()).map(str::to_owned).collect())
    }

    /// A token of a ServiceAccount in its namespace.
    pub async fn token_of(&self, account: &str) -> anyhow::Result<String> {
        Ok(self.kubectl(&["create", "token", account]).await?.trim().to_owned())
    }

    /// What one of its Pods answers to somebody with a token who asks for its metrics.
    pub async fn metrics(&self, pod: Ipv4Addr, token: &str) -> anyhow::Result<Response> {
        let ca = self.ca_crt().await?.context("there is no CA")?;
        let name = format!("{}-webhook-service.{}.svc", self.fullname(), self.namespace);
        Client::of(&name, (pod, 8080).into(), &ca, token)?.get("/metrics").await
    }

    /// Whether API servers may call an address for its webhooks.
    pub async fn is_called(&self, address: &str) -> anyhow::Result<bool> {
        let path = format!("/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices", self.namespace);
        let slices = self.bed.client().get(&path).await?.granted()?;
        let slices = slices["items"].as_array().into_iter().flatten();
        let mut endpoints = slices.flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten());
        Ok(endpoints.any(|endpoint| {
            endpoint["conditions"]["ready"] == true
                && endpoint["addresses"].as_array().into_iter().flatten().any(|own| own == address)
        }))
    }

    /// kubectl in its namespace.
    pub async fn kubectl(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let mut command = self.bed.kubectl();
        command.args(["-n", &self.namespace]).args(arguments);
        self.done(command).await
    }

    /// A command of the binary that is about this release, as an administrator runs it.
    pub async fn gateward(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let mut command = self.bed.programs().gateward();
        command.env("KUBECONFIG", self.bed.folder().join("kubeconfig")).env("HOME", self.bed.folder());
        command.args(arguments).args(["--release", &self.name, "-n", &self.namespace]).stdin(Stdio::null());
        self.done(command).await
    }

    fn helm(&self, verb: &str) -> Command {
        let mut command = self.bed.helm();
        command.args([verb, "-n", &self.namespace]);
        command
    }

    /// Runs a command to its end. Nobody else has to wait for it.
    async fn done(&self, mut command: Command) -> anyhow::Result<String> {
        let about = format!("{command:?}");
        let output = tokio::task::spawn_blocking(move || command.output()).await?.with_context(|| about.clone())?;
        if !output.status.success() {
            let pods = self.pods().await.unwrap_or_default();
            let states: Vec<String> = pods.iter().map(|pod| pod["status"].to_string()).collect();
            bail!("{about}: {}\n{}", String::from_utf8_lossy(&output.stderr), states.join("\n"));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
