//! There and back: whatever either version says of graphs, components and adapters is the same afterwards.

use std::collections::BTreeSet;

use dynamo_api::{v1alpha1, v1beta1};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::arbitrary::{flag, list, object};
use super::convert;

pub fn one_of(texts: &'static [&'static str]) -> BoxedStrategy<Value> {
    prop::sample::select(texts).prop_map(Value::from).boxed()
}

fn small() -> BoxedStrategy<Value> {
    (0_i64..4).prop_map(Value::from).boxed()
}

pub fn map(value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop::collection::btree_map("[a-c]", value, 0..3).prop_map(|map| Value::Object(map.into_iter().collect())).boxed()
}

fn quantity() -> BoxedStrategy<Value> {
    prop_oneof![one_of(&["0", "0Gi", "1Gi", "16Gi", "0.5"]), small()].boxed()
}

pub const NAMES: &[&str] = &["a", "b", "B", "main", "sidecar-frontend"];

/// Members that have the same shape on both sides.
fn same_fields() -> Vec<(&'static str, BoxedStrategy<Value>)> {
    vec![
        ("runtimeVersionOverride", one_of(&["1.4.0"])),
        ("globalDynamoNamespace", Just(json!(true)).boxed()),
        ("modelRef", object(vec![("name", one_of(NAMES)), ("revision", one_of(NAMES))])),
        ("replicas", small()),
        ("minAvailable", small()),
        ("multinode", object(vec![("nodeCount", small())])),
        ("roles", list(object(vec![("name", one_of(&["leader", "worker"])), ("replicas", small())]))),
        ("topologyConstraint", object(vec![("packDomain", one_of(&["rack"]))])),
        ("eppConfig", object(vec![("config", Just(json!({"plugins": [{"parameters": null}]})).boxed())])),
        ("providerOverride", object(vec![("target", one_of(NAMES)), ("value", Just(json!({"x": null})).boxed())])),
    ]
}

fn checkpoint() -> BoxedStrategy<Value> {
    let job =
        object(vec![("gmsClientContainers", list(one_of(NAMES))), ("podTemplate", Just(json!({"a": {}})).boxed())]);
    object(vec![
        ("checkpointRef", one_of(NAMES)),
        ("mode", one_of(&["Auto", "Manual"])),
        ("targetContainerName", one_of(NAMES)),
        ("job", job),
    ])
}

fn feature(modes: &'static [&'static str], more: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    object(
        [("mode", one_of(modes)), ("numShadows", small()), ("deviceClassName", one_of(NAMES))]
            .into_iter()
            .chain(more)
            .collect(),
    )
}

/// A service of v1alpha1, but for its pod.
fn service() -> BoxedStrategy<Value> {
    let modes: &[&str] = &["intraPod", "interPod"];
    let ingress = object(vec![("enabled", flag()), ("host", one_of(NAMES)), ("tls", Just(json!({})).boxed())]);
    let own = vec![
        ("componentType", one_of(&["worker", "prefill", "decode", "frontend", "default"])),
        ("subComponentType", one_of(&["prefill", "decode", "draft"])),
        ("serviceName", one_of(NAMES)),
        ("dynamoNamespace", one_of(&["", "reef"])),
        ("annotations", map(one_of(NAMES))),
        ("labels", map(one_of(NAMES))),
        ("ingress", ingress),
        ("autoscaling", object(vec![("enabled", flag()), ("minReplicas", small())])),
        ("sharedMemory", object(vec![("disabled", flag()), ("size", quantity())])),
        ("scalingAdapter", object(vec![("enabled", flag())])),
        ("gpuMemoryService", feature(modes, vec![("enabled", flag())])),
        ("failover", feature(modes, vec![("enabled", flag())])),
        ("checkpoint", (checkpoint(), flag()).prop_map(|(checkpoint, on)| with(checkpoint, "enabled", on)).boxed()),
    ];
    object(own.into_iter().chain(same_fields()).collect())
}

/// A component of v1beta1, but for its pod and its name.
fn component() -> BoxedStrategy<Value> {
    let modes: &[&str] = &["IntraPod", "InterPod"];
    let experimental = object(vec![
        ("gpuMemoryService", feature(modes, Vec::new())),
        ("failover", feature(modes, Vec::new())),
        ("grove", object(vec![("forceScalingGroup", flag())])),
        ("checkpoint", (checkpoint(), flag()).prop_map(|(checkpoint, on)| with(checkpoint, "enabled", on)).boxed()),
    ]);
    let own = vec![
        ("type", one_of(&["frontend", "worker", "prefill", "decode", "planner", "epp"])),
        ("sharedMemorySize", quantity()),
        ("scalingAdapter", Just(json!({})).boxed()),
        ("experimental", experimental),
    ];
    object(own.into_iter().chain(same_fields()).collect())
}

pub fn with(mut value: Value, name: &str, member: Value) -> Value {
    value[name] = member;
    value
}

fn replicas(names: &[&'static str]) -> BoxedStrategy<Value> {
    let counts = ["replicas", "updatedReplicas", "gpusPerEngine"].map(|name| (name, small()));
    let names = names.iter().map(|name| (*name, one_of(NAMES)));
    let lists = [("componentNames", list(one_of(NAMES))), ("componentKind", one_of(&["PodClique"]))];
    object(counts.into_iter().chain(names).chain(lists).collect())
}

fn graph_status(components: &'static str, names: &[&'static str], updated: &'static str) -> BoxedStrategy<Value> {
    object(vec![
        ("state", one_of(&["pending", "successful"])),
        ("observedGeneration", small()),
        ("conditions", list(object(vec![("type", one_of(NAMES)), ("status", one_of(&["True"]))]))),
        (components, map(replicas(names))),
        ("restart", object(vec![("observedID", one_of(NAMES)), ("inProgress", list(one_of(NAMES)))])),
        ("checkpoints", map(object(vec![("checkpointName", one_of(NAMES))]))),
        ("rollingUpdate", object(vec![("phase", one_of(&["Pending"])), (updated, list(one_of(NAMES)))])),
        ("placement", object(vec![("score", Just(json!(0.5)).boxed()), ("state", one_of(&["Partial"]))])),
    ])
}

/// The fields of a graph that have the same shape on both sides, with the environment under its name.
fn graph_fields(env: &'static str, topology: &'static str) -> Vec<(&'static str, BoxedStrategy<Value>)> {
    let constraint = object(vec![(topology, one_of(NAMES)), ("packDomain", one_of(NAMES))]);
    vec![
        ("annotations", map(one_of(NAMES))),
        ("priorityClassName", one_of(NAMES)),
        ("backendFramework", one_of(&["vllm"])),
        (env, list(object(vec![("name", one_of(NAMES))]))),
        ("restart", object(vec![("id", one_of(NAMES))])),
        ("topologyConstraint", constraint),
        ("experimental", Just(json!({"kvTransferPolicy": {"domain": "rack"}})).boxed()),
    ]
}

fn spoke_graph() -> BoxedStrategy<Value> {
    let entry = prop_oneof![1 => Just(Value::Null), 5 => service()];
    let services = prop::collection::btree_map(prop::sample::select(NAMES), entry, 0..4)
        .prop_map(|map| Value::Object(map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()));
    let claim = object(vec![("name", one_of(NAMES)), ("create", flag()), ("size", quantity())]);
    let own = vec![("services", services.boxed()), ("pvcs", list(claim))];
    let spec = object(own.into_iter().chain(graph_fields("envs", "topologyProfile")).collect());
    let status = graph_status("services", &["componentName"], "updatedServices");
    of_kind("DynamoGraphDeployment", "v1alpha1", spec, status)
}

fn hub_graph() -> BoxedStrategy<Value> {
    let component = (prop::sample::select(NAMES), component()).prop_map(|(name, each)| with(each, "name", name.into()));
    let components = prop::collection::vec(component, 0..4).prop_map(|components| {
        let mut seen = BTreeSet::new();
        components.into_iter().filter(|each| seen.insert(each["name"].to_string())).collect::<Value>()
    });
    let own = vec![("components", components.boxed())];
    let spec = object(own.into_iter().chain(graph_fields("env", "clusterTopologyName")).collect());
    let status = graph_status("components", &[], "updatedComponents");
    of_kind("DynamoGraphDeployment", "v1beta1", spec, status)
}

fn standalone(version: &'static str) -> BoxedStrategy<Value> {
    let (spec, status) = if version == "v1alpha1" {
        (service(), vec![("podSelector", map(one_of(NAMES))), ("service", replicas(&["componentName"]))])
    } else {
        let named = (component(), prop::option::of(one_of(NAMES)));
        let named = named.prop_map(|(spec, name)| match name {
            Some(name) => with(spec, "name", name),
            None => spec,
        });
        (named.boxed(), vec![("component", replicas(&[]))])
    };
    let framework = prop::option::of(one_of(&["vllm"]));
    let spec = (spec, framework).prop_map(|(spec, framework)| match framework {
        Some(framework) => with(spec, "backendFramework", framework),
        None => spec,
    });
    of_kind("DynamoComponentDeployment", version, spec.boxed(), object(status))
}

fn adapter(version: &'static str, name: &'static str) -> BoxedStrategy<Value> {
    let reference = object(vec![("name", one_of(NAMES)), (name, one_of(NAMES))]);
    let spec = object(vec![("replicas", small()), ("dgdRef", reference)]);
    let status = (small(), object(vec![("selector", one_of(NAMES))])).prop_map(|(replicas, mut status)| {
        status["replicas"] = replicas;
        status
    });
    let status = status.boxed();
    of_kind("DynamoGraphDeploymentScalingAdapter", version, spec, status)
}

/// Whatever may stand in annotations: of others, or nothing that can be read.
fn annotations() -> BoxedStrategy<Value> {
    const KEYS: &[&str] =
        &["other", "nvidia.com/dgd-spec", "nvidia.com/dcd-spec", "nvidia.com/dgd-status", "gateward.dev/preserved"];
    const TEXTS: &[&str] =
        &["", "{", "{}", "7", r#"{"spec": {"services": []}}"#, r#"{"known": {"v1alpha1": {"components": 5}}}"#];
    prop::collection::btree_map(prop::sample::select(KEYS), prop::sample::select(TEXTS), 0..3)
        .prop_map(|map| json!(map))
        .boxed()
}

pub fn of_kind(
    kind: &'static str,
    version: &'static str,
    spec: BoxedStrategy<Value>,
    status: BoxedStrategy<Value>,
) -> BoxedStrategy<Value> {
    (spec, prop::option::of(status), annotations(), prop::option::of(one_of(NAMES)))
        .prop_map(move |(spec, status, annotations, name)| {
            let mut object = json!({"apiVersion": format!("nvidia.com/{version}"), "kind": kind, "spec": spec});
            object["metadata"] = json!({"annotations": annotations});
            if let Some(name) = name {
                object["metadata"]["name"] = name;
            }
            if let Some(status) = status {
                object["status"] = status;
            }
            object
        })
        .boxed()
}

/// The object as its type reads it, without the annotations of conversion.
pub fn as_read<T: Serialize + DeserializeOwned>(object: &Value) -> Value {
    let mut read = serde_json::to_value(serde_json::from_value::<T>(object.clone()).unwrap()).unwrap();
    let annotations = read["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
    let others: Map<String, Value> = annotations.into_iter().filter(|(key, _)| key == "other").collect();
    if let Some(metadata) = read["metadata"].as_object_mut() {
        metadata.remove("annotations");
    }
    if let Some(status) = read.get_mut("status") {
        without_what_is_always_written(status);
    }
    with(read, "others", Value::Object(others))
}

/// Takes out the members of a status that a schema requires, where they say nothing: conversion writes them.
fn without_what_is_always_written(node: &mut Value) {
    match node {
        Value::Object(members) => {
            let is_empty = |name: &str, value: &Value| match name {
                "conditions" => *value == json!([]),
                "componentName" => value == "",
                "replicas" => value == 0,
                _ => false,
            };
            members.retain(|name, value| !is_empty(name, value));
            members.values_mut().for_each(without_what_is_always_written);
        }
        Value::Array(items) => items.iter_mut().for_each(without_what_is_always_written),
        _ => {}
    }
}

fn there_and_back<T: Serialize + DeserializeOwned>(
    object: &Value,
    there: &str,
    here: &str,
) -> Result<(), TestCaseError> {
    let between = convert(object, there).unwrap().0;
    let (back, issues) = convert(&between, here).unwrap();
    prop_assert!(issues.is_empty(), "{between}");
    prop_assert_eq!(as_read::<T>(&back), as_read::<T>(object), "by way of {}", between);
    Ok(())
}

proptest! {
    #[test]
    fn graphs_of_v1alpha1(object in spoke_graph()) {
        there_and_back::<v1alpha1::DynamoGraphDeployment>(&object, "v1beta1", "v1alpha1")?;
    }

    #[test]
    fn graphs_of_v1beta1(object in hub_graph()) {
        there_and_back::<v1beta1::DynamoGraphDeployment>(&object, "v1alpha1", "v1beta1")?;
    }

    #[test]
    fn components_of_v1alpha1(object in standalone("v1alpha1")) {
        there_and_back::<v1alpha1::DynamoComponentDeployment>(&object, "v1beta1", "v1alpha1")?;
    }

    #[test]
    fn components_of_v1beta1(object in standalone("v1beta1")) {
        there_and_back::<v1beta1::DynamoComponentDeployment>(&object, "v1alpha1", "v1beta1")?;
    }

    #[test]
    fn adapters(spoke in adapter("v1alpha1", "serviceName"), hub in adapter("v1beta1", "componentName")) {
        there_and_back::<v1alpha1::DynamoGraphDeploymentScalingAdapter>(&spoke, "v1beta1", "v1alpha1")?;
        there_and_back::<v1beta1::DynamoGraphDeploymentScalingAdapter>(&hub, "v1alpha1", "v1beta1")?;
    }

    /// A stale annotation never wins over what was changed in the meantime.
    #[test]
    fn a_change_in_between_stays(before in spoke_graph(), after in hub_graph()) {
        let mut changed = convert(&before, "v1beta1").unwrap().0;
        changed["spec"] = after["spec"].clone();
        let back = convert(&convert(&changed, "v1alpha1").unwrap().0, "v1beta1").unwrap().0;
        prop_assert_eq!(
            &as_read::<v1beta1::DynamoGraphDeployment>(&back)["spec"],
            &as_read::<v1beta1::DynamoGraphDeployment>(&changed)["spec"]
        );
    }

    /// The same the other way round.
    #[test]
    fn a_change_of_v1alpha1_in_between_stays(before in hub_graph(), after in spoke_graph()) {
        let mut changed = convert(&before, "v1alpha1").unwrap().0;
        changed["spec"] = after["spec"].clone();
        let back = convert(&convert(&changed, "v1beta1").unwrap().0, "v1alpha1").unwrap().0;
        prop_assert_eq!(
            &as_read::<v1alpha1::DynamoGraphDeployment>(&back)["spec"],
            &as_read::<v1alpha1::DynamoGraphDeployment>(&changed)["spec"]
        );
    }
}
