//! Checks before an upgrade, for `doctor --preflight`.
//!
//! Each check decides purely, from what was observed. The cluster is read with the rights of the person who asks; what
//! those don't reach, and what isn't there before the upgrade, is not provable yet.

mod certificates;
mod conflicts;
mod reachability;
mod rights;
#[cfg(test)]
mod testing;

use std::fmt;

use gateward_certs::IssuerRef;
use serde::Serialize;

use crate::config::ControllerConfig;
use crate::connection::Connection;
use crate::permissions::{Need, Permission, ResourceName};

/// A release as it is to be after an upgrade.
#[derive(Clone)]
pub struct PlannedRelease {
    /// The name of the Helm release.
    pub name: String,
    /// Names, certificates and injection targets.
    pub config: ControllerConfig,
    /// The ServiceAccount of its Pods.
    pub service_account: String,
    /// For what its Pods need rights.
    pub needs: Vec<Need>,
    /// All CRDs of the operator.
    pub crds: Vec<String>,
    /// What its rules look up by name.
    pub lookups: Vec<ResourceName>,
    /// What its rules look up by name and by labels.
    pub lists: Vec<ResourceName>,
    /// What is kept in memory for rules.
    pub watches: Vec<ResourceName>,
    /// What its own controllers may do.
    pub controllers: Vec<Permission>,
    /// The issuer that the user chose, where cert-manager provides the certificate.
    pub issuer: Option<IssuerRef>,
    /// How it gets the webhooks of another operator, if it does.
    pub hand_over: Option<HandOver>,
}

/// Another operator hands its webhooks over to the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOver {
    /// The label of the other's webhook configurations that holds its namespace, which is the release's too.
    pub namespace_label: String,
    /// Where the hand-over is described.
    pub guide: String,
}

/// What is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PreflightCheck {
    /// No value is given that was removed.
    RemovedValues,
    /// No value is given that the chart doesn't have.
    UnknownValues,
    /// The API server reaches the Pods.
    Reachability,
    /// The certificates of the chosen mode are there.
    Certificates,
    /// No other webhooks judge or default the same kinds.
    ConflictingConfigurations,
    /// The Pods have the rights that they need.
    Rbac,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PreflightState {
    /// It holds.
    Ok,
    /// It doesn't hold.
    Failed,
    /// Nothing speaks against it, but it can't be shown before the upgrade, or with these rights.
    NotProvableYet,
}

/// The result of a check, in one sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PreflightResult {
    /// What was checked.
    pub check: PreflightCheck,
    /// How it ended.
    pub state: PreflightState,
    /// What was seen, and what to do about it.
    pub text: String,
}

/// Checks all that depends on the cluster.
pub async fn preflight(connection: &Connection, planned: &PlannedRelease) -> Vec<PreflightResult> {
    let client = connection.client();
    let (reachability, certificates, conflicts, rights) = tokio::join!(
        reachability::check(&client, planned),
        certificates::check(connection, planned),
        conflicts::check(connection, planned),
        rights::check(&client, planned),
    );
    let results = [vec![reachability], certificates, conflicts, vec![rights]];
    results.into_iter().flatten().collect()
}

impl PreflightCheck {
    /// It holds.
    pub fn ok(self, text: impl Into<String>) -> PreflightResult {
        self.ends(PreflightState::Ok, text)
    }

    /// It doesn't hold.
    pub fn failed(self, text: impl Into<String>) -> PreflightResult {
        self.ends(PreflightState::Failed, text)
    }

    /// It can't be shown yet.
    pub fn not_provable_yet(self, text: impl Into<String>) -> PreflightResult {
        self.ends(PreflightState::NotProvableYet, text)
    }

    fn ends(self, state: PreflightState, text: impl Into<String>) -> PreflightResult {
        PreflightResult { check: self, state, text: text.into() }
    }
}

impl fmt::Display for PreflightResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            PreflightState::Ok => "ok",
            PreflightState::Failed => "failed",
            PreflightState::NotProvableYet => "not provable yet",
        };
        write!(f, "{state:<16}  {}: {}", self.check, self.text)
    }
}

impl fmt::Display for PreflightCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RemovedValues => "removed values",
            Self::UnknownValues => "unknown values",
            Self::Reachability => "reachability",
            Self::Certificates => "certificates",
            Self::ConflictingConfigurations => "conflicting configurations",
            Self::Rbac => "RBAC",
        })
    }
}
