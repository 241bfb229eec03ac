//! The names and labels of what OLM makes.

use serde_json::{Value, json};

use crate::csv::CsvIdentity;

/// The names of what OLM makes for a Deployment with webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceNames {
    /// The Service.
    pub service: String,
    /// The Service that configurations name. It differs where the Deployment's name has dots.
    pub called_service: String,
    /// The Secret of the serving certificate.
    pub secret: String,
    /// The Role and its `RoleBinding` that let the Deployment's account read the Secret.
    pub role: String,
    /// The `ClusterRoleBinding` to `system:auth-delegator`.
    pub auth_delegator: String,
    /// The `RoleBinding` in `kube-system`.
    pub auth_reader: String,
}

impl ServiceNames {
    /// Those of a Deployment.
    pub fn of(deployment: &str) -> Self {
        let service = format!("{deployment}-service");
        let secret = format!("{service}-cert");
        Self {
            called_service: format!("{}-service", deployment.replace('.', "-")),
            role: secret.clone(),
            auth_delegator: format!("{service}-system:auth-delegator"),
            auth_reader: format!("{service}-auth-reader"),
            secret,
            service,
        }
    }
}

/// The labels by which OLM finds what belongs to a CSV.
pub(crate) fn owner_labels(csv: &CsvIdentity) -> Value {
    json!({
        "olm.owner": csv.name,
        "olm.owner.namespace": csv.namespace,
        "olm.owner.kind": "ClusterServiceVersion",
        "olm.managed": "true",
    })
}

/// The names in the serving certificate of a Service.
pub fn dns_names(service: &str, namespace: &str) -> [String; 3] {
    let short = format!("{service}.{namespace}");
    [short.clone(), format!("{short}.svc"), format!("{short}.svc.cluster.local")]
}
