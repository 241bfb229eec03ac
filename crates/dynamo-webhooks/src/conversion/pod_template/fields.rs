//! What a component says of its pod, as JSON: the fields of a service, and those of a component of the hub.

use dynamo_api::v1alpha1::FrontendSidecar;
use dynamo_api::{Raw, v1alpha1, v1beta1};
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

/// Sets the fields in which `after` differs from `before`, the fields as they are. What can't be read is left alone.
pub(super) fn change(service: &mut v1alpha1::ComponentSpec, before: &Value, after: &Value) {
    for name in OF_SERVICE.into_iter().filter(|name| before[*name] != after[*name]) {
        set(service, name, &after[name]);
    }
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
        "resources" => lay(&mut service.resources, value),
        "envs" => service.envs = raws(value),
        "envFromSecret" => lay(&mut service.env_from_secret, value),
        "volumeMounts" => lay(&mut service.volume_mounts, value),
        "livenessProbe" => service.liveness_probe = present(value),
        "readinessProbe" => service.readiness_probe = present(value),
        "extraPodMetadata" => lay(&mut service.extra_pod_metadata, value),
        "extraPodSpec" => service.extra_pod_spec = present(value),
        _ => lay(&mut service.frontend_sidecar, value),
    }
}

fn lay<T: DeserializeOwned + Default>(field: &mut T, value: &Value) {
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

/// The texts of the fields that nest too deep to be trees, but for `extraPodSpec`, which the hub shows as it is.
pub(super) fn deep_of_service(service: &v1alpha1::ComponentSpec) -> Map<String, Value> {
    let sidecar = service.frontend_sidecar.as_ref();
    let deep = [
        ("envs", service.envs.iter().any(is_too_deep)),
        ("livenessProbe", service.liveness_probe.as_ref().is_some_and(is_too_deep)),
        ("readinessProbe", service.readiness_probe.as_ref().is_some_and(is_too_deep)),
        ("frontendSidecar", sidecar.is_some_and(|sidecar| sidecar.envs.iter().any(is_too_deep))),
    ];
    deep.into_iter()
        .filter(|(_, is_deep)| *is_deep)
        .map(|(name, _)| (name.to_owned(), text(service, name).into()))
        .collect()
}

fn text(service: &v1alpha1::ComponentSpec, name: &str) -> Option<String> {
    match name {
        "envs" => serde_json::to_string(&service.envs),
        "livenessProbe" => serde_json::to_string(&service.liveness_probe),
        "readinessProbe" => serde_json::to_string(&service.readiness_probe),
        _ => serde_json::to_string(&service.frontend_sidecar),
    }
    .ok()
}

/// Sets a field to what its text says, if it can be read.
pub(super) fn set_text(service: &mut v1alpha1::ComponentSpec, name: &str, text: &str) {
    match name {
        "envs" => lay_text(&mut service.envs, text),
        "livenessProbe" => lay_text(&mut service.liveness_probe, text),
        "readinessProbe" => lay_text(&mut service.readiness_probe, text),
        _ => lay_text(&mut service.frontend_sidecar, text),
    }
}

fn lay_text<T: DeserializeOwned>(field: &mut T, text: &str) {
    if let Ok(read) = serde_json::from_str(text) {
        *field = read;
    }
}

/// The fields that [`set_text`] knows.
pub(super) const WITH_TEXTS: [&str; 4] = ["envs", "livenessProbe", "readinessProbe", "frontendSidecar"];

/// Whether the subtree can't be made a tree.
pub(super) fn is_too_deep<T>(raw: &Raw<T>) -> bool {
    let opened = raw.json().bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    // To look for this many is cheaper than to read what can't be too deep.
    opened > 100 && raw.to_value().is_null()
}

/// What a component of the hub says of its pod.
pub(super) fn of_component(component: &v1beta1::ComponentSpec) -> Value {
    let mut members = Map::new();
    members.insert("podTemplate".into(), raw(component.pod_template.as_ref()));
    members.insert("frontendSidecar".into(), component.frontend_sidecar.clone().into());
    members.insert("compilationCache".into(), tree(&component.compilation_cache));
    Value::Object(members)
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
