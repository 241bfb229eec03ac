//! The `ClusterServiceVersion` (CSV).

use anyhow::Context as _;
use gateward_cluster::permissions::{Permission, Permissions};
use serde_json::{Map, Value, json};

use super::crds::BundleCrd;
use super::package::Package;
use super::workload::BundleWorkload;
use crate::operator::Names;

/// The modes in which a bundle may be installed. OLM takes webhooks that convert in the last alone, since a CRD is the
/// whole cluster's.
const INSTALL_MODES: [(&str, bool); 4] =
    [("OwnNamespace", false), ("SingleNamespace", false), ("MultiNamespace", false), ("AllNamespaces", true)];

/// All that a CSV is made of.
pub(super) struct CsvParts<'a> {
    pub(super) package: &'a Package,
    /// What a catalog shows.
    pub(super) listing: Map<String, Value>,
    pub(super) names: &'a Names,
    pub(super) image: &'a str,
    pub(super) suggested_namespace: &'a str,
    pub(super) service_account: &'a str,
    pub(super) permissions: Permissions,
    pub(super) workload: &'a BundleWorkload,
    pub(super) descriptions: &'a [Value],
    pub(super) crds: &'a [BundleCrd],
    pub(super) examples: &'a [Value],
}

/// The CSV.
pub(super) fn document(parts: &CsvParts<'_>) -> anyhow::Result<Value> {
    let CsvParts { package, names, image, .. } = parts;
    let mut spec = json!({
        "displayName": package.display_name,
        "description": names.about,
        "version": package.version.to_string(),
        "minKubeVersion": package.min_kube_version.to_string(),
        "installModes": INSTALL_MODES.map(|(mode, supported)| json!({"type": mode, "supported": supported})),
        "install": {"strategy": "deployment", "spec": install(parts)},
        "relatedImages": [{"name": "manager", "image": image}],
    });
    for (member, value) in &parts.listing {
        spec[member.as_str()] = value.clone();
    }
    if let Some(provider) = &package.provider {
        spec["provider"] = provider.clone();
    }
    if let Some(replaces) = &package.replaces {
        spec["replaces"] = replaces.as_str().into();
    }
    let owned: Vec<&Value> = parts.crds.iter().flat_map(|crd| &crd.owned).collect();
    if !owned.is_empty() {
        spec["customresourcedefinitions"] = json!({"owned": owned});
    }
    if !parts.descriptions.is_empty() {
        spec["webhookdefinitions"] = parts.descriptions.into();
    }
    Ok(json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {"name": package.csv_name(), "annotations": annotations(parts)?},
        "spec": spec,
    }))
}

fn annotations(parts: &CsvParts<'_>) -> anyhow::Result<Value> {
    let mut annotations = json!({
        "capabilities": "Basic Install",
        "containerImage": parts.image,
        "description": parts.names.about,
        "operatorframework.io/suggested-namespace": parts.suggested_namespace,
    });
    if !parts.examples.is_empty() {
        let examples = serde_json::to_string_pretty(parts.examples).context("the examples")?;
        annotations["alm-examples"] = examples.into();
    }
    Ok(annotations)
}

fn install(parts: &CsvParts<'_>) -> Value {
    let deployment = &parts.workload.deployment;
    let Permissions { role, cluster_role, namespace_role: _ } = &parts.permissions;
    let mut install = json!({
        "deployments": [{"name": deployment.name, "label": deployment.labels, "spec": deployment.spec}],
    });
    for (member, permissions) in [("permissions", role), ("clusterPermissions", cluster_role)] {
        if !permissions.is_empty() {
            install[member] = json!([{"serviceAccountName": parts.service_account, "rules": rules(permissions)}]);
        }
    }
    install
}

fn rules(permissions: &[Permission]) -> Vec<Value> {
    permissions.iter().map(|permission| json!(permission.rule)).collect()
}
