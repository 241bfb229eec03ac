//! The profiler's free-form configuration: a few of its leaves are fields in v1beta1, the rest is preserved.

use dynamo_api::Json;
use dynamo_api::v1beta1::{ModelCache, OptimizationType, Sla, Workload};
use serde_json::{Map, Number, Value};

use super::free_form::{self, number};
use super::versions::HubSpec;

/// The fields of v1beta1 that the configuration has.
#[derive(Debug, Default)]
pub(super) struct Projection {
    pub sla: Option<Sla>,
    pub workload: Option<Workload>,
    pub model_cache: Option<ModelCache>,
    pub planner: Option<Json>,
}

/// The v1beta1 fields of the configuration, and the rest of it, unless nothing is left. One that is no map is all rest.
pub(super) fn split(config: &Json) -> (Projection, Option<Json>) {
    let Some(mut members) = free_form::object(config) else { return (Projection::default(), Some(config.clone())) };
    let was_empty = members.is_empty();
    let targets = take_from(&mut members, "sla", |block| (targets(block), traffic(block)));
    let (sla, workload) = targets.unzip();
    let cache = take_from(&mut members, "deployment", |deployment| take_from(deployment, "modelCache", volume));
    let planner = take(&mut members, "planner", |planner| {
        planner.as_object().filter(|members| !members.is_empty()).map(|_| planner.clone().into())
    });
    let rest = (was_empty || !members.is_empty()).then(|| Value::Object(members).into());
    (Projection { sla, workload: workload.flatten(), model_cache: cache.flatten(), planner }, rest)
}

/// The configuration with the fields of `hub`, written over the preserved one.
pub(super) fn rebuild(hub: &HubSpec, preserved: Option<&Json>) -> Option<Json> {
    let rest = preserved.and_then(|preserved| split(preserved).1);
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

fn targets(block: &mut Map<String, Value>) -> Sla {
    let goal = |written: &Value| {
        written.as_str().filter(|goal| OptimizationType::VALUES.contains(goal)).map(OptimizationType::from)
    };
    Sla {
        ttft: take(block, "ttft", Value::as_f64),
        itl: take(block, "itl", Value::as_f64),
        optimization_type: take(block, "optimizationType", goal),
        ..Sla::default()
    }
}

fn traffic(block: &mut Map<String, Value>) -> Option<Workload> {
    let (isl, osl) = (take(block, "isl", truncated), take(block, "osl", truncated));
    (isl.is_some() || osl.is_some()).then(|| Workload { isl, osl, ..Workload::default() })
}

fn volume(block: &mut Map<String, Value>) -> ModelCache {
    let place = |written: &Value| written.as_str().filter(|place| !place.is_empty()).map(str::to_owned);
    let mut place = |name: &str| take(block, name, place).unwrap_or_default();
    ModelCache {
        pvc_name: place("pvcName"),
        pvc_model_path: place("modelPathInPvc"),
        pvc_mount_path: place("pvcMountPath"),
    }
}

/// Removes and returns a member that `read` can read.
fn take<T>(from: &mut Map<String, Value>, name: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
    let taken = read(from.get(name)?)?;
    from.remove(name);
    Some(taken)
}

/// What `take` takes from a block, which is removed if that empties it.
fn take_from<T>(
    parent: &mut Map<String, Value>,
    name: &str,
    take: impl FnOnce(&mut Map<String, Value>) -> T,
) -> Option<T> {
    let block = parent.get_mut(name)?.as_object_mut()?;
    let was_empty = block.is_empty();
    let taken = take(block);
    if block.is_empty() && !was_empty {
        parent.remove(name);
    }
    Some(taken)
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
