//! The main container: what the flat fields of a service say, with `mainContainer` laid over it.

use std::collections::HashMap;

use dynamo_api::Raw;
use dynamo_api::constants::MAIN_CONTAINER;
use dynamo_api::pod::{EnvVar, Probe};
use dynamo_api::v1alpha1::{ComponentSpec, VolumeMount};
use gateward_core::FieldPath;
use serde_json::{Map, Value, json};

use super::merge::{is_zero, kept, overlay};
use super::resources;
use super::trail::{Trail, main, nearest};

/// Which of the two a merged item came from, with its position there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Flat(usize),
    MainContainer(usize),
}

/// The main container. A `mainContainer` that is no object stays what it is.
pub(super) fn lift(service: &ComponentSpec, main_container: Value, trail: &mut Trail<'_>) -> Value {
    let mut container = match main_container {
        Value::Null => {
            trail.made(main, nearest(service));
            Map::new()
        }
        written => {
            trail.moved(main, |at| at / "extraPodSpec" / "mainContainer");
            match written {
                Value::Object(members) => members,
                odd => return odd,
            }
        }
    };
    container.insert("name".into(), MAIN_CONTAINER.into());
    resources::lay(&mut container, service, trail);
    lay_env(&mut container, &service.envs, trail);
    lay_env_from(&mut container, service, trail);
    lay_mounts(&mut container, &service.volume_mounts, trail);
    lay_probe(&mut container, "livenessProbe", service.liveness_probe.as_ref(), trail);
    lay_probe(&mut container, "readinessProbe", service.readiness_probe.as_ref(), trail);
    Value::Object(container)
}

/// Variables are united by name: each stands where its name first came up and has its last value.
fn lay_env(container: &mut Map<String, Value>, flat: &[Raw<EnvVar>], trail: &mut Trail<'_>) {
    if flat.is_empty() {
        return;
    }
    let united = match container.remove("env").unwrap_or_default() {
        Value::Array(over) if !over.is_empty() => unite(flat, over),
        over if is_zero(&over) => {
            trail.moved(|at| main(at) / "env", |at| at / "envs");
            return drop(container.insert("env".into(), flat.iter().map(Raw::to_value).collect()));
        }
        odd => return drop(container.insert("env".into(), odd)),
    };
    for (index, (_, origin)) in united.iter().enumerate() {
        trail.moved(|at| (main(at) / "env").index(index), |at| origin.variable(at));
    }
    container.insert("env".into(), united.into_iter().map(|(variable, _)| variable).collect());
}

fn unite(flat: &[Raw<EnvVar>], over: Vec<Value>) -> Vec<(Value, Origin)> {
    let flat = flat.iter().map(Raw::to_value).enumerate().map(|(index, variable)| (variable, Origin::Flat(index)));
    let over = over.into_iter().enumerate().map(|(index, variable)| (variable, Origin::MainContainer(index)));
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut united: Vec<(Value, Origin)> = Vec::new();
    for (variable, origin) in flat.chain(over) {
        let name = variable["name"].as_str().map(str::to_owned);
        match name.as_ref().and_then(|name| places.get(name)) {
            Some(&place) => united[place] = (variable, origin),
            None => {
                places.extend(name.map(|name| (name, united.len())));
                united.push((variable, origin));
            }
        }
    }
    united
}

impl Origin {
    fn variable(self, component: FieldPath) -> FieldPath {
        match self {
            Self::Flat(index) => (component / "envs").index(index),
            Self::MainContainer(index) => (component / "extraPodSpec" / "mainContainer" / "env").index(index),
        }
    }
}

fn lay_env_from(container: &mut Map<String, Value>, service: &ComponentSpec, trail: &mut Trail<'_>) {
    let Some(secret) = service.env_from_secret.as_deref().filter(|secret| !secret.is_empty()) else { return };
    if container.get("envFrom").is_none_or(is_zero) {
        trail.made(|at| main(at) / "envFrom", |at| at / "envFromSecret");
        container.insert("envFrom".into(), json!([secret_reference(secret)]));
    }
}

/// All variables of a Secret, as an item of `envFrom`.
pub(super) fn secret_reference(secret: &str) -> Value {
    json!({"secretRef": {"name": secret}})
}

/// The container's own mounts come first, then all of the service's, caches included.
fn lay_mounts(container: &mut Map<String, Value>, flat: &[VolumeMount], trail: &mut Trail<'_>) {
    if flat.is_empty() {
        return;
    }
    let mut mounts = match container.remove("volumeMounts") {
        Some(Value::Array(own)) => own,
        Some(odd) if !is_zero(&odd) => return drop(container.insert("volumeMounts".into(), odd)),
        _ => Vec::new(),
    };
    if mounts.is_empty() {
        trail.made(|at| main(at) / "volumeMounts", |at| at / "volumeMounts");
    }
    for (index, mount) in flat.iter().enumerate() {
        record_mount(mounts.len(), index, trail);
        mounts.push(native_mount(mount));
    }
    container.insert("volumeMounts".into(), Value::Array(mounts));
}

fn native_mount(mount: &VolumeMount) -> Value {
    let members = [("name", &mount.name), ("mountPath", &mount.mount_point)];
    let set = members.into_iter().filter(|(_, text)| !text.is_empty());
    Value::Object(set.map(|(name, text)| (name.to_owned(), Value::from(text.as_str()))).collect())
}

fn record_mount(place: usize, index: usize, trail: &mut Trail<'_>) {
    let lifted = |at| (main(at) / "volumeMounts").index(place);
    let flat = |at: FieldPath| (at / "volumeMounts").index(index);
    trail.moved(lifted, flat);
    trail.moved(|at| lifted(at) / "mountPath", |at| flat(at) / "mountPoint");
}

fn lay_probe(container: &mut Map<String, Value>, name: &'static str, flat: Option<&Raw<Probe>>, trail: &mut Trail<'_>) {
    let Some(flat) = flat else { return };
    let (base, over) = (flat.to_value(), container.remove(name).unwrap_or_default());
    if trail.is_recording() {
        for node in kept(&base, &over) {
            trail.moved(|at| (main(at) / name).join(node.segments()), |at| (at / name).join(node.segments()));
        }
    }
    container.insert(name.into(), overlay(base, over));
}
