//! From the fields of a service to the hub's pod template.

use dynamo_api::Raw;
use dynamo_api::constants::FRONTEND_SIDECAR_CONTAINER;
use dynamo_api::v1alpha1::{ComponentSpec, ExtraPodMetadata};
use serde_json::{Map, Value};

use super::{bare, containers};
use crate::conversion::path_mapper::{PathMapper, nearest, pod};
use gateward::conversion::equivalence::means_absent;

/// The pod template; `None` if no field of the service concerns the pod. `hub` has the preserved fields of the component:
/// those that a service lacks are restored.
pub(in crate::conversion) fn to_hub(
    service: &ComponentSpec,
    hub: Option<&Map<String, Value>>,
    mapper: &mut PathMapper<'_>,
) -> Option<Value> {
    record(service, mapper);
    let hub_template = hub.and_then(|hub| hub.get("podTemplate")?.as_object());
    let extra = service.extra_pod_spec.as_ref().map(Raw::to_value).unwrap_or_default();
    let is_there = hub_template.is_some() || has_pod_fields(service) || !is_bare(&extra);
    if is_there { template(service, extra, hub_template, mapper) } else { None }
}

/// The name of the frontend sidecar's container. A name that v1alpha1 lacks is preserved, and restored as long as the
/// container is there.
pub(in crate::conversion) fn frontend_sidecar(
    service: &ComponentSpec,
    hub: Option<&Map<String, Value>>,
    template: Option<&Value>,
) -> Option<String> {
    let own = service.frontend_sidecar.as_ref().map(|_| FRONTEND_SIDECAR_CONTAINER.to_owned());
    own.or_else(|| remembered_reference(hub?, template))
}

fn remembered_reference(hub: &Map<String, Value>, template: Option<&Value>) -> Option<String> {
    let reference = hub.get("frontendSidecar")?.as_str()?;
    let lists = |template: &Value| {
        let containers = template["spec"]["containers"].as_array().into_iter().flatten();
        containers.into_iter().any(|container| container["name"] == reference)
    };
    let was_listed = hub.get("podTemplate").is_some_and(lists);
    (!was_listed || template.is_some_and(lists)).then(|| reference.to_owned())
}

/// Whether a field beside `extraPodSpec` makes a pod template. Mounts of the compilation cache don't count.
pub(super) fn has_pod_fields(service: &ComponentSpec) -> bool {
    service.resources.is_some()
        || !service.envs.is_empty()
        || service.env_from_secret.is_some()
        || service.volume_mounts.iter().any(|mount| !mount.use_as_compilation_cache)
        || service.liveness_probe.is_some()
        || service.readiness_probe.is_some()
        || service.extra_pod_metadata.is_some()
        || service.frontend_sidecar.is_some()
}

fn is_bare(extra_pod_spec: &Value) -> bool {
    extra_pod_spec.is_null() || extra_pod_spec.as_object().is_some_and(bare::is_bare)
}

/// The template, with the fields that only `hub_template`, the preserved one, has. An empty template stays if it was
/// empty before.
fn template(
    service: &ComponentSpec,
    extra: Value,
    hub_template: Option<&Map<String, Value>>,
    mapper: &mut PathMapper<'_>,
) -> Option<Value> {
    let mut template = unknown_members(hub_template, &["metadata", "spec"]);
    let metadata = metadata(service.extra_pod_metadata.as_ref(), hub_template);
    if !metadata.is_empty() {
        template.insert("metadata".into(), metadata.into());
    }
    let spec = spec(service, extra, hub_template, mapper);
    let is_empty = spec.as_object().map_or(spec.is_null(), |members| members.values().all(Value::is_null));
    if !is_empty {
        template.insert("spec".into(), spec);
    }
    let is_wanted = !template.is_empty() || hub_template.is_some_and(|template| template.values().all(means_absent));
    is_wanted.then_some(Value::Object(template))
}

/// The members of the object that v1alpha1 lacks.
fn unknown_members(object: Option<&Map<String, Value>>, known: &[&str]) -> Map<String, Value> {
    let unknown = object.into_iter().flatten().filter(|(name, _)| !known.contains(&name.as_str()));
    unknown.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn metadata(extra: Option<&ExtraPodMetadata>, hub_template: Option<&Map<String, Value>>) -> Map<String, Value> {
    let hub_metadata = hub_template.and_then(|template| template.get("metadata")?.as_object());
    let mut metadata = unknown_members(hub_metadata, &["annotations", "labels"]);
    let maps = extra.into_iter().flat_map(|extra| [("annotations", &extra.annotations), ("labels", &extra.labels)]);
    for (name, map) in maps.filter(|(_, map)| !map.is_empty()) {
        metadata.insert(name.into(), map.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str()))).collect());
    }
    metadata
}

/// The pod's spec. A spec and a list of containers of an unexpected JSON type stay unchanged.
fn spec(
    service: &ComponentSpec,
    extra: Value,
    hub_template: Option<&Map<String, Value>>,
    mapper: &mut PathMapper<'_>,
) -> Value {
    let mut members = match extra {
        Value::Null => Map::new(),
        Value::Object(members) => members,
        odd => return odd,
    };
    let hub_spec = hub_template.map(|template| template.get("spec").unwrap_or(&Value::Null));
    let main_container = members.remove("mainContainer").unwrap_or_default();
    let listed = match members.remove("containers").unwrap_or_default() {
        Value::Null => Vec::new(),
        Value::Array(containers) => containers,
        odd => {
            mapper.moved(|at| pod(at) / "containers", |at| at / "extraPodSpec" / "containers");
            members.insert("containers".into(), odd);
            return Value::Object(members);
        }
    };
    let hub_containers = hub_spec.map(|spec| spec["containers"].as_array().map_or(&[][..], Vec::as_slice));
    let containers = containers::to_hub(service, main_container, listed, hub_containers, mapper);
    // The schema requires the list, though it may be empty.
    let had_a_list = hub_spec.is_some_and(|spec| spec["containers"].is_array());
    if !containers.is_empty() || (had_a_list && !members.is_empty()) {
        members.insert("containers".into(), containers.into());
    }
    if let Some(unknown) = hub_spec.and_then(|spec| spec.get("mainContainer")) {
        members.insert("mainContainer".into(), unknown.clone());
    }
    Value::Object(members)
}

fn record(service: &ComponentSpec, mapper: &mut PathMapper<'_>) {
    mapper.made(|at| at / "podTemplate", nearest(service));
    mapper.moved(|at| at / "podTemplate" / "metadata", |at| at / "extraPodMetadata");
    if service.extra_pod_spec.is_some() {
        mapper.moved(pod, |at| at / "extraPodSpec");
        mapper.made(|at| pod(at) / "containers", |at| at / "extraPodSpec");
    }
}
