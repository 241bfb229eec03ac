//! What a service says of its pod, as JSON.

use dynamo_api::v1alpha1::FrontendSidecar;
use dynamo_api::{Raw, v1alpha1};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The fields of a service that become its pod template.
const OF_SERVICE: [&str; 9] = [
    "resources",
    "envs",
    "envFromSecret",
    "volumeMounts",
    "livenessProbe",
    "readinessProbe",
    "extraPodMetadata",
    "extraPodSpec",
    "frontendSidecar",
];

/// What a service says of its pod.
pub(super) fn of_service(service: &v1alpha1::ComponentSpec) -> Value {
    OF_SERVICE.into_iter().map(|name| (name.to_owned(), of(service, name))).collect::<Map<_, _>>().into()
}

fn of(service: &v1alpha1::ComponentSpec, name: &str) -> Value {
    match name {
        "resources" => tree(&service.resources),
        "envs" => trees(&service.envs),
        "envFromSecret" => service.env_from_secret.clone().into(),
        "volumeMounts" => tree(&service.volume_mounts),
        "livenessProbe" => raw(service.liveness_probe.as_ref()),
        "readinessProbe" => raw(service.readiness_probe.as_ref()),
        "extraPodMetadata" => tree(&service.extra_pod_metadata),
        "extraPodSpec" => raw(service.extra_pod_spec.as_ref()),
        _ => service.frontend_sidecar.as_ref().map(sidecar).unwrap_or_default(),
    }
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

/// Sets the fields that `entry` has, each as far as it can be read.
pub(super) fn read(entry: &Map<String, Value>) -> v1alpha1::ComponentSpec {
    let mut service = v1alpha1::ComponentSpec::default();
    for name in OF_SERVICE {
        if let Some(value) = entry.get(name).filter(|value| !value.is_null()) {
            set(&mut service, name, value);
        }
    }
    service
}

fn set(service: &mut v1alpha1::ComponentSpec, name: &str, value: &Value) {
    match name {
        "resources" => set_from_json(&mut service.resources, value),
        "envs" => service.envs = raws(value),
        "envFromSecret" => set_from_json(&mut service.env_from_secret, value),
        "volumeMounts" => set_from_json(&mut service.volume_mounts, value),
        "livenessProbe" => service.liveness_probe = present(value),
        "readinessProbe" => service.readiness_probe = present(value),
        "extraPodMetadata" => set_from_json(&mut service.extra_pod_metadata, value),
        "extraPodSpec" => service.extra_pod_spec = present(value),
        _ => set_from_json(&mut service.frontend_sidecar, value),
    }
}

fn set_from_json<T: DeserializeOwned + Default>(field: &mut T, value: &Value) {
    let read = if value.is_null() { Ok(T::default()) } else { T::deserialize(value) };
    if let Ok(read) = read {
        *field = read;
    }
}

fn present<T>(value: &Value) -> Option<Raw<T>> {
    (!value.is_null()).then(|| Raw::from(value.clone()))
}

fn raws<T>(value: &Value) -> Vec<Raw<T>> {
    value.as_array().into_iter().flatten().cloned().map(Raw::from).collect()
}

/// Whether the subtree can't be made a tree.
pub(super) fn is_too_deep<T>(raw: &Raw<T>) -> bool {
    let opened = raw.json().bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    // To look for this many is cheaper than to read what can't be too deep.
    opened > 100 && raw.to_value().is_null()
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
