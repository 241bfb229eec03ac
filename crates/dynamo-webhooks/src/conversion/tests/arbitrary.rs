//! Arbitrary v1alpha1 objects: whatever decodes, odd types in the embedded subtrees included.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Names that mean something somewhere in a pod.
const NAMES: [&str; 16] = [
    "name",
    "image",
    "command",
    "args",
    "env",
    "envFrom",
    "resources",
    "limits",
    "requests",
    "claims",
    "containers",
    "mainContainer",
    "livenessProbe",
    "volumeMounts",
    "nvidia.com/gpu",
    "odd",
];

const TEXTS: [&str; 12] =
    ["", "main", "sidecar-frontend", "a", "B", "1", "0", "-1Gi", "0.5", "worker", "prefill", "not a quantity"];

pub fn text() -> impl Strategy<Value = Value> {
    prop::sample::select(&TEXTS[..]).prop_map(Value::from)
}

pub fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..3).prop_map(Value::from),
        Just(json!(0.5)),
        text(),
    ]
}

/// JSON of any shape, with telling names.
pub fn odd() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(&NAMES[..]), inner), 0..4).prop_map(|members| Value::Object(
                members.into_iter().map(|(name, value)| (name.into(), value)).collect()
            )),
        ]
    })
}

/// An object that has some of these members.
pub fn object(members: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let optional: Vec<_> = members.into_iter().map(|(name, value)| (Just(name), prop::option::of(value))).collect();
    optional
        .prop_map(|members| {
            let set = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            Value::Object(set.collect::<Map<_, _>>())
        })
        .boxed()
}

pub fn list(item: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
    prop::collection::vec(item, 0..4).prop_map(Value::from).boxed()
}

pub fn texts() -> BoxedStrategy<Value> {
    prop::collection::btree_map(prop::sample::select(&NAMES[..]), text(), 0..3)
        .prop_map(|map| Value::Object(map.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
        .boxed()
}

pub fn flag() -> BoxedStrategy<Value> {
    any::<bool>().prop_map(Value::from).boxed()
}

fn flat_resources() -> BoxedStrategy<Value> {
    let block = || {
        object(vec![
            ("cpu", text().boxed()),
            ("memory", text().boxed()),
            ("gpu", text().boxed()),
            ("gpuType", text().boxed()),
            ("custom", texts()),
        ])
    };
    let claims = list(object(vec![("name", text().boxed()), ("request", text().boxed())]));
    object(vec![("limits", block()), ("requests", block()), ("claims", claims)])
}

/// A well-formed value as often as an odd one.
pub fn or_odd(value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop_oneof![value, odd()].boxed()
}

pub fn variables() -> BoxedStrategy<Value> {
    list(object(vec![("name", text().boxed()), ("value", text().boxed())]))
}

pub fn probe() -> BoxedStrategy<Value> {
    let get = object(vec![("path", text().boxed()), ("port", leaf().boxed())]);
    object(vec![("periodSeconds", leaf().boxed()), ("httpGet", or_odd(get))])
}

pub fn main_container() -> BoxedStrategy<Value> {
    object(vec![
        ("name", text().boxed()),
        ("image", or_odd(text().boxed())),
        ("env", or_odd(variables())),
        ("envFrom", odd().boxed()),
        ("volumeMounts", or_odd(list(object(vec![("name", text().boxed())])))),
        ("livenessProbe", or_odd(probe())),
        (
            "resources",
            or_odd(object(vec![("limits", or_odd(texts())), ("requests", texts()), ("claims", odd().boxed())])),
        ),
        ("odd", odd().boxed()),
    ])
}

pub fn extra_pod_spec() -> BoxedStrategy<Value> {
    object(vec![
        ("mainContainer", or_odd(main_container())),
        ("containers", or_odd(list(object(vec![("name", text().boxed()), ("odd", odd().boxed())])))),
        ("initContainers", odd().boxed()),
        ("odd", odd().boxed()),
    ])
}

fn pod_fields() -> Vec<(&'static str, BoxedStrategy<Value>)> {
    let mount =
        object(vec![("name", text().boxed()), ("mountPoint", text().boxed()), ("useAsCompilationCache", flag())]);
    let sidecar = object(vec![
        ("image", text().boxed()),
        ("args", list(text())),
        ("envFromSecret", text().boxed()),
        ("envs", list(odd())),
    ]);
    vec![
        ("resources", flat_resources()),
        ("envs", or_list_of_odd(variables())),
        ("envFromSecret", text().boxed()),
        ("volumeMounts", list(mount)),
        ("livenessProbe", or_odd(probe())),
        ("readinessProbe", odd().boxed()),
        ("extraPodMetadata", object(vec![("annotations", texts()), ("labels", texts())])),
        ("extraPodSpec", or_odd(extra_pod_spec())),
        ("frontendSidecar", sidecar),
    ]
}

fn or_list_of_odd(value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop_oneof![value, list(odd())].boxed()
}

fn feature_fields() -> Vec<(&'static str, BoxedStrategy<Value>)> {
    let feature = || object(vec![("enabled", flag()), ("mode", text().boxed())]);
    let quantity = prop_oneof![text(), (-1_i64..3).prop_map(Value::from)].boxed();
    vec![
        ("componentType", text().boxed()),
        ("subComponentType", text().boxed()),
        ("serviceName", text().boxed()),
        ("replicas", (-1_i64..3).prop_map(Value::from).boxed()),
        ("sharedMemory", object(vec![("disabled", flag()), ("size", quantity)])),
        ("scalingAdapter", object(vec![("enabled", flag())])),
        ("gpuMemoryService", feature()),
        ("failover", feature()),
        ("checkpoint", object(vec![("enabled", flag()), ("checkpointRef", text().boxed())])),
    ]
}

/// The fields that services and standalone components share.
pub fn service() -> BoxedStrategy<Value> {
    object(pod_fields().into_iter().chain(feature_fields()).collect())
}

/// A whole graph.
pub fn graph() -> BoxedStrategy<Value> {
    let entry = prop_oneof![1 => Just(Value::Null), 9 => service()];
    let services = prop::collection::btree_map("[a-zA-Z]{0,3}", entry, 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
        .boxed();
    let topology = object(vec![("topologyProfile", text().boxed()), ("packDomain", text().boxed())]);
    object(vec![("services", services), ("envs", list(odd())), ("topologyConstraint", topology)])
        .prop_map(|spec| json!({"metadata": {"name": "otter"}, "spec": spec}))
        .boxed()
}

/// A whole standalone component.
pub fn component() -> BoxedStrategy<Value> {
    service().prop_map(|spec| json!({"metadata": {"name": "otter"}, "spec": spec})).boxed()
}
