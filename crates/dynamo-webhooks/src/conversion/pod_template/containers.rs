//! The containers of the hub's pod: the main one, those of `extraPodSpec`, the frontend sidecar's, and those that only
//! the hub had.

use dynamo_api::constants::MAIN_CONTAINER;
use dynamo_api::v1alpha1::{ComponentSpec, FrontendSidecar};
use gateward_core::Provenance;
use serde_json::{Map, Value};

use crate::conversion::trail::{Place, Trail, container};
use crate::conversion::{main_container, mounts, resources, sidecar};
use gateward_core::conversion::equivalence::says_nothing;

/// Where a container came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Main,
    Listed(usize),
    Sidecar,
    Hub,
}

type Containers = Vec<(Value, Origin)>;

/// The containers; the main one comes first unless the hub had them in another order. `had` are those that the hub's
/// user wrote, if there was a pod template.
pub(super) fn lift(
    service: &ComponentSpec,
    main_container: Value,
    listed: Vec<Value>,
    had: Option<&[Value]>,
    trail: &mut Trail<'_>,
) -> Vec<Value> {
    let Some(had) = had else {
        let main = main_container::lift(service, main_container, trail);
        return finish(assemble(service, Some(main), listed, &[]), trail);
    };
    let again = trail.is_recording().then(|| main_container.clone());
    let main = main(service, main_container, had);
    let mut containers = assemble(service, main, listed, had);
    reorder(&mut containers, had);
    if let (Some(again), Some(place)) = (again, containers.iter().position(|(_, origin)| *origin == Origin::Main)) {
        trail.place_main(place);
        main_container::lift(service, again, trail);
    }
    finish(containers, trail)
}

/// The main container, with the mounts that it had; `None` where it would say nothing and there was none.
fn main(service: &ComponentSpec, main_container: Value, had: &[Value]) -> Option<Value> {
    let own_mounts = main_container["volumeMounts"].clone();
    let mut provenance = Provenance::silent();
    let mut main = main_container::lift(service, main_container, &mut Trail::new(Place::Standalone, &mut provenance));
    let had = named(had, MAIN_CONTAINER);
    if let Value::Object(members) = &mut main {
        let had_mounts = had.map_or(&Value::Null, |had| &had["volumeMounts"]);
        mounts::restore(members, &service.volume_mounts, &own_mounts, had_mounts);
    }
    let is_bare = || main.as_object().is_some_and(|members| members.keys().all(|name| name == "name"));
    let is_needed = || service.resources.as_ref().is_some_and(resources::are_invisible);
    (had.is_some() || !is_bare() || is_needed()).then_some(main)
}

fn named<'a>(containers: &'a [Value], name: &str) -> Option<&'a Value> {
    containers.iter().find(|container| container["name"] == name)
}

/// A further container called `main` gives way to the main one, and the sidecar to a container of its name.
fn assemble(service: &ComponentSpec, main: Option<Value>, listed: Vec<Value>, had: &[Value]) -> Containers {
    let mut containers: Containers = main.map(|main| (main, Origin::Main)).into_iter().collect();
    let listed = listed.into_iter().enumerate().filter(|(_, container)| container["name"] != MAIN_CONTAINER);
    containers.extend(listed.map(|(index, container)| (container, Origin::Listed(index))));
    if let Some(block) = &service.frontend_sidecar
        && !containers.iter().any(|(container, _)| sidecar::is_sidecar(container))
    {
        containers.push((with_leaves(block, had), Origin::Sidecar));
    }
    for missing in had.iter().filter(|had| is_of_hub_alone(had)) {
        if !containers.iter().any(|(container, _)| container["name"] == missing["name"]) {
            containers.push((missing.clone(), Origin::Hub));
        }
    }
    containers
}

/// Whether a remembered container says something and isn't one that the service has a word for.
fn is_of_hub_alone(had: &Value) -> bool {
    let says_something =
        |had: &Map<String, Value>| had.iter().any(|(name, leaf)| name != "name" && !says_nothing(leaf));
    had["name"].is_string()
        && had["name"] != MAIN_CONTAINER
        && !sidecar::is_sidecar(had)
        && had.as_object().is_some_and(says_something)
}

fn with_leaves(block: &FrontendSidecar, had: &[Value]) -> Value {
    let mut container = sidecar::lift(block);
    if let Some(had) = had.iter().find(|had| sidecar::is_sidecar(had)).and_then(Value::as_object) {
        sidecar::restore(&mut container, block, had);
    }
    container.into()
}

/// Brings the containers in the order that the hub had, if they are the same ones.
fn reorder(containers: &mut Containers, had: &[Value]) {
    let places: Option<Vec<usize>> = containers.iter().map(|(container, _)| place(container, had)).collect();
    let Some(places) = places.filter(|places| places.len() == had.len() && is_permutation(places)) else { return };
    let mut placed: Vec<_> = places.into_iter().zip(containers.drain(..)).collect();
    placed.sort_by_key(|(place, _)| *place);
    containers.extend(placed.into_iter().map(|(_, container)| container));
}

fn place(container: &Value, had: &[Value]) -> Option<usize> {
    let name = container["name"].as_str()?;
    had.iter().position(|had| had["name"] == name)
}

/// Whether each place is taken once.
fn is_permutation(places: &[usize]) -> bool {
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    sorted.iter().enumerate().all(|(index, place)| index == *place)
}

fn finish(containers: Containers, trail: &mut Trail<'_>) -> Vec<Value> {
    for (place, (_, origin)) in containers.iter().enumerate() {
        match *origin {
            Origin::Listed(index) => {
                trail.moved(|at| container(at, place), |at| (at / "extraPodSpec" / "containers").index(index));
            }
            Origin::Sidecar => sidecar::record(place, trail),
            Origin::Main | Origin::Hub => {}
        }
    }
    containers.into_iter().map(|(container, _)| container).collect()
}
