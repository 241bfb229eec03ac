//! The lives of the load's objects.

use serde_json::{Value, json};

use crate::load::outcome::Expected;
use crate::load::tally::Sort;
use crate::objects::{
    adapter_v1alpha1, component, graph, graph_v1alpha1, model, object, request, request_v1alpha1, service,
};

/// An object, and what happens to it, in this order.
pub(super) struct Life {
    pub(super) object: Value,
    pub(super) steps: Vec<Step>,
}

pub(super) struct Step {
    pub(super) act: Act,
    pub(super) expected: Expected,
}

/// One request.
pub(super) enum Act {
    /// Creates this object, which may be another than the life's own.
    Create(Value),
    /// Changes the life's object in its own version by a merge patch.
    Change(Value),
    /// Reads it in a version.
    Read(&'static str),
    /// Deletes it.
    Delete,
}

impl Act {
    pub(super) fn sort(&self) -> Sort {
        match self {
            Self::Create(_) | Self::Change(_) => Sort::Write,
            Self::Read(_) | Self::Delete => Sort::Other,
        }
    }
}

/// Both versions of a kind that is converted.
const BOTH: &[&str] = &["v1beta1", "v1alpha1"];

/// How many lives there are.
pub(super) const LIVES: usize = 8;

/// One of the lives, under a name.
pub(super) fn life(number: usize, name: &str) -> Life {
    let origin = json!({"metadata": {"annotations": {"nvidia.com/dynamo-operator-origin-version": "three"}}});
    match number % LIVES {
        0 => {
            let mut change = graph(name);
            change["spec"]["components"][1]["replicas"] = 2.into();
            lived(graph(name), &json!({"spec": change["spec"]}), Some(&origin), BOTH)
        }
        1 => {
            let change = json!({"spec": {"services": {"Worker": {"replicas": 2}}}});
            lived(graph_v1alpha1(name), &change, Some(&origin), BOTH)
        }
        2 => {
            let lynx = object("v1beta1", "DynamoComponentDeployment", name, &component(name, "worker"));
            let mistake = json!({"spec": {"frontendSidecar": "nobody"}});
            lived(lynx, &json!({"spec": {"replicas": 2}}), Some(&mistake), BOTH)
        }
        3 => {
            let lynx = object("v1alpha1", "DynamoComponentDeployment", name, &service("worker"));
            let mistake = json!({"spec": {"ingress": {"enabled": true}}});
            lived(lynx, &json!({"spec": {"replicas": 2}}), Some(&mistake), BOTH)
        }
        4 => {
            let mistake = json!({"spec": {"image": "registry.example.org/dynamo/profiler:nightly"}});
            lived(request(name), &json!({"spec": {"model": "Qwen/Qwen3-8B"}}), Some(&mistake), BOTH)
        }
        5 => {
            // A conversion leaves no trace of an empty name, and a configuration for one version has it converted.
            let image = json!({"profilerImage": "registry.example.org/dynamo/profiler:nightly"});
            let mistake = json!({"spec": {"profilingConfig": image}});
            lived(request_v1alpha1(name), &json!({"spec": {"model": "Qwen/Qwen3-8B"}}), Some(&mistake), BOTH)
        }
        6 => {
            let change = json!({"spec": {"source": {"uri": "hf://a/c"}}});
            let mistake = json!({"spec": {"source": {"uri": "ftp://example.org"}}});
            lived(model(name, "hf://a/b"), &change, Some(&mistake), &["v1alpha1"])
        }
        _ => lived(adapter_v1alpha1(name), &json!({"spec": {"replicas": 2}}), None, BOTH),
    }
}

fn lived(object: Value, change: &Value, mistake: Option<&Value>, versions: &'static [&'static str]) -> Life {
    let mut steps = vec![granted(Act::Create(object.clone()))];
    steps.extend(versions.iter().map(|version| granted(Act::Read(version))));
    steps.push(granted(Act::Change(change.clone())));
    if let Some(mistake) = mistake {
        let mut wrong = object.clone();
        merge(&mut wrong, mistake);
        merge(&mut wrong, &json!({"metadata": {"name": format!("{}-wrong", name_of(&object))}}));
        steps.push(Step { act: Act::Change(mistake.clone()), expected: Expected::Denied });
        steps.push(Step { act: Act::Create(wrong), expected: Expected::Denied });
    }
    steps.push(granted(Act::Delete));
    Life { object, steps }
}

fn granted(act: Act) -> Step {
    Step { act, expected: Expected::Granted }
}

pub(super) fn name_of(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

/// Merges as a merge patch does, but for nulls.
fn merge(object: &mut Value, patch: &Value) {
    match patch.as_object() {
        Some(fields) => fields.iter().for_each(|(name, value)| merge(&mut object[name], value)),
        None => *object = patch.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_life_is_of_another_kind_or_version() {
        let kinds: BTreeSet<String> = (0..LIVES)
            .map(|number| life(number, "otter").object)
            .map(|object| format!("{} {}", object["kind"], object["apiVersion"]))
            .collect();
        assert_eq!(kinds.len(), LIVES);
    }

    #[test]
    fn nothing_wrong_is_created_under_the_name_of_what_is_right() {
        for number in 0..LIVES {
            for step in life(number, "otter").steps {
                if let (Act::Create(object), Expected::Denied) = (step.act, step.expected) {
                    assert_eq!(name_of(&object), "otter-wrong");
                }
            }
        }
    }
}
