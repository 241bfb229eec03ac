//! Pods of the hub that are known to survive a round trip, so that it isn't tried.
//!
//! Most pods are plain, and trying the round trip costs more than the rest of a conversion. It is tried for all others.
//! The property tests of round trips show that plain pods survive.

use std::collections::HashSet;

use dynamo_api::constants::{FRONTEND_SIDECAR_CONTAINER, MAIN_CONTAINER};
use dynamo_api::{v1alpha1, v1beta1};
use gateward::conversion::equivalence;
use serde_json::{Map, Value};

use super::to_hub;
use crate::conversion::merge::is_blank;
use crate::conversion::resources;

/// Whether neither a component nor `service`, which it is converted to, has a field of a pod.
pub(super) fn has_no_pod(component: &v1beta1::ComponentSpec, service: &v1alpha1::ComponentSpec) -> bool {
    component.pod_template.is_none()
        && component.frontend_sidecar.is_none()
        && component.compilation_cache.is_none()
        && service.extra_pod_spec.is_none()
        && service.volume_mounts.is_empty()
        && !to_hub::has_pod_fields(service)
}

/// Whether a component with a plain template survives the conversion to `service` and back.
pub(super) fn is_plain_component(component: &v1beta1::ComponentSpec, service: &v1alpha1::ComponentSpec) -> bool {
    component.frontend_sidecar.is_none() && component.compilation_cache.is_none() && !has_own_resources(service)
}

/// Whether a pod template survives the conversion to v1alpha1 and back, in a component that does.
pub(super) fn is_plain_template(members: &Map<String, Value>) -> bool {
    if !says_all(members) || !has_only(members, &["metadata", "spec"]) {
        return false;
    }
    let Some(spec) = members.get("spec").and_then(plain_object) else { return false };
    let Some(containers) = spec.get("containers").filter(|containers| are_plain_containers(containers)) else {
        return false;
    };
    let main = &containers[0];
    members.get("metadata").is_none_or(is_plain_metadata)
        && !spec.contains_key("mainContainer")
        && main["name"] == MAIN_CONTAINER
        && is_plain_main(main)
        && is_absent_or(&main["resources"], are_plain_resources)
        && is_absent_or(&main["volumeMounts"], |mounts| mounts.as_array().is_some_and(|each| are_native_mounts(each)))
}

fn is_plain_metadata(metadata: &Value) -> bool {
    let are_texts = |texts: &Value| plain_object(texts).is_some_and(|texts| texts.values().all(Value::is_string));
    plain_object(metadata)
        .is_some_and(|metadata| has_only(metadata, &["annotations", "labels"]) && metadata.values().all(are_texts))
}

/// The resources of a service's own main container may have any notation.
fn has_own_resources(service: &v1alpha1::ComponentSpec) -> bool {
    let extra = service.extra_pod_spec.as_ref();
    extra.is_some_and(|extra| extra.tree()["mainContainer"].get("resources").is_some())
}

/// A main container with more than a name, and each variable once.
fn is_plain_main(main: &Value) -> bool {
    let says_more = |members: &Map<String, Value>| {
        members.iter().any(|(name, member)| name != "name" && !equivalence::means_absent(member))
    };
    plain_object(main).is_some_and(says_more)
        && is_absent_or(&main["name"], Value::is_string)
        && is_absent_or(&main["env"], are_plain_items)
        && is_absent_or(&main["envFrom"], are_objects)
        && [&main["livenessProbe"], &main["readinessProbe"]].into_iter().all(|probe| is_absent_or(probe, is_plain))
}

/// Containers with unique names, none of them the sidecar's.
fn are_plain_containers(containers: &Value) -> bool {
    let is_free = |container: &Value| container["name"] != FRONTEND_SIDECAR_CONTAINER;
    are_plain_items(containers) && containers.as_array().is_some_and(|containers| containers.iter().all(is_free))
}

/// Objects with unique names.
fn are_plain_items(items: &Value) -> bool {
    let items = items.as_array().map_or(&[][..], Vec::as_slice);
    let names: HashSet<&str> = items.iter().filter_map(|item| item["name"].as_str()).collect();
    !items.is_empty() && names.len() == items.len() && !names.contains("")
}

fn are_objects(items: &Value) -> bool {
    items.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(Value::is_object))
}

/// Unique mounts with a name and a path, and no other field.
fn are_native_mounts(mounts: &[Value]) -> bool {
    let place = |mount: &Value| {
        let members = plain_object(mount).filter(|members| members.len() == 2)?;
        let text = |name: &str| members.get(name)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        Some((text("name")?, text("mountPath")?))
    };
    let places: Option<HashSet<(String, String)>> = mounts.iter().map(place).collect();
    !mounts.is_empty() && places.is_some_and(|places| places.len() == mounts.len())
}

/// Amounts in canonical notation, and nothing else.
fn are_plain_resources(resources: &Value) -> bool {
    let is_canonical = |amount: &Value| resources::amount(amount).is_some_and(|text| *amount == text);
    let is_block = |block: &Value| plain_object(block).is_some_and(|amounts| amounts.values().all(is_canonical));
    plain_object(resources)
        .is_some_and(|blocks| has_only(blocks, &["limits", "requests"]) && blocks.values().all(is_block))
}

/// An object that has members, none of them empty.
fn plain_object(value: &Value) -> Option<&Map<String, Value>> {
    value.as_object().filter(|members| says_all(members))
}

fn says_all(members: &Map<String, Value>) -> bool {
    let is_empty = |member: &Value| is_blank(member) || *member == "";
    !members.is_empty() && !members.values().any(is_empty)
}

fn is_plain(value: &Value) -> bool {
    plain_object(value).is_some()
}

fn has_only(members: &Map<String, Value>, names: &[&str]) -> bool {
    members.keys().all(|name| names.contains(&name.as_str()))
}

/// Whether the member is absent or accepted.
fn is_absent_or(member: &Value, is_fine: impl Fn(&Value) -> bool) -> bool {
    member.is_null() || is_fine(member)
}
