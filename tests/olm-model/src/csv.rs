//! The CSV, as far as webhooks depend on it.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use crate::description::WebhookDescription;

/// Which installation of a bundle it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvIdentity {
    /// The name of the CSV.
    pub name: String,
    /// The namespace that it is installed in.
    pub namespace: String,
}

/// A CSV.
#[derive(Debug, Clone, PartialEq)]
pub struct Csv {
    /// Its name.
    pub name: String,
    /// Its Deployments: name and spec.
    pub deployments: Vec<(String, Value)>,
    /// What its accounts may do.
    pub permissions: Vec<AccountPermissions>,
    /// Its webhooks.
    pub webhooks: Vec<WebhookDescription>,
}

/// What a `ServiceAccount` of a CSV may do.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountPermissions {
    /// The name of the account.
    pub service_account_name: String,
    /// The rules of its role.
    pub rules: Value,
}

/// A document that is no CSV.
#[derive(Debug)]
pub struct CsvError(serde_json::Error);

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no ClusterServiceVersion: {}", self.0)
    }
}

impl std::error::Error for CsvError {}

#[derive(Deserialize)]
struct Document {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
}

#[derive(Deserialize)]
struct Spec {
    install: Install,
    #[serde(default)]
    webhookdefinitions: Vec<WebhookDescription>,
}

#[derive(Deserialize)]
struct Install {
    spec: Strategy,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Strategy {
    #[serde(default)]
    permissions: Vec<AccountPermissions>,
    #[serde(default)]
    cluster_permissions: Vec<AccountPermissions>,
    deployments: Vec<NamedDeployment>,
}

#[derive(Deserialize)]
struct NamedDeployment {
    name: String,
    spec: Value,
}

impl Csv {
    /// Reads a document.
    pub fn read(document: &Value) -> Result<Self, CsvError> {
        let Document { metadata, spec } = Document::deserialize(document).map_err(CsvError)?;
        let Strategy { permissions, cluster_permissions, deployments } = spec.install.spec;
        let deployments = deployments.into_iter();
        Ok(Self {
            name: metadata.name,
            deployments: deployments.map(|deployment| (deployment.name, deployment.spec)).collect(),
            permissions: permissions.into_iter().chain(cluster_permissions).collect(),
            webhooks: spec.webhookdefinitions,
        })
    }

    /// The webhooks that one of its Deployments answers.
    pub fn webhooks_of(&self, deployment: &str) -> Vec<&WebhookDescription> {
        self.webhooks.iter().filter(|webhook| webhook.deployment_name.as_deref() == Some(deployment)).collect()
    }
}
