//! The main container: what the flat fields of a service say, with `mainContainer` laid over it.

use std::collections::HashMap;

use dynamo_api::Raw;
use dynamo_api::constants::MAIN_CONTAINER;
use dynamo_api::pod::{EnvVar, Probe};
use dynamo_api::v1alpha1::ComponentSpec;
use gateward_core::FieldPath;
use serde_json::{Map, Value, json};

use super::merge::{is_blank, kept, overlay};
use super::trail::{Trail, nearest};
use super::{mounts, resources};

/// Which of the two a merged item came from, with its position there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Flat(usize),
    MainContainer(usize),
}

/// The main container. A `mainContainer` that is no object stays what it is.
pub(super) fn lift(service: &ComponentSpec, main_container: Value, trail: &mut Trail<'_>) -> Value {
    let main = trail.main();
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
    mounts::lay(&mut container, &service.volume_mounts, trail);
    lay_probe(&mut container, "livenessProbe", service.liveness_probe.as_ref(), trail);
    lay_probe(&mut container, "readinessProbe", service.readiness_probe.as_ref(), trail);
    Value::Object(container)
}

fn lay_env(container: &mut Map<String, Value>, flat: &[Raw<EnvVar>], trail: &mut Trail<'_>) {
    if !flat.is_empty() {
        let own = container.remove("env").unwrap_or_default();
        container.insert("env".into(), env(flat, own, trail));
    }
}

/// Variables are united by name: each stands where its name first came up and has its last value.
fn env(flat: &[Raw<EnvVar>], own: Value, trail: &mut Trail<'_>) -> Value {
    let main = trail.main();
    let united = match own {
        Value::Array(own) if !own.is_empty() => unite(flat, own),
        own if is_blank(&own) => {
            trail.moved(|at| main(at) / "env", |at| at / "envs");
            return flat.iter().map(Raw::to_value).collect();
        }
        odd => return odd,
    };
    for (index, (_, origin)) in united.iter().enumerate() {
        trail.moved(|at| (main(at) / "env").index(index), |at| origin.variable(at));
    }
    united.into_iter().map(|(variable, _)| variable).collect()
}

fn unite(flat: &[Raw<EnvVar>], own: Vec<Value>) -> Vec<(Value, Origin)> {
    let flat = flat.iter().map(Raw::to_value).enumerate().map(|(index, variable)| (variable, Origin::Flat(index)));
    let own = own.into_iter().enumerate().map(|(index, variable)| (variable, Origin::MainContainer(index)));
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut united: Vec<(Value, Origin)> = Vec::new();
    for (variable, origin) in flat.chain(own) {
        let next = united.len();
        let place = variable["name"].as_str().map_or(next, |name| *places.entry(name.to_owned()).or_insert(next));
        match united.get_mut(place) {
            Some(known) => *known = (variable, origin),
            None => united.push((variable, origin)),
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
    if container.get("envFrom").is_none_or(is_blank) {
        let main = trail.main();
        trail.made(|at| main(at) / "envFrom", |at| at / "envFromSecret");
        container.insert("envFrom".into(), json!([secret_reference(secret)]));
    }
}

/// All variables of a Secret, as an item of `envFrom`.
pub(super) fn secret_reference(secret: &str) -> Value {
    json!({"secretRef": {"name": secret}})
}

fn lay_probe(container: &mut Map<String, Value>, name: &'static str, flat: Option<&Raw<Probe>>, trail: &mut Trail<'_>) {
    let Some(flat) = flat else { return };
    let (base, over) = (flat.to_value(), container.remove(name).unwrap_or_default());
    if trail.is_recording() {
        let main = trail.main();
        for node in kept(&base, &over) {
            trail.moved(|at| (main(at) / name).join(node.segments()), |at| (at / name).join(node.segments()));
        }
    }
    container.insert(name.into(), overlay(base, over));
}
