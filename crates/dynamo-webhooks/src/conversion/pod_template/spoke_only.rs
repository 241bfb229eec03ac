//! The fields of a service's pod that v1beta1 lacks, by the Go operator's rules.

use dynamo_api::v1alpha1::{self, ExtraPodMetadata};
use serde_json::{Map, Value};

use super::split::Part;
use super::{bare, fields};
use crate::conversion::preserved::PreservedSpec;
use crate::conversion::{mounts, resources, sidecar};

/// The version in which the object was first written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::conversion) enum OriginalVersion {
    /// v1beta1: the object has preserved fields of it.
    Hub,
    /// v1alpha1.
    Spoke,
}

impl OriginalVersion {
    /// That of a v1alpha1 object of which this is preserved.
    pub fn of<S>(preserved: Option<&PreservedSpec<S>>) -> Self {
        if preserved.is_some() { Self::Hub } else { Self::Spoke }
    }
}

/// The fields of a service's pod that v1beta1 lacks, with `others`, those outside of it.
pub(in crate::conversion) fn with_spoke_only_fields(
    others: Map<String, Value>,
    service: &v1alpha1::ComponentSpec,
    original_version: OriginalVersion,
) -> Map<String, Value> {
    let mut written = fields::of_service(service);
    let saved = saved_fields(service, &written);
    let extra = written["extraPodSpec"].as_object().and_then(|extra| spoke_only_extra(service, extra));
    let is_saved = !others.is_empty() || !saved.is_empty() || extra.is_some();
    let main = written["extraPodSpec"]["mainContainer"].as_object();
    let preserves_split =
        main.is_some_and(|main| original_version == OriginalVersion::Spoke || is_saved || is_split(main));
    let mut entry: Map<String, Value> =
        extra.map(|extra| ("extraPodSpec".to_owned(), extra.into())).into_iter().collect();
    if preserves_split {
        preserve_split(&mut written, &mut entry);
    }
    for name in saved {
        entry.entry(name).or_insert_with(|| written[name].take());
    }
    entry.extend(others);
    entry
}

/// The fields beside `extraPodSpec` that are preserved as they are.
fn saved_fields(service: &v1alpha1::ComponentSpec, written: &Value) -> Vec<&'static str> {
    let own_mounts = &written["extraPodSpec"]["mainContainer"]["volumeMounts"];
    let saved = [
        ("envFromSecret", service.env_from_secret.is_some()),
        ("resources", service.resources.as_ref().is_some_and(resources::are_lost)),
        ("volumeMounts", mounts::are_lost(&service.volume_mounts, own_mounts)),
        ("extraPodMetadata", service.extra_pod_metadata == Some(ExtraPodMetadata::default())),
        ("frontendSidecar", service.frontend_sidecar.is_some()),
    ];
    saved.into_iter().filter_map(|(name, is_saved)| is_saved.then_some(name)).collect()
}

/// Of `extraPodSpec`: all of it if it is the zero value but for the main container's name; and containers that the hub
/// lacks, or has in place of others.
fn spoke_only_extra(service: &v1alpha1::ComponentSpec, extra: &Map<String, Value>) -> Option<Map<String, Value>> {
    if bare::is_bare(extra) {
        return Some(extra.clone());
    }
    let is_hidden = |container: &&Value| {
        container["name"] == dynamo_api::constants::MAIN_CONTAINER
            || service.frontend_sidecar.is_some() && sidecar::is_sidecar(container)
    };
    let listed = extra.get("containers").and_then(Value::as_array).into_iter().flatten();
    let hidden: Vec<Value> = listed.filter(is_hidden).cloned().collect();
    (!hidden.is_empty()).then(|| Map::from_iter([("containers".to_owned(), hidden.into())]))
}

/// Whether `mainContainer` sets what a field could set.
fn is_split(main: &Map<String, Value>) -> bool {
    let parts = Part::ALL.into_iter().filter(|part| *part != Part::EnvFrom).map(Part::name);
    parts.chain(["name"]).any(|name| main.get(name).is_some_and(|member| !member.is_null()))
}

/// Preserves both the fields and the parts of `mainContainer` that make up the main container, if there are any.
fn preserve_split(written: &mut Value, entry: &mut Map<String, Value>) {
    let mut main = written["extraPodSpec"]["mainContainer"].take();
    let names = Part::ALL.into_iter().map(Part::name).chain(["name"]);
    let main = main.as_object_mut();
    let own = main.map(|main| names.filter_map(|name| main.remove_entry(name)).collect::<Map<_, _>>());
    let is_set = |field: &&str| {
        let value = &written[*field];
        !value.is_null() && value.as_array().is_none_or(|items| !items.is_empty())
    };
    let fields: Vec<&str> = Part::ALL.into_iter().map(Part::field).filter(is_set).collect();
    if fields.is_empty() && own.as_ref().is_none_or(Map::is_empty) {
        return;
    }
    let extra = entry.entry("extraPodSpec").or_insert_with(|| Map::new().into());
    extra["mainContainer"] = own.into();
    entry.extend(fields.into_iter().map(|field| (field.to_owned(), written[field].take())));
}
