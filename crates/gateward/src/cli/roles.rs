//! `generate rbac`: the ServiceAccount of a release and what it may do.

use std::collections::BTreeMap;

use gateward_cluster::ServedNamespaces;
use gateward_cluster::permissions::{Permission, Permissions};
use gateward_cluster::preflight::PlannedRelease;
use gateward_core::manifest::yaml;
use serde_json::{Value, json};

const RBAC: &str = "rbac.authorization.k8s.io";

/// A role with its rules, each of which has a reason, or another object.
pub(crate) enum RbacObject {
    /// A `Role` or a `ClusterRole`, without its rules.
    Role(Value, Vec<Permission>),
    /// A ServiceAccount or a binding.
    Other(Value),
}

/// The objects in the order in which they are applied.
pub(crate) fn objects(planned: &PlannedRelease, labels: &BTreeMap<String, String>) -> Vec<RbacObject> {
    let Permissions { role, cluster_role, namespace_role } = planned.permissions();
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
    let mut objects = vec![RbacObject::Other(object("v1", "ServiceAccount", account, Some(namespace)))];
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
        objects.push(RbacObject::Role(object(&version, kind, name, within), permissions));
        let mut binding = object(&version, &format!("{kind}Binding"), name, within);
        binding["roleRef"] = json!({"apiGroup": RBAC, "kind": kind, "name": name});
        binding["subjects"] = json!([{"kind": "ServiceAccount", "name": account, "namespace": namespace}]);
        objects.push(RbacObject::Other(binding));
    }
    objects
}

impl RbacObject {
    /// As YAML; each rule stands below its reason.
    pub(crate) fn yaml(&self) -> String {
        match self {
            Self::Other(object) => yaml::document(object),
            Self::Role(object, permissions) => {
                let rule = |Permission { reason, rule, .. }: &Permission| {
                    format!("# {reason}\n{}", yaml::document(&json!([rule])))
                };
                format!("{}rules:\n{}", yaml::document(object), permissions.iter().map(rule).collect::<String>())
            }
        }
    }

    pub(crate) fn json(self) -> Value {
        match self {
            Self::Other(object) => object,
            Self::Role(mut object, permissions) => {
                object["rules"] = permissions.into_iter().map(|permission| json!(permission.rule)).collect();
                object
            }
        }
    }
}
