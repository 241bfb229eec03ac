//! `generate rbac`: the ServiceAccount of a release and what it may do.

use std::collections::BTreeMap;

use clap::Args;
use gateward_cluster::ServedNamespaces;
use gateward_cluster::permissions::{Permission, Permissions};
use gateward_cluster::preflight::PlannedRelease;
use gateward_core::Ordered;
use gateward_core::manifest::yaml;
use serde_json::{Value, json};

use crate::cli::generate::arguments::{ManifestArguments, ReleaseArguments};
use crate::cli::generate::manifest::Manifest;
use crate::cli::known_values;
use crate::cli::planned::planned;
use crate::operator::Operator;

const RBAC: &str = "rbac.authorization.k8s.io";

#[derive(Debug, Args)]
pub(super) struct RbacArguments {
    #[command(flatten)]
    release: ReleaseArguments,
    #[command(flatten)]
    pub(super) manifests: ManifestArguments,
}

pub(super) fn manifests<P: Operator>(operator: &P, arguments: &RbacArguments) -> anyhow::Result<Vec<Manifest>> {
    let release = arguments.release.release(operator);
    let values = arguments.release.values(operator)?;
    let planned = planned(operator, &release, operator.chart_values(&release, &values))?;
    known_values::note_without_effect(operator, &release, &values)?;
    Ok(objects(&planned, &operator.installation(&release).labels))
}

/// The objects in the order in which they are applied.
pub(super) fn objects(planned: &PlannedRelease, labels: &BTreeMap<String, String>) -> Vec<Manifest> {
    objects_with(planned.permissions(), planned, labels, &rule)
}

/// The same for other permissions, each written by a function of the caller.
pub(super) fn objects_with(
    permissions: Permissions,
    planned: &PlannedRelease,
    labels: &BTreeMap<String, String>,
    rule: &dyn Fn(&Permission) -> String,
) -> Vec<Manifest> {
    let Permissions { role, cluster_role, namespace_role } = permissions;
    let (namespace, account) = (planned.config.namespace.as_str(), planned.service_account.as_str());
    let object = |version: &str, kind: &str, name: &str, namespace: Option<&str>| {
        let mut object = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name}});
        if let Some(namespace) = namespace {
            object["metadata"]["namespace"] = namespace.into();
        }
        if !labels.is_empty() {
            object["metadata"]["labels"] = json!(labels);
        }
        object
    };
    let mut objects = vec![Manifest::of(&object("v1", "ServiceAccount", account, Some(namespace)))];
    let served = match &planned.config.namespaces {
        ServedNamespaces::One(one) => Some(one.namespace.as_str()),
        ServedNamespaces::All(_) => None,
    };
    // Both may be in one namespace.
    let of_lease = format!("{account}-namespace-lease");
    let of_served = served.map(|served| (of_lease.as_str(), Some(served), namespace_role));
    let roles = [(account, Some(namespace), role), (account, None, cluster_role)].into_iter().chain(of_served);
    for (name, within, permissions) in roles {
        let kind = if within.is_some() { "Role" } else { "ClusterRole" };
        let version = format!("{RBAC}/v1");
        objects.push(role_with(object(&version, kind, name, within), permissions, rule));
        let mut binding = object(&version, &format!("{kind}Binding"), name, within);
        binding["roleRef"] = json!({"apiGroup": RBAC, "kind": kind, "name": name});
        binding["subjects"] = json!([{"kind": "ServiceAccount", "name": account, "namespace": namespace}]);
        objects.push(Manifest::of(&binding));
    }
    objects
}

/// A role with its rules, each as it is written.
fn role_with(mut role: Value, permissions: Vec<Permission>, rule: &dyn Fn(&Permission) -> String) -> Manifest {
    let rules: String = permissions.iter().map(rule).collect();
    let text = format!("{}rules:\n{rules}", yaml::document(&role));
    role["rules"] = permissions.into_iter().map(|permission| json!(permission.rule)).collect();
    Manifest::with_yaml(Ordered::from(&role), text)
}

/// A rule below its reason.
pub(super) fn rule(Permission { reason, rule, .. }: &Permission) -> String {
    format!("# {reason}\n{}", yaml::document(&json!([rule])))
}
