//! Roles and their bindings, out of what a replica does in the cluster.

use std::fmt::Write;

use anyhow::Context;
use dynamo_api::schema;
use dynamo_webhooks::facts::{GROVE_GROUP, TOPOLOGY_BINDINGS};
use gateward_certs::ProvisionMode;
use gateward_cluster::permissions::{Need, Permission, PermissionNames, Permissions, ResourceName, permissions};
use gateward_core::manifest::yaml;
use serde_json::{Value, json};

use super::expressions::{BUNDLE_SECRET, CA_SECRET, FULLNAME, LABELS, LEASE, MUTATING, NAMESPACE, SECRET, VALIDATING};

/// Who is given the permissions, and where they hold.
#[derive(Clone, Copy)]
enum Reach {
    Namespace,
    Cluster,
}

/// The roles and their bindings.
pub fn objects() -> anyhow::Result<String> {
    let Permissions { role, cluster_role } = permissions(&names()?);
    let mut text = String::new();
    for (reach, rules) in [(Reach::Namespace, role), (Reach::Cluster, cluster_role)] {
        write!(text, "---\n{}rules:\n", yaml::document(&reach.object(reach.role())))?;
        for Permission { reason, need, modes, rule } in rules {
            let (begin, end) = match condition(need, modes) {
                Some(condition) => (format!("{{{{- if {condition} }}}}\n"), "{{- end }}\n"),
                None => (String::new(), ""),
            };
            write!(text, "{begin}# {reason}\n{}{end}", yaml::document(&json!([rule])))?;
        }
        write!(text, "---\n{}", yaml::document(&reach.binding()))?;
    }
    Ok(text)
}

/// On which values a rule depends.
fn condition(need: Need, modes: &[ProvisionMode]) -> Option<String> {
    let mode = r#"(include "dynamo-operator.mode" .)"#;
    let modes = (modes != ProvisionMode::ALL).then(|| {
        let names: Vec<_> = modes.iter().map(|mode| format!("{:?}", mode.name())).collect();
        format!("has {mode} (list {})", names.join(" "))
    });
    let install = (need == Need::ToInstallCrds).then(|| ".Values.upgradeCRD".to_owned());
    match (install, modes) {
        (Some(install), Some(modes)) => Some(format!("and {install} ({modes})")),
        (one, other) => one.or(other),
    }
}

fn names() -> anyhow::Result<PermissionNames> {
    let definitions = schema::definitions()?;
    let crd_name = |document: &Value| document["metadata"]["name"].as_str().map(str::to_owned);
    Ok(PermissionNames {
        secret: SECRET.into(),
        ca_secret: CA_SECRET.into(),
        bundle_secret: BUNDLE_SECRET.into(),
        lease: LEASE.into(),
        validating_configuration: VALIDATING.into(),
        mutating_configuration: MUTATING.into(),
        crds: definitions
            .iter()
            .map(|definition| crd_name(&definition.document))
            .collect::<Option<_>>()
            .context("a CRD without a name")?,
        reads: vec![ResourceName { group: GROVE_GROUP.into(), plural: TOPOLOGY_BINDINGS.into() }],
    })
}

impl Reach {
    fn role(self) -> &'static str {
        match self {
            Self::Namespace => "Role",
            Self::Cluster => "ClusterRole",
        }
    }

    fn object(self, kind: &str) -> Value {
        let mut metadata = json!({"labels": LABELS, "name": FULLNAME});
        if matches!(self, Self::Namespace) {
            metadata["namespace"] = NAMESPACE.into();
        }
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata})
    }

    fn binding(self) -> Value {
        let mut binding = self.object(&format!("{}Binding", self.role()));
        binding["roleRef"] = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": self.role(), "name": FULLNAME});
        binding["subjects"] = json!([{"kind": "ServiceAccount", "name": FULLNAME, "namespace": NAMESPACE}]);
        binding
    }
}
