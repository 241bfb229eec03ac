//! The profiling job: v1alpha1 has the resources, tolerations and node selector of its pod, and nothing else.

use std::collections::BTreeMap;

use dynamo_api::Raw;
use dynamo_api::pod::{JobSpec, ResourceRequirements, Toleration};
use dynamo_api::v1alpha1::ProfilingConfig;
use gateward::conversion::equivalence::means_absent;
use serde_json::{Map, Value, json};

use super::free_form;
use crate::conversion::copy_fields::copy_fields;

/// The name of the profiler's container.
const PROFILER: &str = "profiler";

/// The fields of the profiler's pod that both versions have.
#[derive(Debug, Default)]
pub(super) struct ProfilerPod {
    pub resources: Option<Raw<ResourceRequirements>>,
    pub tolerations: Vec<Raw<Toleration>>,
    pub node_selector: BTreeMap<String, String>,
}

impl ProfilerPod {
    /// The fields in v1alpha1.
    pub(super) fn of(written: &ProfilingConfig) -> Self {
        copy_fields!(written => ProfilerPod { resources, tolerations, node_selector })
    }
}

/// The fields of the profiler's pod, and the members of the rest; `None` for a job that can't be read.
pub(super) fn split(job: &Raw<JobSpec>) -> Option<(ProfilerPod, Map<String, Value>)> {
    let mut members = free_form::object(job)?;
    let pod = members.get_mut("template").and_then(|template| template.get_mut("spec")?.as_object_mut());
    let taken = pod.map(take).unwrap_or_default();
    Some((taken, if is_empty_job(&members) { Map::new() } else { members }))
}

/// The index of the profiler's container: the one of that name, or else one without a name.
pub(super) fn profiler(job: &Raw<JobSpec>) -> Option<usize> {
    position(free_form::object(job)?.get("template")?.get("spec")?.get("containers")?.as_array()?)
}

/// The preserved job with the fields of `pod`.
pub(super) fn restore(preserved: Option<&Raw<JobSpec>>, pod: &ProfilerPod) -> Option<Raw<JobSpec>> {
    let live = live_members(pod);
    let read = preserved.map(split);
    if live.is_empty() && matches!(read, Some(None)) {
        return preserved.cloned();
    }
    let mut job = read.flatten().map(|(_, rest)| rest).unwrap_or_default();
    if live.is_empty() && job.is_empty() {
        return None;
    }
    if !live.is_empty() {
        free_form::edit(&mut job, "template", |template| free_form::edit(template, "spec", |spec| write(spec, live)));
    }
    list_containers(&mut job);
    Some(Value::Object(job).into())
}

/// The schema requires the list even if there are no containers.
fn list_containers(job: &mut Map<String, Value>) {
    let pod = job.get_mut("template").and_then(|template| template.get_mut("spec")?.as_object_mut());
    if let Some(pod) = pod {
        pod.entry("containers").or_insert_with(|| json!([]));
    }
}

fn live_members(pod: &ProfilerPod) -> Vec<(&'static str, Value)> {
    let resources = pod.resources.as_ref().map(Raw::to_value).unwrap_or_default();
    let tolerations = pod.tolerations.iter().map(Raw::to_value).collect();
    let members = [("resources", resources), ("tolerations", tolerations), ("nodeSelector", json!(pod.node_selector))];
    members.into_iter().filter(|(_, value)| !means_absent(value)).collect()
}

fn write(spec: &mut Map<String, Value>, live: Vec<(&'static str, Value)>) {
    for (name, value) in live {
        match name {
            "resources" => give_to_profiler(spec, value),
            _ => drop(spec.insert(name.to_owned(), value)),
        }
    }
}

fn give_to_profiler(spec: &mut Map<String, Value>, resources: Value) {
    let node = spec.entry("containers").or_insert_with(|| json!([]));
    if !node.is_array() {
        *node = json!([]);
    }
    let Value::Array(containers) = node else { return };
    match position(containers).and_then(|index| containers[index].as_object_mut()) {
        Some(container) => drop(container.insert("resources".into(), resources)),
        None => containers.push(json!({"name": PROFILER, "resources": resources})),
    }
}

fn take(spec: &mut Map<String, Value>) -> ProfilerPod {
    if spec.get("containers").is_some_and(Value::is_null) {
        // Go writes an absent list as null, which the schema denies.
        spec.remove("containers");
    }
    let tolerations = take_if(spec, "tolerations", Value::is_array);
    let selector = take_if(spec, "nodeSelector", |value| {
        value.as_object().is_some_and(|labels| labels.values().all(Value::is_string))
    });
    ProfilerPod {
        resources: take_resources(spec).map(Raw::from),
        tolerations: tolerations.and_then(|list| serde_json::from_value(list).ok()).unwrap_or_default(),
        node_selector: selector.and_then(|labels| serde_json::from_value(labels).ok()).unwrap_or_default(),
    }
}

/// Removes and returns a member that isn't empty and has the right JSON type.
fn take_if(from: &mut Map<String, Value>, name: &str, is_right: impl Fn(&Value) -> bool) -> Option<Value> {
    from.get(name).filter(|value| !means_absent(value) && is_right(value))?;
    from.remove(name)
}

/// Removes and returns the resources of the profiler's container. A container that is alone and has no other field is
/// removed with them.
fn take_resources(spec: &mut Map<String, Value>) -> Option<Value> {
    let containers = spec.get_mut("containers")?.as_array_mut()?;
    let index = position(containers)?;
    let container = containers[index].as_object_mut()?;
    let taken = take_if(container, "resources", Value::is_object);
    if name_of(container) != PROFILER {
        container.insert("name".into(), PROFILER.into());
    }
    let is_bare = container.iter().all(|(name, value)| name == "name" || means_absent(value));
    if taken.is_some() && is_bare && containers.len() == 1 {
        spec.remove("containers");
    }
    taken
}

fn position(containers: &[Value]) -> Option<usize> {
    let named = |name: &str| {
        containers.iter().position(|each| each.as_object().is_some_and(|container| name_of(container) == name))
    };
    named(PROFILER).or_else(|| named(""))
}

/// The name; one of another JSON type than text counts as some name.
fn name_of(container: &Map<String, Value>) -> &str {
    container.get("name").map_or("", |name| name.as_str().unwrap_or(if name.is_null() { "" } else { "?" }))
}

/// Whether the job has nothing but the blocks that every job has.
fn is_empty_job(job: &Map<String, Value>) -> bool {
    let is_empty_spec = |spec: &Map<String, Value>| is_empty_except(spec, "nodeSelector", Map::is_empty);
    is_empty_except(job, "template", |template| {
        let without_metadata = |name: &str, value: &Value| name == "metadata" && means_absent(value);
        template
            .iter()
            .all(|(name, value)| without_metadata(name, value) || is_blank_member(name, value, "spec", is_empty_spec))
    })
}

fn is_empty_except(members: &Map<String, Value>, name: &str, accepts: impl Fn(&Map<String, Value>) -> bool) -> bool {
    members.iter().all(|(each, value)| is_blank_member(each, value, name, &accepts))
}

/// Whether the member is empty. An empty map isn't, unless `accepts` accepts it.
fn is_blank_member(each: &str, value: &Value, name: &str, accepts: impl Fn(&Map<String, Value>) -> bool) -> bool {
    match value {
        Value::Object(below) => each == name && accepts(below),
        _ => means_absent(value),
    }
}
