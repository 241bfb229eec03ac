//! What a service says of its pod, as JSON.

use dynamo_api::v1alpha1::FrontendSidecar;
use dynamo_api::{Raw, v1alpha1};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What a service says of its pod.
pub(super) fn of_service(service: &v1alpha1::ComponentSpec) -> Value {
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
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
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

/// The fields that `entry` has, each as far as it can be read.
pub(super) fn read(entry: &Map<String, Value>) -> v1alpha1::ComponentSpec {
    let envs = entry.get("envs").and_then(Value::as_array).into_iter().flatten();
    v1alpha1::ComponentSpec {
        resources: typed(entry, "resources"),
        envs: envs.cloned().map(Raw::from).collect(),
        env_from_secret: typed(entry, "envFromSecret"),
        volume_mounts: typed(entry, "volumeMounts"),
        liveness_probe: present(entry, "livenessProbe").cloned().map(Raw::from),
        readiness_probe: present(entry, "readinessProbe").cloned().map(Raw::from),
        extra_pod_metadata: typed(entry, "extraPodMetadata"),
        extra_pod_spec: present(entry, "extraPodSpec").cloned().map(Raw::from),
        frontend_sidecar: typed(entry, "frontendSidecar"),
        ..v1alpha1::ComponentSpec::default()
    }
}

fn typed<T: DeserializeOwned + Default>(entry: &Map<String, Value>, name: &str) -> T {
    present(entry, name).and_then(|value| T::deserialize(value).ok()).unwrap_or_default()
}

fn present<'a>(entry: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    entry.get(name).filter(|value| !value.is_null())
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
