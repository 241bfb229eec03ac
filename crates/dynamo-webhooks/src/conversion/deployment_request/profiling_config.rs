//! The profiler's free-form configuration: a few of its leaves are fields in v1beta1, the rest is preserved.

use dynamo_api::Json;
use dynamo_api::v1beta1::{ModelCache, OptimizationType, Sla, Workload};
use serde_json::{Map, Number, Value};

use super::HubSpec;
use super::free_form::{self, number};

/// The fields of v1beta1 that the configuration has.
#[derive(Debug, Default)]
pub(super) struct Projection {
    pub sla: Option<Sla>,
    pub workload: Option<Workload>,
    pub model_cache: Option<ModelCache>,
    pub planner: Option<Json>,
}

const TIMES: [&str; 2] = ["itl", "ttft"];
const LENGTHS: [&str; 2] = ["isl", "osl"];
const PLACES: [&str; 3] = ["modelPathInPvc", "pvcMountPath", "pvcName"];

/// The v1beta1 fields of the configuration. One that is no map has none.
pub(super) fn project(config: &Json) -> Projection {
    let Some(config) = free_form::object(config) else { return Projection::default() };
    let sla = config.get("sla").and_then(Value::as_object);
    let cache = config.get("deployment").and_then(|deployment| deployment.get("modelCache")?.as_object());
    Projection {
        sla: sla.map(targets),
        workload: sla.and_then(traffic),
        model_cache: cache.map(volume),
        planner: config.get("planner").filter(|planner| is_planner(planner)).map(|planner| planner.clone().into()),
    }
}

/// The configuration without the leaves that [`project`] reads. `None` if nothing is left.
pub(super) fn without_projected(config: &Json) -> Option<Json> {
    let Some(mut members) = free_form::object(config) else { return Some(config.clone()) };
    let was_empty = members.is_empty();
    strip(&mut members);
    (was_empty || !members.is_empty()).then(|| Value::Object(members).into())
}

/// The configuration with the fields of `hub`, written over the preserved one.
pub(super) fn rebuild(hub: &HubSpec, preserved: Option<&Json>) -> Option<Json> {
    let rest = preserved.and_then(without_projected);
    let read = rest.as_ref().and_then(free_form::object);
    let mut config = read.clone().unwrap_or_default();
    write_targets(hub, &mut config);
    if let Some(cache) = &hub.model_cache {
        write_cache(cache, &mut config);
    }
    if let Some(planner) = hub.features.as_ref().and_then(|features| features.planner.as_ref()).and_then(planner) {
        config.insert("planner".into(), Value::Object(planner));
    }
    match read {
        None if config.is_empty() => rest,
        _ => Some(Value::Object(config).into()),
    }
}

/// A planner that has a place in the configuration: a map that isn't empty and doesn't nest too deeply for it.
pub(super) fn planner(planner: &Json) -> Option<Map<String, Value>> {
    free_form::object_below(planner).filter(|members| !members.is_empty())
}

fn targets(block: &Map<String, Value>) -> Sla {
    let time = |name: &str| block.get(name).and_then(Value::as_f64);
    let goal = block.get("optimizationType").filter(|goal| is_goal(goal));
    Sla {
        ttft: time("ttft"),
        itl: time("itl"),
        optimization_type: goal.and_then(Value::as_str).map(OptimizationType::from),
        ..Sla::default()
    }
}

fn traffic(block: &Map<String, Value>) -> Option<Workload> {
    let tokens = |name: &str| block.get(name).and_then(truncated);
    let workload = Workload { isl: tokens("isl"), osl: tokens("osl"), ..Workload::default() };
    (workload.isl.is_some() || workload.osl.is_some()).then_some(workload)
}

fn volume(block: &Map<String, Value>) -> ModelCache {
    let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    ModelCache {
        pvc_name: text("pvcName"),
        pvc_model_path: text("modelPathInPvc"),
        pvc_mount_path: text("pvcMountPath"),
    }
}

/// Removes the leaves that [`project`] reads, and blocks that become empty.
fn strip(config: &mut Map<String, Value>) {
    strip_block(config, "sla", is_target);
    if let Some(Value::Object(deployment)) = config.get_mut("deployment") {
        let size = deployment.len();
        strip_block(deployment, "modelCache", is_place);
        if deployment.len() < size && deployment.is_empty() {
            config.remove("deployment");
        }
    }
    if config.get("planner").is_some_and(is_planner) {
        config.remove("planner");
    }
}

fn strip_block(parent: &mut Map<String, Value>, name: &str, is_read: impl Fn(&str, &Value) -> bool) {
    let Some(Value::Object(block)) = parent.get_mut(name) else { return };
    let size = block.len();
    block.retain(|name, value| !is_read(name, value));
    if block.len() < size && block.is_empty() {
        parent.remove(name);
    }
}

fn is_target(name: &str, value: &Value) -> bool {
    (TIMES.contains(&name) && value.is_number())
        || (LENGTHS.contains(&name) && truncated(value).is_some())
        || (name == "optimizationType" && is_goal(value))
}

fn is_goal(value: &Value) -> bool {
    value.as_str().is_some_and(|goal| OptimizationType::VALUES.contains(&goal))
}

fn is_place(name: &str, value: &Value) -> bool {
    PLACES.contains(&name) && value.as_str().is_some_and(|place| !place.is_empty())
}

fn is_planner(value: &Value) -> bool {
    value.as_object().is_some_and(|members| !members.is_empty())
}

/// A number truncated toward zero, if it fits in 32 bits.
fn truncated(value: &Value) -> Option<i32> {
    let whole = value.as_f64()?.trunc();
    let fits = (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&whole);
    #[expect(clippy::cast_possible_truncation, reason = "a whole number within the limits")]
    fits.then_some(whole as i32)
}

fn write_targets(hub: &HubSpec, config: &mut Map<String, Value>) {
    let sla = hub.sla.clone().unwrap_or_default();
    let workload = hub.workload.clone().unwrap_or_default();
    let length = |tokens: i32| Value::Number(Number::from(tokens));
    let leaves = [
        ("ttft", sla.ttft.map(number)),
        ("itl", sla.itl.map(number)),
        ("optimizationType", sla.optimization_type.map(|goal| goal.as_str().into())),
        ("isl", workload.isl.map(length)),
        ("osl", workload.osl.map(length)),
    ];
    write(config, "sla", leaves.into_iter().filter_map(|(name, value)| Some((name, value?))).collect());
}

fn write_cache(cache: &ModelCache, config: &mut Map<String, Value>) {
    let leaves = [
        ("pvcName", &cache.pvc_name),
        ("modelPathInPvc", &cache.pvc_model_path),
        ("pvcMountPath", &cache.pvc_mount_path),
    ];
    let named = leaves.into_iter().filter(|(_, place)| !place.is_empty());
    let named: Vec<_> = named.map(|(name, place)| (name, Value::from(place.as_str()))).collect();
    if !named.is_empty() {
        free_form::edit(config, "deployment", |deployment| write(deployment, "modelCache", named));
    }
}

/// Writes the leaves into the map at this member; without leaves no map is created.
fn write(parent: &mut Map<String, Value>, name: &str, leaves: Vec<(&str, Value)>) {
    if !leaves.is_empty() {
        let leaves = leaves.into_iter().map(|(name, value)| (name.to_owned(), value));
        free_form::edit(parent, name, |block| block.extend(leaves));
    }
}
