//! What the Helm values of a release say.

use gateward_certs::{IssuerRef, ProvisionMode};
use serde_json::{Map, Value};

use super::webhook_values::WebhookValues;
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
    /// What they say of the webhook configurations.
    pub webhooks: WebhookValues,
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
    /// Those of the chart that `generate chart` writes. `shortest` is the configuration that sets nothing. CRDs are the
    /// user's unless the values say so: what is printed without values is applied by hand.
    pub(crate) fn of_generated_chart(release: &Release, values: &Value, shortest: Value) -> Self {
        let text = |pointer: &str| values.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
        let mut certificates = Map::new();
        if let Some(mode) = text("/certificates/mode").filter(|mode| *mode != ProvisionMode::Automatic.name()) {
            certificates.insert("mode".into(), mode.into());
            if let (true, Some(bundle)) = (mode == ProvisionMode::External.name(), text("/certificates/caBundle")) {
                certificates.insert("caBundle".into(), bundle.into());
            }
        }
        let mut document = shortest;
        if let (Value::Object(members), false) = (&mut document, certificates.is_empty()) {
            members.insert("certificates".into(), Value::Object(certificates));
        }
        let part =
            |name: &str, usual: &str| text(&format!("/certificates/issuerRef/{name}")).unwrap_or(usual).to_owned();
        let installs = values.pointer("/crds/install") == Some(&Value::Bool(true));
        Self {
            removed: Vec::new(),
            document,
            service_account: release.name.clone(),
            crd_installer: if installs { CrdInstaller::Pods } else { CrdInstaller::User },
            issuer: text("/certificates/issuerRef/name").map(|name| IssuerRef {
                group: part("group", "cert-manager.io"),
                kind: part("kind", "Issuer"),
                name: name.to_owned(),
            }),
            webhooks: WebhookValues::of(values),
            lookups: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(values: &Value) -> ChartValues {
        let release = Release { name: "river".into(), namespace: "zoo".into() };
        ChartValues::of_generated_chart(&release, values, json!({"kind": "Otter"}))
    }

    #[test]
    fn values_that_say_nothing_change_no_configuration() {
        let usual = of(&json!({"certificates": {"mode": "auto", "caBundle": ""}, "crds": {"install": false}}));
        assert_eq!(usual, of(&json!({})));
        assert_eq!((usual.document, usual.crd_installer), (json!({"kind": "Otter"}), CrdInstaller::User));
    }

    #[test]
    fn the_mode_of_certificates_comes_to_the_server_with_what_belongs_to_it() {
        let external = of(&json!({"certificates": {"mode": "external", "caBundle": "eA=="}}));
        let certificates = json!({"mode": "external", "caBundle": "eA=="});
        assert_eq!(external.document, json!({"kind": "Otter", "certificates": certificates}));
        let issuer = json!({"name": "lake", "kind": "ClusterIssuer"});
        let values = of(&json!({"certificates": {"mode": "cert-manager", "caBundle": "eA==", "issuerRef": issuer}}));
        assert_eq!(values.document["certificates"], json!({"mode": "cert-manager"}));
        let issuer = values.issuer.unwrap();
        assert_eq!(
            (issuer.name.as_str(), issuer.kind.as_str(), issuer.group.as_str()),
            ("lake", "ClusterIssuer", "cert-manager.io")
        );
    }

    #[test]
    fn pods_install_crds_where_the_values_say_so() {
        assert_eq!(of(&json!({"crds": {"install": true}})).crd_installer, CrdInstaller::Pods);
    }
}
