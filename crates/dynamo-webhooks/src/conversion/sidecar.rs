//! The frontend sidecar: a block of its own on one side, a container of the pod on the other.

use dynamo_api::Raw;
use dynamo_api::constants::FRONTEND_SIDECAR_CONTAINER;
use dynamo_api::v1alpha1::FrontendSidecar;
use serde_json::{Map, Value};

use super::main_container::secret_reference;
use super::trail::{Trail, container};

/// Adds the sidecar's container, unless the pod has one of that name.
pub(super) fn add(containers: &mut Vec<Value>, sidecar: &FrontendSidecar, trail: &mut Trail<'_>) {
    if containers.iter().any(|container| container["name"] == FRONTEND_SIDECAR_CONTAINER) {
        return;
    }
    record(containers.len(), trail);
    containers.push(native(sidecar));
}

fn native(sidecar: &FrontendSidecar) -> Value {
    let mut container = Map::new();
    container.insert("name".into(), FRONTEND_SIDECAR_CONTAINER.into());
    if !sidecar.image.is_empty() {
        container.insert("image".into(), sidecar.image.as_str().into());
    }
    if !sidecar.args.is_empty() {
        container.insert("args".into(), sidecar.args.clone().into());
    }
    if !sidecar.envs.is_empty() {
        container.insert("env".into(), sidecar.envs.iter().map(Raw::to_value).collect());
    }
    if let Some(secret) = sidecar.env_from_secret.as_deref().filter(|secret| !secret.is_empty()) {
        container.insert("envFrom".into(), vec![secret_reference(secret)].into());
    }
    Value::Object(container)
}

fn record(place: usize, trail: &mut Trail<'_>) {
    trail.made(|at| container(at, place), |at| at / "frontendSidecar");
    for (lifted, written) in [("image", "image"), ("args", "args"), ("env", "envs")] {
        trail.moved(|at| container(at, place) / lifted, |at| at / "frontendSidecar" / written);
    }
    trail.made(|at| container(at, place) / "envFrom", |at| at / "frontendSidecar" / "envFromSecret");
}
