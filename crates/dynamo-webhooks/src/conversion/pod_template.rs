//! The pod template, made of the flat fields, `extraPodMetadata`, `extraPodSpec` and the frontend sidecar.

use dynamo_api::Raw;
use dynamo_api::constants::MAIN_CONTAINER;
use dynamo_api::pod::{ExtraPodSpec, PodTemplate};
use dynamo_api::v1alpha1::{ComponentSpec, ExtraPodMetadata};
use serde_json::{Map, Value};

use super::trail::{Trail, container, nearest, pod};
use super::{main_container, sidecar};

/// The pod template; `None` where no field of the service says anything about the pod.
pub(super) fn lift(
    service: &ComponentSpec,
    _: Option<&Map<String, Value>>,
    trail: &mut Trail<'_>,
) -> Option<Raw<PodTemplate>> {
    record(service, trail);
    let extra = match service.extra_pod_spec.as_ref().map(|raw| serde_json::from_str(raw.json())) {
        None => Value::Null,
        Some(Ok(extra)) => extra,
        Some(Err(_)) => return service.extra_pod_spec.as_ref().and_then(verbatim),
    };
    if !says_something(service, &extra) {
        return None;
    }
    let mut template = Map::new();
    if let Some(metadata) = service.extra_pod_metadata.as_ref().and_then(metadata) {
        template.insert("metadata".into(), metadata);
    }
    template.insert("spec".into(), spec(service, extra, trail));
    Some(Value::Object(template).into())
}

/// A spec that nests too deep to be made a tree stays what it is: nothing can be laid over it.
fn verbatim(extra_pod_spec: &Raw<ExtraPodSpec>) -> Option<Raw<PodTemplate>> {
    serde_json::from_str(&format!(r#"{{"spec":{}}}"#, extra_pod_spec.json())).ok()
}

/// Mounts that only hold compiled kernels don't count.
fn says_something(service: &ComponentSpec, extra_pod_spec: &Value) -> bool {
    service.resources.is_some()
        || !service.envs.is_empty()
        || service.env_from_secret.is_some()
        || service.volume_mounts.iter().any(|mount| !mount.use_as_compilation_cache)
        || service.liveness_probe.is_some()
        || service.readiness_probe.is_some()
        || service.extra_pod_metadata.is_some()
        || service.frontend_sidecar.is_some()
        || !is_empty(extra_pod_spec)
}

/// Whether no member of the pod's spec is given.
fn is_empty(extra_pod_spec: &Value) -> bool {
    match extra_pod_spec {
        Value::Object(members) => members.values().all(Value::is_null),
        other => other.is_null(),
    }
}

fn metadata(extra: &ExtraPodMetadata) -> Option<Value> {
    let maps = [("annotations", &extra.annotations), ("labels", &extra.labels)];
    let given = maps.into_iter().filter(|(_, map)| !map.is_empty());
    let members: Map<String, Value> = given
        .map(|(name, map)| {
            (name.to_owned(), map.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str()))).collect())
        })
        .collect();
    (!members.is_empty()).then_some(Value::Object(members))
}

/// The pod's spec: the main container comes first. A spec or a list of containers of an odd type stays what it is.
fn spec(service: &ComponentSpec, extra: Value, trail: &mut Trail<'_>) -> Value {
    let mut members = match extra {
        Value::Null => Map::new(),
        Value::Object(members) => members,
        odd => return odd,
    };
    let main_container = members.remove("mainContainer").unwrap_or_default();
    let others = match members.remove("containers").unwrap_or_default() {
        Value::Null => Vec::new(),
        Value::Array(containers) => containers,
        odd => {
            trail.moved(|at| pod(at) / "containers", |at| at / "extraPodSpec" / "containers");
            members.insert("containers".into(), odd);
            return Value::Object(members);
        }
    };
    let main = main_container::lift(service, main_container, trail);
    members.insert("containers".into(), containers(service, main, others, trail).into());
    Value::Object(members)
}

/// A further container called `main` gives way to the main one.
fn containers(service: &ComponentSpec, main: Value, others: Vec<Value>, trail: &mut Trail<'_>) -> Vec<Value> {
    let mut containers = vec![main];
    for (index, other) in others.into_iter().enumerate() {
        if other["name"] != MAIN_CONTAINER {
            let place = containers.len();
            trail.moved(|at| container(at, place), |at| (at / "extraPodSpec" / "containers").index(index));
            containers.push(other);
        }
    }
    if let Some(sidecar) = &service.frontend_sidecar {
        sidecar::add(&mut containers, sidecar, trail);
    }
    containers
}

fn record(service: &ComponentSpec, trail: &mut Trail<'_>) {
    trail.made(|at| at / "podTemplate", nearest(service));
    trail.moved(|at| at / "podTemplate" / "metadata", |at| at / "extraPodMetadata");
    if service.extra_pod_spec.is_some() {
        trail.moved(pod, |at| at / "extraPodSpec");
        trail.made(|at| pod(at) / "containers", |at| at / "extraPodSpec");
    }
}

/// Whether the object was written in v1beta1 first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Birth {
    HubBorn,
    SpokeBorn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    Saved,
    None,
}

pub(super) fn frontend_sidecar(
    service: &ComponentSpec,
    _: Option<&Map<String, Value>>,
    _: Option<&Raw<PodTemplate>>,
) -> Option<String> {
    service.frontend_sidecar.as_ref().map(|_| dynamo_api::constants::FRONTEND_SIDECAR_CONTAINER.to_owned())
}

pub(super) fn spoke_remainder(
    _: &ComponentSpec,
    _: &dynamo_api::v1beta1::ComponentSpec,
    _: Birth,
    _: Others,
) -> Map<String, Value> {
    Map::new()
}

pub(super) fn lower(_: &dynamo_api::v1beta1::ComponentSpec, _: Option<&Map<String, Value>>, _: &mut ComponentSpec) {}

pub(super) fn hub_remainder(_: &dynamo_api::v1beta1::ComponentSpec, _: &ComponentSpec) -> Map<String, Value> {
    Map::new()
}
