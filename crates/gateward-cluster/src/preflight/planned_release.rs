//! What a release is to be.

use gateward_certs::IssuerRef;

use crate::config::ControllerConfig;
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
