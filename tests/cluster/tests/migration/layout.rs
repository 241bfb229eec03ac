//! How releases of the Go operator make certificates, and the webhook configurations that their charts render.

use std::fmt::Write as _;
use std::process::Command;

use cluster_tests::{Chart, Sandbox};
use gateward_lint::yaml;
use serde_json::Value;

use crate::cluster_objects::Undecided;

/// The chart that renders them, in the bed's folder.
const CHART: Chart = Chart::Made("go-operator");

/// How a release of the Go operator has made certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// By jobs in Helm hooks, up to March 2026: the CA's key is discarded, and a job has annotated a CRD.
    HelmHooks,
    /// In the operator, up to June 2026: the CA's key lies in the Secret.
    InOperator,
    /// The same with CRDs that the operator's init container has applied, since June 2026.
    WithCrdApply,
}

impl Layout {
    fn configurations(self) -> &'static str {
        match self {
            Self::HelmHooks => include_str!("layouts/helm_hooks.yaml"),
            Self::InOperator => include_str!("layouts/in_operator.yaml"),
            Self::WithCrdApply => include_str!("layouts/crd_apply.yaml"),
        }
    }

    /// A chart of our program with the webhook configurations of the Go operator's. It renders the `caBundle` that is
    /// given, as of a user's certificate.
    pub fn chart(self, sandbox: &Sandbox, undecided: Undecided, ca_bundle: Option<&Value>) -> Chart {
        let folder = CHART.folder(sandbox.bed());
        if !folder.exists() {
            let current = Chart::Current.folder(sandbox.bed());
            assert!(Command::new("cp").arg("-r").args([&current, &folder]).status().unwrap().success());
        }
        let mut rendered = String::new();
        for mut configuration in documents(self.configurations()) {
            for webhook in configuration["webhooks"].as_array_mut().unwrap() {
                if webhook["failurePolicy"] == "Fail" {
                    webhook["failurePolicy"] = undecided.policy().into();
                }
                if let Some(ca_bundle) = ca_bundle {
                    webhook["clientConfig"]["caBundle"] = ca_bundle.clone();
                }
            }
            writeln!(rendered, "---\n{configuration}").unwrap();
        }
        std::fs::write(folder.join("charts/dynamo-operator/templates/generated/webhooks.yaml"), rendered).unwrap();
        CHART
    }
}

/// The objects of a file.
pub fn documents(text: &str) -> impl Iterator<Item = Value> {
    let source = yaml::read(text.as_bytes());
    assert!(source.findings.is_empty(), "{:?}", source.findings);
    source.documents.into_iter().map(|document| document.value)
}
