//! The webhooks of a program that is built with Gateward, beside the API server instead of in a Pod.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use base64::Engine;
use serde_json::{Value, json};

use crate::bed::Bed;
use crate::process::Process;
use crate::run::Prepared;
use crate::sandbox::version_of;
use crate::until::until;

/// How long a server may take to have its certificate.
const STARTING: Duration = Duration::from_mins(2);

/// How long the API server may take to ask it.
const ASKING: Duration = Duration::from_mins(1);

/// `serve --local`, which ends when this is dropped.
pub struct LocalWebhooks {
    _process: Process,
    /// Where reviews are answered.
    address: SocketAddr,
    ca: String,
}

impl Prepared for LocalWebhooks {}

impl LocalWebhooks {
    /// Starts a program's server, installs its CRDs and has the API server ask it, and waits until `refused`, an object
    /// that its rules refuse, is refused.
    pub async fn install(bed: &Bed, program: &Path, refused: &Value) -> anyhow::Result<Self> {
        let command = || bed.programs().command(program);
        // Rules look things up in the bed.
        let kubeconfig = bed.folder().join("kubeconfig");
        let webhooks = Self::start(bed, command().args(["serve", "--local", "--kubeconfig"]).arg(kubeconfig)).await?;
        let crds = printed(&mut command(), &["generate", "crds"])?;
        webhooks.have_asked(bed, crds, printed(&mut command(), &["generate", "webhooks"])?).await?;
        until("the API server asks the webhooks", ASKING, async || is_denied(bed, refused).await).await;
        Ok(webhooks)
    }

    /// Starts a server by its command, such as `my-operator serve --local`, which nobody asks yet. Its certificate is
    /// `webhooks.crt` in the bed's folder.
    pub async fn start(bed: &Bed, serve: &mut Command) -> anyhow::Result<Self> {
        let (folder, address) = (bed.folder(), bed.webhooks());
        let certificate = folder.join("webhooks.crt");
        serve.args(["--listen", &address.to_string(), "--ca-out"]).arg(&certificate);
        // Nobody asks these.
        serve.args(["--health-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]);
        // One of an earlier server must not be taken for this one's.
        let _ = std::fs::remove_file(&certificate);
        let name = Path::new(serve.get_program()).file_name().and_then(OsStr::to_str).unwrap_or("webhooks").to_owned();
        let mut process = Process::start(&name, folder, serve)?;
        let ca = wait_for(&mut process, &certificate).await?;
        Ok(Self { _process: process, address, ca })
    }

    /// Installs CRDs and webhook configurations, as `generate` prints them, with this server in the place of the Service.
    pub async fn have_asked(
        &self,
        bed: &Bed,
        mut crds: Vec<Value>,
        mut configurations: Vec<Value>,
    ) -> anyhow::Result<()> {
        let converting = crds.iter_mut().filter_map(|crd| crd.pointer_mut("/spec/conversion/webhook/clientConfig"));
        converting.for_each(|config| self.redirect(config));
        bed.install_crds(&crds).await?;
        // What is refused at last shows that the others are known too.
        configurations.sort_by_key(|configuration| configuration["kind"] == "ValidatingWebhookConfiguration");
        for configuration in &mut configurations {
            for webhook in configuration["webhooks"].as_array_mut().into_iter().flatten() {
                self.redirect(&mut webhook["clientConfig"]);
            }
            let path = format!("{}?fieldManager=test-bed&force=true", place(configuration));
            bed.client().apply(&path, configuration).await?.granted()?;
        }
        Ok(())
    }

    /// Replaces the Service of a `clientConfig` by the server's own address.
    fn redirect(&self, config: &mut Value) {
        let path = config["service"]["path"].as_str().unwrap_or_default();
        let ca = base64::engine::general_purpose::STANDARD.encode(&self.ca);
        *config = json!({"url": format!("https://{}{path}", self.address), "caBundle": ca});
    }
}

/// The objects that a command prints as JSON, such as `my-operator generate crds`.
pub fn printed(command: &mut Command, arguments: &[&str]) -> anyhow::Result<Vec<Value>> {
    let output = command.args(arguments).args(["--output", "json"]).output()?;
    if !output.status.success() {
        bail!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).context("what the program prints")).collect()
}

fn place(configuration: &Value) -> String {
    let kind = configuration["kind"].as_str().unwrap_or_default().to_lowercase();
    let name = configuration["metadata"]["name"].as_str().unwrap_or_default();
    format!("/apis/admissionregistration.k8s.io/v1/{kind}s/{name}")
}

/// Whether the API server, which hears of configurations a moment later than we do, has the webhooks refuse an object.
async fn is_denied(bed: &Bed, object: &Value) -> bool {
    let mut object = object.clone();
    if bed.is_namespaced(&object) {
        object["metadata"]["namespace"] = "default".into();
    }
    let path = format!("{}?dryRun=All", bed.collection(&object, version_of(&object), "default"));
    let answer = bed.client().post(&path, &object).await;
    answer.is_ok_and(|answer| answer.body["message"].to_string().contains("denied the request"))
}

/// The server is ready when its certificate is there.
async fn wait_for(process: &mut Process, certificate: &Path) -> anyhow::Result<String> {
    let start = Instant::now();
    while !certificate.exists() {
        process.must_run()?;
        if start.elapsed() > STARTING {
            bail!("the webhooks don't get ready\n{}", process.last_words());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(std::fs::read_to_string(certificate)?)
}
