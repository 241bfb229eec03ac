//! Roles and their bindings, out of what a replica does in the cluster.

use std::fmt::Write;

use anyhow::Context;
use dynamo_api::schema;
use dynamo_webhooks::facts::{GROVE_GROUP, TOPOLOGY_BINDINGS};
use gateward_certs::ProvisionMode;
use gateward_cluster::permissions::{Need, Permission, PermissionNames, Permissions, ResourceName, permissions};
use gateward_core::manifest::yaml;
use serde_json::{Value, json};

use super::expressions::{
    BUNDLE_SECRET, CA_SECRET, FULLNAME, LABELS, LEASE, MUTATING, NAMESPACE, NAMESPACE_LEASE_ROLE, SECRET,
    SERVED_NAMESPACE, VALIDATING,
};

/// Who is given the permissions, and where they hold.
#[derive(Clone, Copy)]
enum Reach {
    Namespace,
    Cluster,
    /// The namespace that an operator of one namespace serves, for such an operator alone.
    ServedNamespace,
}

/// The roles and their bindings.
pub fn objects() -> anyhow::Result<String> {
    let Permissions { role, cluster_role, namespace_role } = permissions(&names()?);
    let mut text = String::new();
    let all = [(Reach::Namespace, role), (Reach::Cluster, cluster_role), (Reach::ServedNamespace, namespace_role)];
    for (reach, rules) in all {
        let (begin, end) = reach.condition();
        write!(text, "{begin}---\n{}rules:\n", yaml::document(&reach.object(reach.role())))?;
        for Permission { reason, need, modes, rule, .. } in rules {
            let (begin, end) = match condition(need, modes) {
                Some(condition) => (format!("{{{{- if {condition} }}}}\n"), "{{- end }}\n"),
                None => (String::new(), ""),
            };
            write!(text, "{begin}# {reason}\n{}{end}", yaml::document(&json!([rule])))?;
        }
        write!(text, "---\n{}{end}", yaml::document(&reach.binding()))?;
    }
    Ok(text)
}

/// On which values a rule depends.
fn condition(need: Need, modes: &[ProvisionMode]) -> Option<String> {
    let need = match need {
        Need::Always => None,
        Need::ToInstallCrds => Some(r#"include "dynamo-operator.installsCRDs" ."#.to_owned()),
        Need::ClusterWide => Some(r#"not (include "dynamo-operator.restrictedTo" .)"#.to_owned()),
        Need::OneNamespace => Some(r#"include "dynamo-operator.restrictedTo" ."#.to_owned()),
        Need::ToExcludeClaims => Some("default false .Values.webhook.excludeClaimedNamespaces".to_owned()),
        Need::ToKeepBundle => Some(r#"eq (include "dynamo-operator.injectFrom" .) "secret""#.to_owned()),
    };
    let modes = (modes != ProvisionMode::ALL).then(|| {
        let names: Vec<_> = modes.iter().map(|mode| format!("{:?}", mode.name())).collect();
        format!(r#"has (include "dynamo-operator.mode" .) (list {})"#, names.join(" "))
    });
    match (need, modes) {
        (Some(need), Some(modes)) => Some(format!("and ({need}) ({modes})")),
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
        namespace_lease: dynamo_webhooks::names::NAMESPACE_LEASE.into(),
        claiming_leases: dynamo_webhooks::names::CLAIMING_LEASES.map(str::to_owned).into(),
        validating_configuration: VALIDATING.into(),
        mutating_configuration: MUTATING.into(),
        crds: definitions
            .iter()
            .map(|definition| crd_name(&definition.document))
            .collect::<Option<_>>()
            .context("a CRD without a name")?,
        reads: vec![ResourceName { group: GROVE_GROUP.into(), plural: TOPOLOGY_BINDINGS.into() }],
        lists: Vec::new(),
        watches: Vec::new(),
    })
}

impl Reach {
    fn role(self) -> &'static str {
        match self {
            Self::Namespace | Self::ServedNamespace => "Role",
            Self::Cluster => "ClusterRole",
        }
    }

    /// When the template renders it.
    fn condition(self) -> (&'static str, &'static str) {
        match self {
            Self::Namespace | Self::Cluster => ("", ""),
            Self::ServedNamespace => ("{{- if include \"dynamo-operator.restrictedTo\" . }}\n", "{{- end }}\n"),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Namespace | Self::Cluster => FULLNAME,
            Self::ServedNamespace => NAMESPACE_LEASE_ROLE,
        }
    }

    fn object(self, kind: &str) -> Value {
        let mut metadata = json!({"labels": LABELS, "name": self.name()});
        match self {
            Self::Namespace => metadata["namespace"] = NAMESPACE.into(),
            Self::ServedNamespace => metadata["namespace"] = SERVED_NAMESPACE.into(),
            Self::Cluster => {}
        }
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata})
    }

    fn binding(self) -> Value {
        let mut binding = self.object(&format!("{}Binding", self.role()));
        binding["roleRef"] = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": self.role(), "name": self.name()});
        binding["subjects"] = json!([{"kind": "ServiceAccount", "name": FULLNAME, "namespace": NAMESPACE}]);
        binding
    }
}
