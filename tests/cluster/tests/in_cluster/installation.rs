//! What a chart would install, but for Pods, and one replica that serves it.

use std::sync::{Arc, OnceLock};

use anyhow::{Context, bail};
use cluster_tests::{Bed, Prepared};
use serde_json::{Value, json};

use crate::release::{NAMESPACE, RELEASE, SERVICE, apply};
use crate::replica::{self, Replica};

/// An installation whose first replica serves for as long as all tests run.
pub struct Installation {
    pub bed: Arc<Bed>,
    pub replica: Replica,
}

static INSTALLATION: OnceLock<Installation> = OnceLock::new();

/// The installation of all tests.
pub fn installation() -> &'static Installation {
    INSTALLATION.get().unwrap()
}

/// Stands for the installation, which is for all to see.
pub struct Installed;

impl Prepared for Installed {}

impl Installed {
    /// Installs and serves, and waits for nothing but that the objects are there.
    pub async fn on(bed: Arc<Bed>) -> anyhow::Result<Self> {
        bed.require_pods()?;
        let there = ["--release", RELEASE, "--namespace", NAMESPACE];
        let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
        apply(&bed, &format!("/api/v1/namespaces/{NAMESPACE}"), &namespace).await?;
        bed.install_crds(&generated(&bed, "crds", &there)?).await?;
        let path = format!("/api/v1/namespaces/{NAMESPACE}/services/{SERVICE}");
        apply(&bed, &path, &service()).await?;
        for configuration in generated(&bed, "webhooks", &there)? {
            apply(&bed, &place(&configuration), &configuration).await?;
        }
        let replica = Replica::start(&bed, 1, &json!({})).await?;
        let _ = INSTALLATION.set(Installation { bed, replica });
        Ok(Self)
    }
}

/// Where a webhook configuration is.
pub fn place(configuration: &Value) -> String {
    let kind = configuration["kind"].as_str().unwrap_or_default().to_lowercase();
    let name = configuration["metadata"]["name"].as_str().unwrap_or_default();
    format!("/apis/admissionregistration.k8s.io/v1/{kind}s/{name}")
}

fn service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE, "namespace": NAMESPACE},
        "spec": {"ports": [{"port": 443, "targetPort": 9443}], "selector": replica::labels()},
    })
}

fn generated(bed: &Bed, what: &str, there: &[&str]) -> anyhow::Result<Vec<Value>> {
    let output = bed.programs().gateward().args(["generate", what, "--output", "json"]).args(there).output()?;
    if !output.status.success() {
        bail!("generate {what}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).context("what gateward prints")).collect()
}
