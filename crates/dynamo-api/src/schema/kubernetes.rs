//! The embedded Kubernetes types, in the form that the API server accepts in a CRD.
//!
//! Their schemas come from `k8s-openapi`, which doesn't know how lists merge, which defaults the API has, and what a
//! quantity looks like. The tables here restate these facts of the Kubernetes 1.34 API.

use std::collections::BTreeMap;

use gateward::quantity;
use serde_json::{Map, Value, json};

use super::node::object;

/// The Kubernetes types that the kinds embed.
pub mod types {
    use std::borrow::Cow;

    pub use k8s_openapi::api::autoscaling::v2::{HorizontalPodAutoscalerBehavior, MetricSpec};
    pub use k8s_openapi::api::batch::v1::JobSpec;
    pub use k8s_openapi::api::core::v1::{
        ConfigMapKeySelector, Container, EnvVar, PodSpec, PodTemplateSpec, Probe, ResourceClaim, ResourceRequirements,
        Toleration,
    };
    pub use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
    pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
    use schemars::{JsonSchema, Schema, SchemaGenerator};
    use serde_json::json;

    /// A pod's spec with one more member, `mainContainer`, and nothing required outside lists.
    pub struct ExtraPodSpec;

    impl JsonSchema for ExtraPodSpec {
        fn schema_name() -> Cow<'static, str> {
            "ExtraPodSpec".into()
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            let mut main = generator.subschema_for::<Container>();
            main.insert("required".into(), json!([]));
            let mut schema = PodSpec::json_schema(generator);
            schema.remove("required");
            if let Some(members) = schema.get_mut("properties").and_then(|members| members.as_object_mut()) {
                members.insert("mainContainer".into(), main.into());
            }
            schema
        }
    }
}

/// List maps: type, member, keys.
const KEYED_LISTS: &[(&str, &str, &[&str])] = &[
    ("Container", "env", &["name"]),
    ("Container", "ports", &["containerPort", "protocol"]),
    ("Container", "volumeDevices", &["devicePath"]),
    ("Container", "volumeMounts", &["mountPath"]),
    ("EphemeralContainer", "env", &["name"]),
    ("EphemeralContainer", "ports", &["containerPort", "protocol"]),
    ("EphemeralContainer", "volumeDevices", &["devicePath"]),
    ("EphemeralContainer", "volumeMounts", &["mountPath"]),
    ("PodSpec", "containers", &["name"]),
    ("PodSpec", "ephemeralContainers", &["name"]),
    ("PodSpec", "hostAliases", &["ip"]),
    ("PodSpec", "imagePullSecrets", &["name"]),
    ("PodSpec", "initContainers", &["name"]),
    ("PodSpec", "resourceClaims", &["name"]),
    ("PodSpec", "schedulingGates", &["name"]),
    ("PodSpec", "topologySpreadConstraints", &["topologyKey", "whenUnsatisfiable"]),
    ("PodSpec", "volumes", &["name"]),
    ("ResourceRequirements", "claims", &["name"]),
];

/// Sets: type, member. Lists in neither table are atomic.
const SETS: &[(&str, &str)] =
    &[("ContainerRestartRuleOnExitCodes", "values"), ("PodFailurePolicyOnExitCodesRequirement", "values")];

/// Types that are replaced as a whole.
const ATOMIC_TYPES: &[&str] = &[
    "ConfigMapKeySelector",
    "FileKeySelector",
    "LabelSelector",
    "LocalObjectReference",
    "NodeSelector",
    "NodeSelectorTerm",
    "ObjectFieldSelector",
    "ResourceFieldSelector",
    "SecretKeySelector",
    "TypedLocalObjectReference",
];

/// Defaults that the API server fills in: type, member, value as JSON.
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("AzureDiskVolumeSource", "cachingMode", r#""ReadWrite""#),
    ("AzureDiskVolumeSource", "fsType", r#""ext4""#),
    ("AzureDiskVolumeSource", "kind", r#""Shared""#),
    ("AzureDiskVolumeSource", "readOnly", "false"),
    ("ConfigMapEnvSource", "name", r#""""#),
    ("ConfigMapKeySelector", "name", r#""""#),
    ("ConfigMapProjection", "name", r#""""#),
    ("ConfigMapVolumeSource", "name", r#""""#),
    ("ContainerPort", "protocol", r#""TCP""#),
    ("FileKeySelector", "optional", "false"),
    ("GRPCAction", "service", r#""""#),
    ("ISCSIVolumeSource", "iscsiInterface", r#""default""#),
    ("LocalObjectReference", "name", r#""""#),
    ("RBDVolumeSource", "keyring", r#""/etc/ceph/keyring""#),
    ("RBDVolumeSource", "pool", r#""rbd""#),
    ("RBDVolumeSource", "user", r#""admin""#),
    ("ScaleIOVolumeSource", "fsType", r#""xfs""#),
    ("ScaleIOVolumeSource", "storageMode", r#""ThinProvisioned""#),
    ("SecretEnvSource", "name", r#""""#),
    ("SecretKeySelector", "name", r#""""#),
    ("SecretProjection", "name", r#""""#),
];

/// Corrects all Kubernetes types among `schemas`.
pub fn correct(schemas: &mut BTreeMap<String, Value>) {
    for (name, schema) in schemas {
        let Some(kind) = kubernetes_kind(name) else { continue };
        without_descriptions(schema);
        match kind {
            "Quantity" => *schema = int_or_string(&json!({"pattern": quantity::PATTERN})),
            "IntOrString" => *schema = int_or_string(&json!({})),
            "ObjectMeta" => *schema = embedded_metadata(),
            _ => correct_members(kind, schema),
        }
    }
}

/// The last part of a Kubernetes type's name; `None` for types of our own.
fn kubernetes_kind(name: &str) -> Option<&str> {
    if name == "ExtraPodSpec" {
        return Some("PodSpec");
    }
    name.strip_prefix("io.k8s.")?.rsplit('.').next()
}

fn correct_members(kind: &str, schema: &mut Value) {
    let keywords = object(schema);
    if ATOMIC_TYPES.contains(&kind) {
        keywords.insert("x-kubernetes-map-type".into(), json!("atomic"));
    }
    for (_, member, default) in DEFAULTS.iter().filter(|(owner, ..)| *owner == kind) {
        fill_in(keywords, member, default);
    }
    let Some(Value::Object(members)) = keywords.get_mut("properties") else { return };
    for (name, member) in members {
        if member.get("items").is_some() {
            merge_list(kind, name, member);
        }
        if (kind, name.as_str()) == ("PodSpec", "nodeSelector") {
            object(member).insert("x-kubernetes-map-type".into(), json!("atomic"));
        }
    }
}

/// Gives a member its default, so it need not be written.
fn fill_in(keywords: &mut Map<String, Value>, member: &str, default: &str) {
    if let Some(schema) = keywords.get_mut("properties").and_then(|members| members.get_mut(member)) {
        object(schema).insert("default".into(), serde_json::from_str(default).unwrap_or_default());
    }
    if let Some(Value::Array(required)) = keywords.get_mut("required") {
        required.retain(|name| name != member);
    }
}

/// Sets how a list is merged.
fn merge_list(kind: &str, name: &str, list: &mut Value) {
    let keywords = object(list);
    let list_type = if SETS.contains(&(kind, name)) {
        "set"
    } else if let Some((_, _, keys)) = KEYED_LISTS.iter().find(|(owner, field, _)| (*owner, *field) == (kind, name)) {
        keywords.insert("x-kubernetes-list-map-keys".into(), json!(keys));
        "map"
    } else {
        "atomic"
    };
    keywords.insert("x-kubernetes-list-type".into(), json!(list_type));
}

fn int_or_string(further: &Value) -> Value {
    let mut schema = json!({"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": true});
    if let Value::Object(further) = further {
        object(&mut schema).extend(further.clone());
    }
    schema
}

/// What users may say about the pods of a template; everything else is pruned.
fn embedded_metadata() -> Value {
    let strings = json!({"type": "object", "additionalProperties": {"type": "string"}});
    json!({
        "type": "object",
        "properties": {
            "annotations": strings,
            "finalizers": {"type": "array", "items": {"type": "string"}},
            "labels": strings,
            "name": {"type": "string"},
            "namespace": {"type": "string"},
        },
    })
}

/// Drops the long texts of Kubernetes, which would make a CRD too large to be stored.
fn without_descriptions(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    keywords.remove("description");
    for (keyword, value) in keywords {
        match keyword.as_str() {
            "properties" => object(value).values_mut().for_each(without_descriptions),
            "items" | "additionalProperties" => without_descriptions(value),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::types::Types;
    use crate::{v1alpha1, v1beta1};

    /// The members of all Kubernetes types that some kind embeds, by type.
    fn members() -> BTreeMap<String, Map<String, Value>> {
        let graphs = Types::of::<v1alpha1::DynamoGraphDeploymentSpec, v1beta1::DynamoGraphDeploymentRequestSpec>();
        let kinds = graphs.schemas().filter_map(|(name, schema)| {
            Some((kubernetes_kind(name)?.to_owned(), schema.get("properties")?.as_object()?.clone()))
        });
        kinds.collect()
    }

    #[test]
    fn every_row_of_the_tables_names_something() {
        let members = members();
        let lists = KEYED_LISTS.iter().map(|(kind, member, _)| (kind, member));
        let sets = SETS.iter().map(|(kind, member)| (kind, member));
        let defaults = DEFAULTS.iter().map(|(kind, member, _)| (kind, member));
        for (kind, member) in lists.chain(sets).chain(defaults) {
            assert!(members[*kind].contains_key(*member), "{kind}.{member}");
        }
        for kind in ATOMIC_TYPES {
            assert!(members.contains_key(*kind), "{kind}");
        }
    }

    #[test]
    fn every_default_is_json() {
        for (kind, member, default) in DEFAULTS {
            assert!(serde_json::from_str::<Value>(default).is_ok(), "{kind}.{member}");
        }
    }
}
