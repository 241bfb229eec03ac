//! What a service says of its pod, as JSON.

use dynamo_api::Raw;
use dynamo_api::v1alpha1::{ComponentSpec, FrontendSidecar};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::conversion::copy_fields::copy_fields;

/// What a service says of its pod, without members that are null.
pub(super) fn of_service(service: &ComponentSpec) -> Value {
    let fields = [
        ("resources", tree(&service.resources)),
        ("envs", trees(&service.envs)),
        ("envFromSecret", service.env_from_secret.clone().into()),
        ("volumeMounts", tree(&service.volume_mounts)),
        ("livenessProbe", raw(service.liveness_probe.as_ref())),
        ("readinessProbe", raw(service.readiness_probe.as_ref())),
        ("extraPodMetadata", tree(&service.extra_pod_metadata)),
        ("extraPodSpec", raw(service.extra_pod_spec.as_ref())),
        ("frontendSidecar", service.frontend_sidecar.as_ref().map(sidecar).unwrap_or_default()),
    ];
    let set = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(set.map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A frontend sidecar as it is written.
pub(super) fn sidecar(sidecar: &FrontendSidecar) -> Value {
    let plain = FrontendSidecar { envs: Vec::new(), ..sidecar.clone() };
    let mut written = tree(&plain);
    if !sidecar.envs.is_empty() {
        written["envs"] = trees(&sidecar.envs);
    }
    written
}

/// The fields of a preserved service that concern its pod, beside `extraPodSpec`. Those of Kubernetes' own types come from `sparse`, its JSON.
pub(super) fn of_pod(service: &ComponentSpec, sparse: &Map<String, Value>) -> ComponentSpec {
    let envs = sparse.get("envs").and_then(Value::as_array).into_iter().flatten();
    copy_fields!(service => ComponentSpec {
        resources, env_from_secret, volume_mounts, extra_pod_metadata, frontend_sidecar;
        envs: envs.cloned().map(Raw::from).collect(),
        liveness_probe: raw_of(sparse, "livenessProbe"),
        readiness_probe: raw_of(sparse, "readinessProbe"),
        ..ComponentSpec::default()
    })
}

fn raw_of<T>(sparse: &Map<String, Value>, name: &str) -> Option<Raw<T>> {
    sparse.get(name).filter(|value| !value.is_null()).cloned().map(Raw::from)
}

fn raw<T>(raw: Option<&Raw<T>>) -> Value {
    raw.map(Raw::to_value).unwrap_or_default()
}

pub(super) fn trees<T>(raws: &[Raw<T>]) -> Value {
    raws.iter().map(Raw::to_value).collect()
}

/// Types without embedded subtrees always write as JSON.
pub(super) fn tree(part: &impl Serialize) -> Value {
    serde_json::to_value(part).unwrap_or_default()
}
