//! What the Helm values of a release say.

use gateward_certs::IssuerRef;
use serde_json::Value;

use crate::release::Release;

/// What the values of an operator's Helm chart say of a release.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartValues {
    /// Values among them that the chart had once and now refuses.
    pub removed: Vec<RemovedValue>,
    /// The configuration file that the chart makes of them.
    pub document: Value,
    /// The ServiceAccount of the Pods.
    pub service_account: String,
    /// Who installs the CRDs.
    pub crd_installer: CrdInstaller,
    /// The issuer that the user chose, for cert-manager.
    pub issuer: Option<IssuerRef>,
    /// What rules look up: API groups, each with a plural.
    pub lookups: Vec<(String, String)>,
}

/// A value that the chart had once and now refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedValue {
    /// Its keys, joined by dots.
    pub path: String,
    /// What to do about it.
    pub advice: String,
}

/// Who installs the CRDs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrdInstaller {
    /// The Pods, before they serve.
    Pods,
    /// The user.
    User,
}

impl ChartValues {
    /// Those of an operator without a chart of its own, which are not read.
    pub(crate) fn unread(release: &Release, document: Value) -> Self {
        Self {
            removed: Vec::new(),
            document,
            service_account: release.name.clone(),
            crd_installer: CrdInstaller::User,
            issuer: None,
            lookups: Vec::new(),
        }
    }
}
