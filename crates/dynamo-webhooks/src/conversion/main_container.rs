//! The main container: the flat fields of a service, overlaid with `mainContainer`.

use std::collections::HashMap;

use dynamo_api::Raw;
use dynamo_api::constants::MAIN_CONTAINER;
use dynamo_api::pod::{EnvVar, Probe};
use dynamo_api::v1alpha1::ComponentSpec;
use gateward::FieldPath;
use serde_json::{Map, Value, json};

use super::merge::{is_blank, overlay, unchanged_nodes};
use super::path_mapper::{PathMapper, nearest};
use super::{mounts, resources};

/// The main container. A `mainContainer` that is no object stays unchanged.
pub(super) fn to_hub(service: &ComponentSpec, main_container: Value, mapper: &mut PathMapper<'_>) -> Value {
    let main = mapper.main();
    let mut container = match main_container {
        Value::Null => {
            mapper.made(main, nearest(service));
            Map::new()
        }
        written => {
            mapper.moved(main, |at| at / "extraPodSpec" / "mainContainer");
            match written {
                Value::Object(members) => members,
                odd => return odd,
            }
        }
    };
    mounts::merge_into(&mut container, &service.volume_mounts, mapper);
    without_mounts(service, container, mapper)
}

/// The same, with the mounts of `container` alone.
pub(super) fn without_mounts(
    service: &ComponentSpec,
    mut container: Map<String, Value>,
    mapper: &mut PathMapper<'_>,
) -> Value {
    container.insert("name".into(), MAIN_CONTAINER.into());
    resources::merge_into(&mut container, service, mapper);
    merge_env(&mut container, &service.envs, mapper);
    merge_env_from(&mut container, service, mapper);
    merge_probe(&mut container, "livenessProbe", service.liveness_probe.as_ref(), mapper);
    merge_probe(&mut container, "readinessProbe", service.readiness_probe.as_ref(), mapper);
    Value::Object(container)
}

fn merge_env(container: &mut Map<String, Value>, flat: &[Raw<EnvVar>], mapper: &mut PathMapper<'_>) {
    if !flat.is_empty() {
        let own = container.remove("env").unwrap_or_default();
        container.insert("env".into(), env(flat, own, mapper));
    }
}

/// Variables are merged by name: the first position and the last value win.
fn env(flat: &[Raw<EnvVar>], own: Value, mapper: &mut PathMapper<'_>) -> Value {
    let main = mapper.main();
    let united = match own {
        Value::Array(own) if !own.is_empty() => unite(flat, own),
        own if is_blank(&own) => {
            mapper.moved(|at| main(at) / "env", |at| at / "envs");
            return flat.iter().map(Raw::to_value).collect();
        }
        odd => return odd,
    };
    let written = |at: FieldPath, place: usize| match place.checked_sub(flat.len()) {
        None => (at / "envs").index(place),
        Some(index) => (at / "extraPodSpec" / "mainContainer" / "env").index(index),
    };
    if mapper.has_room_for(united.len()) {
        for (index, (_, place)) in united.iter().enumerate() {
            mapper.moved(|at| (main(at) / "env").index(index), |at| written(at, *place));
        }
    } else {
        mapper.made(|at| main(at) / "env", |at| at / "envs");
    }
    united.into_iter().map(|(variable, _)| variable).collect()
}

/// The variables, each with its place in both lists one after the other.
fn unite(flat: &[Raw<EnvVar>], own: Vec<Value>) -> Vec<(Value, usize)> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut united: Vec<(Value, usize)> = Vec::new();
    for (origin, variable) in flat.iter().map(Raw::to_value).chain(own).enumerate() {
        let next = united.len();
        let place = variable["name"].as_str().map_or(next, |name| *places.entry(name.to_owned()).or_insert(next));
        match united.get_mut(place) {
            Some(known) => *known = (variable, origin),
            None => united.push((variable, origin)),
        }
    }
    united
}

fn merge_env_from(container: &mut Map<String, Value>, service: &ComponentSpec, mapper: &mut PathMapper<'_>) {
    let Some(secret) = service.env_from_secret.as_deref().filter(|secret| !secret.is_empty()) else { return };
    if container.get("envFrom").is_none_or(is_blank) {
        let main = mapper.main();
        mapper.made(|at| main(at) / "envFrom", |at| at / "envFromSecret");
        container.insert("envFrom".into(), json!([secret_reference(secret)]));
    }
}

/// All variables of a Secret, as an item of `envFrom`.
pub(super) fn secret_reference(secret: &str) -> Value {
    json!({"secretRef": {"name": secret}})
}

fn merge_probe(
    container: &mut Map<String, Value>,
    name: &'static str,
    flat: Option<&Raw<Probe>>,
    mapper: &mut PathMapper<'_>,
) {
    let Some(flat) = flat else { return };
    let (base, over) = (flat.to_value(), container.remove(name).unwrap_or_default());
    if mapper.is_recording() {
        let main = mapper.main();
        match unchanged_nodes(&base, &over).filter(|nodes| mapper.has_room_for(nodes.len())) {
            Some(nodes) => nodes.iter().for_each(|node| {
                mapper.moved(|at| (main(at) / name).join(node.segments()), |at| (at / name).join(node.segments()));
            }),
            None => mapper.made(|at| main(at) / name, |at| at / name),
        }
    }
    container.insert(name.into(), overlay(base, over));
}
