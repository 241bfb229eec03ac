//! The server under test, beside the API server instead of in a Pod, and what makes the API server ask it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use base64::Engine;
use serde_json::{Value, json};

use crate::objects::{graph, graph_v1alpha1, model};
use crate::run::Prepared;
use crate::sandbox::{collection, version_of};
use crate::until::until;
use gateward_testbed::Bed;
use gateward_testbed::Programs;
use gateward_testbed::process::Process;

/// A user whom the webhooks skip, so that tests can store objects that they would refuse.
pub const UNSEEN: &str = "unseen-by-webhooks";

/// Who converts the objects of our CRDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// Nobody: a version is only a name.
    None,
    /// The Service that the CRDs name.
    Service,
}

/// Our CRDs, as the binary prints them.
pub fn crds(programs: &Programs, conversion: Conversion) -> anyhow::Result<Vec<Value>> {
    let mut crds = printed(&mut programs.gateward(), &["generate", "crds"])?;
    if conversion == Conversion::None {
        for spec in crds.iter_mut().filter_map(|crd| crd["spec"].as_object_mut()) {
            spec.remove("conversion");
        }
    }
    Ok(crds)
}

/// `gateward serve --local`, which ends when this is dropped.
pub struct Webhooks {
    process: Option<Process>,
    /// Where reviews are answered.
    address: SocketAddr,
    ca: String,
}

impl Prepared for Webhooks {}

impl Webhooks {
    /// Starts the server, installs our CRDs and has the API server ask the server about their objects.
    pub async fn install(bed: &Bed) -> anyhow::Result<Self> {
        let webhooks = Self::start(bed).await?;
        webhooks.have_asked(bed).await?;
        Ok(webhooks)
    }

    /// Starts the server, which nobody asks yet. Its certificate is `webhooks.crt` in the bed's folder.
    pub async fn serve(bed: &Bed) -> anyhow::Result<Self> {
        Self::start(bed).await
    }

    /// Ends the server without a warning.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Starts it again, with a new CA, which the API server trusts from then on.
    pub async fn restart(&mut self, bed: &Bed) -> anyhow::Result<()> {
        self.kill();
        *self = Self::start(bed).await?;
        self.have_asked(bed).await
    }

    /// Has the API server ask this server.
    async fn have_asked(&self, bed: &Bed) -> anyhow::Result<()> {
        let mut crds = crds(bed.programs(), Conversion::Service)?;
        let converting = crds.iter_mut().filter_map(|crd| crd.pointer_mut("/spec/conversion/webhook/clientConfig"));
        converting.for_each(|config| self.redirect(config));
        bed.install_crds(&crds).await?;
        for mut configuration in printed(&mut bed.programs().gateward(), &["generate", "webhooks"])? {
            for webhook in configuration["webhooks"].as_array_mut().into_iter().flatten() {
                self.redirect(&mut webhook["clientConfig"]);
                let expression = format!("request.userInfo.username != '{UNSEEN}'");
                webhook["matchConditions"] = json!([{"name": "seen", "expression": expression}]);
            }
            let path = format!("{}?fieldManager=test-bed&force=true", place(&configuration));
            bed.client().apply(&path, &configuration).await?.granted()?;
        }
        until("the webhooks are asked", Duration::from_mins(1), async || is_asked(bed).await).await;
        Ok(())
    }

    async fn start(bed: &Bed) -> anyhow::Result<Self> {
        let (folder, address) = (bed.folder(), bed.webhooks());
        let (certificate, facts) = (folder.join("webhooks.crt"), folder.join("facts.json"));
        // The cluster of most cases of the rule books.
        std::fs::write(&facts, r#"{"clusterWide": true}"#)?;
        let mut command = bed.programs().gateward();
        command.args(["serve", "--local", "--listen", &address.to_string(), "--ca-out"]).arg(&certificate);
        command.arg("--facts").arg(&facts);
        // Nobody asks these.
        command.args(["--health-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]);
        // One of an earlier server must not be taken for this one's.
        let _ = std::fs::remove_file(&certificate);
        let mut process = Process::start("gateward", folder, &mut command)?;
        let ca = wait_for(&mut process, &certificate).await?;
        Ok(Self { process: Some(process), address, ca })
    }

    /// Replaces the Service of a `clientConfig` by the server's own address.
    fn redirect(&self, config: &mut Value) {
        let path = config["service"]["path"].as_str().unwrap_or_default();
        let ca = base64::engine::general_purpose::STANDARD.encode(&self.ca);
        *config = json!({"url": format!("https://{}{path}", self.address), "caBundle": ca});
    }
}

fn place(configuration: &Value) -> String {
    let kind = configuration["kind"].as_str().unwrap_or_default().to_lowercase();
    let name = configuration["metadata"]["name"].as_str().unwrap_or_default();
    format!("/apis/admissionregistration.k8s.io/v1/{kind}s/{name}")
}

/// The objects that a command of the binary prints.
fn printed(command: &mut Command, arguments: &[&str]) -> anyhow::Result<Vec<Value>> {
    let output = command.args(arguments).args(["--output", "json"]).output()?;
    if !output.status.success() {
        bail!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).context("what gateward prints")).collect()
}

/// Whether the API server, which hears of configurations and CRDs a moment later than we do, has objects defaulted,
/// converted and judged.
async fn is_asked(bed: &Bed) -> bool {
    let dry = async |object: Value| {
        let path = format!("{}?dryRun=All", collection(&object, version_of(&object), "default"));
        bed.client().post(&path, &object).await
    };
    let defaulted = dry(graph("asked"))
        .await
        .is_ok_and(|answer| answer.status.is_success() && answer.body.pointer("/spec/components/0/replicas").is_some());
    let converted = dry(graph_v1alpha1("asked")).await.is_ok_and(|answer| answer.status.is_success());
    let denied = dry(model("asked", "ftp://example.org")).await;
    let denied = denied.is_ok_and(|answer| answer.body["message"].to_string().contains("denied the request"));
    defaulted && converted && denied
}

/// The server is ready when its certificate is there.
async fn wait_for(process: &mut Process, certificate: &PathBuf) -> anyhow::Result<String> {
    let start = Instant::now();
    while !certificate.exists() {
        process.must_run()?;
        if start.elapsed() > Duration::from_mins(2) {
            bail!("the webhooks don't get ready\n{}", process.last_words());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(std::fs::read_to_string(certificate)?)
}
