//! From the hub's pod template to the fields of a service.

use dynamo_api::constants::{FRONTEND_SIDECAR_CONTAINER, MAIN_CONTAINER};
use dynamo_api::v1alpha1::{self, ExtraPodMetadata, FrontendSidecar, VolumeMount};
use dynamo_api::{Raw, v1beta1};
use gateward::RoundTrip;
use serde_json::{Map, Value};

use super::preserved_pod::PreservedPod;
use super::{plain, split};
use crate::conversion::{mounts, sidecar};

/// Sets the fields of `service` that concern the pod. Whether the template says by itself that it survives a round trip.
pub(in crate::conversion) fn from_hub(
    component: &v1beta1::ComponentSpec,
    preserved: Option<(&v1alpha1::ComponentSpec, &Map<String, Value>)>,
    service: &mut v1alpha1::ComponentSpec,
) -> RoundTrip {
    let mut preserved = PreservedPod::of(preserved);
    service.volume_mounts.extend(cache(component));
    let Some(Value::Object(members)) = component.pod_template.as_ref().map(Raw::to_value) else {
        // Nor does the CRD let one pass that is no object, or nests too deeply to be a tree.
        without_template(component, &preserved, service);
        return RoundTrip::Untried;
    };
    let is_plain = plain::is_plain_template(&members);
    with_template(component, members, &mut preserved, service);
    if is_plain { RoundTrip::Lossless } else { RoundTrip::Untried }
}

fn cache(component: &v1beta1::ComponentSpec) -> Option<VolumeMount> {
    let cache = component.compilation_cache.as_ref()?;
    let (name, mount_point) = (cache.pvc_name.clone(), cache.mount_path.clone());
    Some(VolumeMount { name, mount_point, use_as_compilation_cache: true })
}

fn refers_to_sidecar(component: &v1beta1::ComponentSpec) -> bool {
    component.frontend_sidecar.as_deref() == Some(FRONTEND_SIDECAR_CONTAINER)
}

fn without_template(
    component: &v1beta1::ComponentSpec,
    preserved: &PreservedPod<'_>,
    service: &mut v1alpha1::ComponentSpec,
) {
    if refers_to_sidecar(component) {
        service.frontend_sidecar.clone_from(&preserved.service.frontend_sidecar);
    }
    restore_caches(preserved, service);
    service.extra_pod_spec = bare_extra(preserved);
}

/// Restores the caches of a service that had no main container.
fn restore_caches(preserved: &PreservedPod<'_>, service: &mut v1alpha1::ComponentSpec) {
    if !preserved.had_main_container()
        && let Some(caches) = mounts::restored_caches(&preserved.service.volume_mounts, service.volume_mounts.first())
    {
        service.volume_mounts = caches;
    }
}

/// The preserved `extraPodSpec` that was the zero value, which the hub lacks.
fn bare_extra<T>(preserved: &PreservedPod<'_>) -> Option<Raw<T>> {
    preserved.bare_extra().map(|extra| Value::Object(extra).into())
}

fn with_template(
    component: &v1beta1::ComponentSpec,
    mut template: Map<String, Value>,
    preserved: &mut PreservedPod<'_>,
    service: &mut v1alpha1::ComponentSpec,
) {
    let empty =
        || preserved.service.extra_pod_metadata.clone().filter(|metadata| *metadata == ExtraPodMetadata::default());
    service.extra_pod_metadata = template.get("metadata").and_then(metadata).or_else(empty);
    service.extra_pod_spec = match template.remove("spec").unwrap_or_default() {
        Value::Null => spec(component, Map::new(), preserved, service),
        Value::Object(members) => spec(component, members, preserved, service),
        odd => Some(odd.into()),
    };
}

fn metadata(written: &Value) -> Option<ExtraPodMetadata> {
    let texts = |name: &str| {
        let members = written.get(name).and_then(Value::as_object).into_iter().flatten();
        members.filter_map(|(key, text)| Some((key.clone(), text.as_str()?.to_owned()))).collect()
    };
    let metadata = ExtraPodMetadata { annotations: texts("annotations"), labels: texts("labels") };
    (metadata != ExtraPodMetadata::default()).then_some(metadata)
}

/// The pod's spec without the parts that the service's fields take.
fn spec<T>(
    component: &v1beta1::ComponentSpec,
    mut members: Map<String, Value>,
    preserved: &mut PreservedPod<'_>,
    service: &mut v1alpha1::ComponentSpec,
) -> Option<Raw<T>> {
    // Here it would become part of the main container; the hub doesn't know it.
    members.remove("mainContainer");
    let mut containers = match members.remove("containers").unwrap_or_default() {
        Value::Null => Vec::new(),
        Value::Array(containers) => containers,
        odd => {
            members.insert("containers".into(), odd);
            return Some(Value::Object(members).into());
        }
    };
    let main = take_main(&mut containers);
    service.frontend_sidecar = frontend_sidecar(component, &mut containers, preserved);
    match main {
        Some(main) => {
            insert_main_container(split::from_hub(main, preserved, service), preserved, &mut members);
            containers.extend(preserved.containers().iter().filter(|container| is_main(container)).cloned());
        }
        None => restore_caches(preserved, service),
    }
    if !containers.is_empty() {
        members.insert("containers".into(), containers.into());
    }
    let says_something = members.values().any(|member| !member.is_null());
    if says_something { Some(Value::Object(members).into()) } else { bare_extra(preserved) }
}

fn is_main(container: &Value) -> bool {
    container["name"] == MAIN_CONTAINER
}

fn take_main(containers: &mut Vec<Value>) -> Option<Map<String, Value>> {
    let place = containers.iter().position(is_main)?;
    // Only objects have a name.
    let Value::Object(main) = containers.remove(place) else { return None };
    Some(main)
}

/// Inserts the rest of the main container, by its preserved name.
fn insert_main_container(mut rest: Map<String, Value>, preserved: &PreservedPod<'_>, members: &mut Map<String, Value>) {
    let had_a_bare_one = preserved.bare_extra().is_some_and(|extra| extra.contains_key("mainContainer"));
    if rest.values().all(Value::is_null) && !had_a_bare_one {
        return;
    }
    if let Some(name) = preserved.main().get("name").filter(|name| name.is_string()) {
        rest.insert("name".into(), name.clone());
    }
    members.insert("mainContainer".into(), rest.into());
}

/// The sidecar's block, if the service had one. Its container is removed, unless it was the user's own.
fn frontend_sidecar(
    component: &v1beta1::ComponentSpec,
    containers: &mut Vec<Value>,
    preserved: &PreservedPod<'_>,
) -> Option<FrontendSidecar> {
    let block = preserved.service.frontend_sidecar.as_ref().filter(|_| refers_to_sidecar(component))?;
    let place = containers.iter().position(sidecar::is_sidecar);
    let Some(place) = place.filter(|_| !preserved.has_conflict()) else { return Some(block.clone()) };
    let lowered = sidecar::from_hub(&containers[place], block)?;
    containers.remove(place);
    Some(lowered)
}
