//! The power limit of a component's GPUs: DGD-52 to DGD-54, DGD-75, DGD-76.

use dynamo_api::constants::{GPU_POWER_LIMIT, GPU_RESOURCE};
use dynamo_api::v1beta1::ComponentSpec;
use gateward::{FieldPath, Issues, Rule, UPDATE};

use super::applies_to::GRAPHS;
use crate::rules::component::pod_view::{Pod, container_path};
use crate::rules::grove;

const NUMBER: Rule = rule! {
    id: "DGD-52",
    summary: "a GPU power limit is a decimal integer",
    ..GRAPHS
};

const POSITIVE: Rule = rule! {
    id: "DGD-53",
    good_of: "DGD-52",
    summary: "a GPU power limit is greater than zero",
    help: "write a whole number of watts greater than zero",
    ..GRAPHS
};

const NO_CLAIMS: Rule = rule! {
    id: "DGD-54",
    good_of: "DGD-52",
    summary: "a component with a GPU power limit has no GPUs from claims",
    ..GRAPHS
};

const CONSTANT: Rule = rule! {
    id: "DGD-75",
    summary: "the GPU power limit of a component never changes",
    operations: UPDATE,
    ..GRAPHS
};

const GPUS_CONSTANT: Rule = rule! {
    id: "DGD-76",
    good_of: "DGD-75",
    summary: "the number of GPUs under a power limit never changes",
    help: "keep the number of GPUs, or remove the power limit in an update of its own",
    operations: UPDATE,
    ..GRAPHS
};

/// The catalogue's entries.
pub(super) const RULES: &[&Rule] = &[&NUMBER, &POSITIVE, &NO_CLAIMS, &CONSTANT, &GPUS_CONSTANT];

/// Judges the power limit of the component at `at`.
pub(super) fn check(component: &ComponentSpec, at: &FieldPath, issues: &mut Issues) {
    let Some(limit) = limit(component) else { return };
    let watts = limit.parse::<i64>();
    if watts.is_err() {
        issues.add(
            NUMBER.invalid(path(at), limit).message("must be a decimal integer").help("in watts per GPU, such as 450"),
        );
    }
    if watts.is_ok_and(|watts| watts <= 0) {
        issues.add(POSITIVE.invalid(path(at), limit).message("must be greater than zero"));
    }
    if let Some(claim) = first_claim(component, at) {
        issues.add(
            NO_CLAIMS
                .forbidden(claim)
                .message("may not be set with GPUs from resource claims")
                .help("remove the claim or the annotation dynamo.nvidia.com/gpu-power-limit"),
        );
    }
}

/// The power limit as it is written.
fn limit(component: &ComponentSpec) -> Option<&str> {
    component.pod()?.value.metadata.annotations.get(GPU_POWER_LIMIT).map(String::as_str)
}

fn path(component: &FieldPath) -> FieldPath {
    (component / "podTemplate" / "metadata" / "annotations").key(GPU_POWER_LIMIT)
}

/// The first thing that gives the component GPUs by claims: the GPU memory service, a container, an init container.
fn first_claim(component: &ComponentSpec, at: &FieldPath) -> Option<FieldPath> {
    if grove::gpu_memory_service(component).is_some() {
        return Some(at / "experimental" / "gpuMemoryService");
    }
    let pod = &component.pod()?.value.spec;
    [("containers", &pod.containers), ("initContainers", &pod.init_containers)].into_iter().find_map(|(list, items)| {
        let place = items.iter().position(|container| !container.resources.claims.is_empty())?;
        Some((at / "podTemplate" / "spec" / list).index(place) / "resources" / "claims")
    })
}

/// Judges a change of the component at `at`.
pub(super) fn check_update(old: &ComponentSpec, new: &ComponentSpec, at: &FieldPath, issues: &mut Issues) {
    let (before, after) = (limit(old), limit(new));
    if before != after && has_readable_limit(old) {
        let issue = CONSTANT.invalid(path(at), after).message("field is immutable");
        issues.add(issue.help("delete the graph and recreate it"));
    }
    if before.is_some() && gpus(old) != gpus(new) && has_readable_gpus(old) {
        let issue = GPUS_CONSTANT.invalid(gpus_path(new, at), gpus(new));
        issues.add(issue.message("may not change with a power limit"));
    }
}

/// Whether the power limit has the type of an annotation, or is absent.
fn has_readable_limit(component: &ComponentSpec) -> bool {
    Pod::of(component).has_read(&(FieldPath::field("metadata") / "annotations").key(GPU_POWER_LIMIT))
}

/// Whether the resources of the main container have the types of their fields, or are absent.
fn has_readable_gpus(component: &ComponentSpec) -> bool {
    let pod = Pod::of(component);
    match pod.main_container() {
        Some((place, _)) => pod.has_read_all(&(container_path(place) / "resources")),
        None => pod.has_read_names(),
    }
}

/// The GPUs of the main container as canonical text: its limit if there is one, else its request.
fn gpus(component: &ComponentSpec) -> Option<String> {
    let resources = &component.main_container()?.1.resources;
    let gpus = resources.limits.get(GPU_RESOURCE).or_else(|| resources.requests.get(GPU_RESOURCE))?;
    Some(gpus.canonical())
}

/// Where the GPUs of the main container stand, or should.
fn gpus_path(component: &ComponentSpec, at: &FieldPath) -> FieldPath {
    let containers = at / "podTemplate" / "spec" / "containers";
    let Some((place, main)) = component.main_container() else { return containers };
    let resources = containers.index(place) / "resources";
    match &main.resources {
        known if known.limits.contains_key(GPU_RESOURCE) => (resources / "limits").key(GPU_RESOURCE),
        known if known.requests.contains_key(GPU_RESOURCE) => (resources / "requests").key(GPU_RESOURCE),
        _ => resources,
    }
}
