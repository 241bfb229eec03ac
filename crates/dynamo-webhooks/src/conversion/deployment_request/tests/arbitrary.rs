//! Arbitrary requests, well-formed and odd.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

pub(super) const TEXTS: [&str; 6] = ["", "a", "otter", "profiler", "main", "latency"];
const NAMES: [&str; 14] = [
    "sla",
    "ttft",
    "itl",
    "isl",
    "osl",
    "optimizationType",
    "deployment",
    "modelCache",
    "pvcName",
    "modelPathInPvc",
    "pvcMountPath",
    "planner",
    "odd",
    "~1/",
];

fn text() -> BoxedStrategy<Value> {
    prop::sample::select(&TEXTS[..]).prop_map(Value::from).boxed()
}

fn one_of(values: &'static [&'static str]) -> BoxedStrategy<Value> {
    prop::sample::select(values).prop_map(Value::from).boxed()
}

fn flag() -> BoxedStrategy<Value> {
    any::<bool>().prop_map(Value::from).boxed()
}

fn number() -> BoxedStrategy<Value> {
    prop_oneof![
        any::<f64>().prop_filter("JSON has no such number", |number| number.is_finite()).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec![
            json!(2048.9),
            json!(-0.5),
            json!(-0.0),
            json!(1e300),
            json!(300.0),
            json!(2_147_483_648_i64)
        ]),
    ]
    .boxed()
}

fn int() -> BoxedStrategy<Value> {
    any::<i32>().prop_map(Value::from).boxed()
}

fn float() -> BoxedStrategy<Value> {
    any::<f64>().prop_filter("JSON has no such number", |number| number.is_finite()).prop_map(Value::from).boxed()
}

fn leaf() -> BoxedStrategy<Value> {
    prop_oneof![Just(Value::Null), flag(), number(), text(), Just(json!([])), Just(json!({}))].boxed()
}

/// JSON of any shape, with telling names.
fn odd() -> BoxedStrategy<Value> {
    leaf()
        .prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map(prop::sample::select(&NAMES[..]), inner, 0..4).prop_map(members),
            ]
        })
        .boxed()
}

fn odd_object() -> BoxedStrategy<Value> {
    prop::collection::btree_map(prop::sample::select(&NAMES[..]), odd(), 0..4).prop_map(members).boxed()
}

fn members(map: std::collections::BTreeMap<&'static str, Value>) -> Value {
    Value::Object(map.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// An object that has some of these members.
fn object(members: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    let optional: Vec<_> = members.into_iter().map(|(name, value)| (Just(name), prop::option::of(value))).collect();
    optional
        .prop_map(|members| {
            let set = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            Value::Object(set.collect::<Map<_, _>>())
        })
        .boxed()
}

fn list(item: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop::collection::vec(item, 0..3).prop_map(Value::from).boxed()
}

fn texts() -> BoxedStrategy<Value> {
    prop::collection::btree_map(prop::sample::select(&NAMES[..]), text(), 0..3).prop_map(members).boxed()
}

fn or_odd(value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop_oneof![4 => value, 1 => odd()].boxed()
}

fn resources() -> BoxedStrategy<Value> {
    object(vec![("limits", texts()), ("requests", texts()), ("odd", odd())])
}

fn toleration() -> BoxedStrategy<Value> {
    object(vec![("key", text()), ("operator", text()), ("tolerationSeconds", int())])
}

fn config() -> BoxedStrategy<Value> {
    let sla = object(vec![
        ("ttft", or_odd(number())),
        ("itl", or_odd(number())),
        ("isl", or_odd(number())),
        ("osl", or_odd(number())),
        ("optimizationType", or_odd(one_of(&["latency", "throughput", "cost"]))),
        ("odd", odd()),
    ]);
    let cache =
        object(vec![("pvcName", or_odd(text())), ("modelPathInPvc", or_odd(text())), ("pvcMountPath", or_odd(text()))]);
    let deployment = object(vec![("modelCache", or_odd(cache)), ("odd", odd())]);
    object(vec![("sla", or_odd(sla)), ("deployment", or_odd(deployment)), ("planner", odd()), ("odd", odd())])
}

fn conditions() -> BoxedStrategy<Value> {
    list(object(vec![("type", text()), ("status", text()), ("message", text()), ("observedGeneration", int())]))
}

fn spoke_spec() -> BoxedStrategy<Value> {
    let profiling = object(vec![
        ("config", prop_oneof![8 => config(), 1 => odd()].boxed()),
        ("configMapRef", object(vec![("name", text()), ("key", text())])),
        ("profilerImage", text()),
        ("outputPVC", text()),
        ("resources", resources()),
        ("tolerations", list(toleration())),
        ("nodeSelector", texts()),
    ]);
    let overrides = object(vec![
        ("name", text()),
        ("namespace", text()),
        ("labels", texts()),
        ("annotations", texts()),
        ("workersImage", text()),
    ]);
    object(vec![
        ("model", text()),
        ("backend", one_of(&["auto", "vllm", "other"])),
        ("useMocker", flag()),
        ("profilingConfig", profiling),
        ("runtimeVersionOverride", text()),
        ("enableGpuDiscovery", flag()),
        ("autoApply", flag()),
        ("deploymentOverrides", overrides),
    ])
}

fn spoke_status() -> BoxedStrategy<Value> {
    const STATES: &[&str] =
        &["", "Initializing", "Pending", "Profiling", "Deploying", "Ready", "DeploymentDeleted", "Failed", "Odd"];
    let deployment = object(vec![
        ("name", text()),
        ("namespace", text()),
        ("state", one_of(&["initializing", "successful"])),
        ("created", flag()),
    ]);
    object(vec![
        ("state", one_of(STATES)),
        ("backend", text()),
        ("observedGeneration", int()),
        ("conditions", conditions()),
        ("profilingResults", text()),
        ("generatedDeployment", odd_object()),
        ("deployment", deployment),
    ])
}

fn job() -> BoxedStrategy<Value> {
    let container = object(vec![
        ("name", one_of(&["", "profiler", "other", "third"])),
        ("image", text()),
        ("resources", resources()),
        ("odd", odd()),
    ]);
    let pod = object(vec![
        ("containers", list(container)),
        ("tolerations", list(toleration())),
        ("nodeSelector", texts()),
        ("securityContext", Just(json!({})).boxed()),
        ("odd", odd()),
    ]);
    let template = object(vec![("metadata", object(vec![("labels", texts())])), ("spec", or_odd(pod))]);
    object(vec![("backoffLimit", int()), ("template", or_odd(template))])
}

fn hub_spec() -> BoxedStrategy<Value> {
    let hardware = object(vec![("gpuSku", text()), ("vramMb", float()), ("totalGpus", int()), ("rdma", flag())]);
    let workload = object(vec![("isl", int()), ("osl", int()), ("concurrency", float()), ("requestRate", float())]);
    let sla = object(vec![
        ("ttft", float()),
        ("itl", float()),
        ("e2eLatency", float()),
        ("optimizationType", one_of(&["latency", "throughput", "cost"])),
    ]);
    let cache = object(vec![("pvcName", text()), ("pvcModelPath", text()), ("pvcMountPath", text())]);
    let overrides = object(vec![("profilingJob", or_odd(job())), ("trustRemoteCode", flag()), ("dgd", odd_object())]);
    let switch = || object(vec![("enabled", flag())]);
    let features = object(vec![("planner", odd_object()), ("kvRouter", switch()), ("mocker", switch())]);
    object(vec![
        ("model", text()),
        ("backend", one_of(&["auto", "vllm", "other"])),
        ("image", text()),
        ("runtimeVersionOverride", text()),
        ("modelCache", cache),
        ("hardware", hardware),
        ("workload", workload),
        ("sla", sla),
        ("overrides", overrides),
        ("features", features),
        ("searchStrategy", one_of(&["rapid", "thorough"])),
        ("autoApply", flag()),
    ])
}

fn hub_status() -> BoxedStrategy<Value> {
    const PHASES: &[&str] = &["", "Pending", "Profiling", "Ready", "Deploying", "Deployed", "Failed", "Odd"];
    let results =
        object(vec![("pareto", list(object(vec![("config", odd_object())]))), ("selectedConfig", odd_object())]);
    object(vec![
        ("phase", one_of(PHASES)),
        ("profilingPhase", one_of(&["Done", "SweepingDecode"])),
        ("dgdName", text()),
        ("profilingJobName", text()),
        ("conditions", conditions()),
        ("profilingResults", results),
        ("deploymentInfo", object(vec![("replicas", int()), ("availableReplicas", int())])),
        ("observedGeneration", int()),
    ])
}

fn request(version: &'static str, spec: BoxedStrategy<Value>, status: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    (spec, prop::option::of(status))
        .prop_map(move |(spec, status)| {
            let mut request = super::object(version, &spec);
            if let Some(status) = status {
                request["status"] = status;
            }
            request
        })
        .boxed()
}

/// A v1alpha1 request.
pub(super) fn spoke() -> BoxedStrategy<Value> {
    request("v1alpha1", spoke_spec(), spoke_status())
}

/// A v1beta1 request.
pub(super) fn hub() -> BoxedStrategy<Value> {
    request("v1beta1", hub_spec(), hub_status())
}

/// What may stand in an annotation that conversion reads: what it wrote itself, something like it, or anything.
pub(super) fn annotation() -> BoxedStrategy<String> {
    const PLACES: &[&str] = &[
        "",
        "spec",
        "spec/model",
        "spec/sla",
        "spec/sla/ttft",
        "spec/autoApply",
        "spec/profilingConfig/config",
        "status/phase",
    ];
    let bare = prop_oneof![spoke_spec(), hub_spec(), spoke_status(), hub_status(), odd()];
    let path = prop::sample::select(PLACES).prop_map(|place| place.split_terminator('/').collect::<Value>());
    let loss = object(vec![("path", path.boxed()), ("reads", odd()), ("was", odd())]);
    let losses = list(loss).prop_map(|known| json!({"version": 1, "known": {"v1alpha1": known, "v1beta1": known}}));
    prop_oneof![
        4 => bare.clone().prop_map(|spec| json!({"version": 1, "spec": spec}).to_string()),
        4 => bare.prop_map(|spec| spec.to_string()),
        2 => losses.prop_map(|losses| losses.to_string()),
        1 => ".{0,8}",
    ]
    .boxed()
}
