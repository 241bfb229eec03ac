//! The containers of the hub's pod: the main one, those of `extraPodSpec`, the frontend sidecar's, and those that
//! v1alpha1 lacks.

use std::collections::{HashMap, HashSet};

use dynamo_api::constants::MAIN_CONTAINER;
use dynamo_api::v1alpha1::{ComponentSpec, FrontendSidecar};
use serde_json::{Map, Value};

use crate::conversion::path_mapper::{PathMapper, container, silently};
use crate::conversion::{main_container, mounts, resources, sidecar};
use gateward::conversion::equivalence::means_absent;

/// Where a container comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContainerOrigin {
    Main,
    Listed(usize),
    Sidecar,
    Hub,
}

type Containers = Vec<(Value, ContainerOrigin)>;

/// The containers; the main one comes first unless another order is preserved. `hub_containers` are the preserved ones,
/// if there was a pod template.
pub(super) fn to_hub(
    service: &ComponentSpec,
    main_container: Value,
    listed: Vec<Value>,
    hub_containers: Option<&[Value]>,
    mapper: &mut PathMapper<'_>,
) -> Vec<Value> {
    let Some(hub_containers) = hub_containers else {
        let main = main_container::to_hub(service, main_container, mapper);
        return finish(assemble(service, Some(main), listed, &[]), mapper);
    };
    let again = mapper.is_recording().then(|| main_container.clone());
    let main = main(service, main_container, hub_containers);
    let mut containers = assemble(service, main, listed, hub_containers);
    reorder(&mut containers, hub_containers);
    if let (Some(again), Some(place)) =
        (again, containers.iter().position(|(_, origin)| *origin == ContainerOrigin::Main))
    {
        mapper.set_main_index(place);
        main_container::to_hub(service, again, mapper);
    }
    finish(containers, mapper)
}

/// The main container with its preserved mounts; `None` if it would be empty and there was none.
fn main(service: &ComponentSpec, main_container: Value, hub_containers: &[Value]) -> Option<Value> {
    let own_mounts = main_container["volumeMounts"].clone();
    let mut main = silently(|mapper| main_container::to_hub(service, main_container, mapper));
    let hub_main = named(hub_containers, MAIN_CONTAINER);
    if let Value::Object(members) = &mut main {
        let hub_mounts = hub_main.map_or(&Value::Null, |main| &main["volumeMounts"]);
        mounts::restore(members, &service.volume_mounts, &own_mounts, hub_mounts);
    }
    let is_bare = || main.as_object().is_some_and(|members| members.keys().all(|name| name == "name"));
    let is_needed = || service.resources.as_ref().is_some_and(resources::are_invisible);
    (hub_main.is_some() || !is_bare() || is_needed()).then_some(main)
}

fn name_of(container: &Value) -> Option<&str> {
    container["name"].as_str()
}

/// The container of this name.
fn named<'a>(containers: &'a [Value], name: &str) -> Option<&'a Value> {
    containers.iter().find(|container| container["name"] == name)
}

/// A further container called `main` gives way to the main one, and the sidecar to a container of its name.
fn assemble(service: &ComponentSpec, main: Option<Value>, listed: Vec<Value>, hub_containers: &[Value]) -> Containers {
    let mut containers: Containers = main.map(|main| (main, ContainerOrigin::Main)).into_iter().collect();
    let listed = listed.into_iter().enumerate().filter(|(_, container)| container["name"] != MAIN_CONTAINER);
    containers.extend(listed.map(|(index, container)| (container, ContainerOrigin::Listed(index))));
    if let Some(block) = &service.frontend_sidecar
        && !containers.iter().any(|(container, _)| sidecar::is_sidecar(container))
    {
        containers.push((sidecar_container(block, hub_containers), ContainerOrigin::Sidecar));
    }
    if hub_containers.is_empty() {
        return containers;
    }
    let mut names: HashSet<&str> = containers.iter().filter_map(|(container, _)| name_of(container)).collect();
    let missing = hub_containers
        .iter()
        .filter(|container| is_of_hub_alone(container) && name_of(container).is_some_and(|name| names.insert(name)));
    let missing: Containers = missing.map(|container| (container.clone(), ContainerOrigin::Hub)).collect();
    containers.extend(missing);
    containers
}

/// Whether a preserved container has fields, and the service has no field for it.
fn is_of_hub_alone(container: &Value) -> bool {
    let says_something =
        |members: &Map<String, Value>| members.iter().any(|(name, leaf)| name != "name" && !means_absent(leaf));
    container["name"] != MAIN_CONTAINER
        && !sidecar::is_sidecar(container)
        && container.as_object().is_some_and(says_something)
}

fn sidecar_container(block: &FrontendSidecar, hub_containers: &[Value]) -> Value {
    let mut container = sidecar::to_hub(block);
    if let Some(hub) = hub_containers.iter().find(|each| sidecar::is_sidecar(each)).and_then(Value::as_object) {
        sidecar::restore(&mut container, block, hub);
    }
    container.into()
}

/// Restores the preserved order, if the containers are the same.
fn reorder(containers: &mut Containers, hub_containers: &[Value]) {
    let names: HashMap<&str, usize> =
        hub_containers.iter().enumerate().rev().filter_map(|(place, each)| Some((name_of(each)?, place))).collect();
    let place = |(container, _): &(Value, ContainerOrigin)| names.get(name_of(container)?).copied();
    let places: HashSet<usize> = containers.iter().filter_map(place).collect();
    if places.len() == containers.len() && places.len() == hub_containers.len() {
        containers.sort_by_cached_key(place);
    }
}

fn finish(containers: Containers, mapper: &mut PathMapper<'_>) -> Vec<Value> {
    let has_room = mapper.has_room_for(containers.len());
    for (place, (_, origin)) in containers.iter().enumerate() {
        match *origin {
            // Where many are listed, the list is known to be that of `extraPodSpec`.
            ContainerOrigin::Listed(index) if has_room => {
                mapper.moved(|at| container(at, place), |at| (at / "extraPodSpec" / "containers").index(index));
            }
            ContainerOrigin::Sidecar => sidecar::record(place, mapper),
            ContainerOrigin::Listed(_) | ContainerOrigin::Main | ContainerOrigin::Hub => {}
        }
    }
    containers.into_iter().map(|(container, _)| container).collect()
}
