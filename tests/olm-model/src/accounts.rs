//! The accounts of a CSV, and what they may do.

use serde_json::{Value, json};

use crate::csv::{AccountPermissions, Csv};
use crate::names::ServiceNames;

/// The accounts of a CSV that is installed for all namespaces, each with a role of the whole cluster: OLM makes such
/// roles of `permissions`, too.
pub fn accounts(csv: &Csv, namespace: &str) -> Vec<Value> {
    let granted = csv.permissions.iter().enumerate().flat_map(|(number, permissions)| {
        let name = format!("{}-{number}", csv.name);
        let AccountPermissions { service_account_name: account, rules } = permissions;
        [
            json!({
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": account, "namespace": namespace},
            }),
            json!({
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "ClusterRole",
                "metadata": {"name": name},
                "rules": rules,
            }),
            binding("ClusterRoleBinding", &name, None, ["ClusterRole", &name], [account, namespace]),
        ]
    });
    let mut accounts: Vec<Value> = Vec::new();
    for object in granted {
        if !accounts.contains(&object) {
            accounts.push(object);
        }
    }
    accounts
}

/// What OLM grants the account of a Deployment that serves: to read its Secret, and what an aggregated API needs.
pub fn serving_roles(deployment: &str, spec: &Value, namespace: &str) -> Vec<Value> {
    let names = ServiceNames::of(deployment);
    let account = spec.pointer("/template/spec/serviceAccountName").and_then(Value::as_str).unwrap_or("default");
    let account = [account, namespace];
    let read = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": names.role, "namespace": namespace},
        "rules": [{"apiGroups": [""], "resources": ["secrets"], "resourceNames": [names.secret], "verbs": ["get"]}],
    });
    let delegator = ["ClusterRole", "system:auth-delegator"];
    let reader = ["Role", "extension-apiserver-authentication-reader"];
    vec![
        read,
        binding("RoleBinding", &names.role, Some(namespace), ["Role", &names.role], account),
        binding("ClusterRoleBinding", &names.auth_delegator, None, delegator, account),
        binding("RoleBinding", &names.auth_reader, Some("kube-system"), reader, account),
    ]
}

fn binding(
    kind: &str,
    name: &str,
    namespace: Option<&str>,
    [role_kind, role]: [&str; 2],
    [account, of]: [&str; 2],
) -> Value {
    let mut metadata = json!({"name": name});
    if let Some(namespace) = namespace {
        metadata["namespace"] = namespace.into();
    }
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": of}],
    })
}
