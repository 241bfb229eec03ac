//! The kinds that convert, and what their objects are made of.

use std::sync::LazyLock;

use dynamo_api::crds::{self, CrdFile};
use gateward::Webhooks;
use gateward::testing::{Objects, objects};
use serde_json::{Value, json};

/// How many objects each property is tried on.
pub const OBJECTS: u32 = 10_000;

/// A kind that converts.
pub struct Kind {
    pub crd: CrdFile,
    /// The annotations that conversion keeps for itself.
    pub stashes: &'static [&'static str],
}

pub const PRESERVED: &str = "gateward.dev/preserved";

pub const GRAPH: Kind =
    Kind { crd: crds::GRAPH_DEPLOYMENT, stashes: &["nvidia.com/dgd-spec", "nvidia.com/dgd-status", PRESERVED] };

pub const COMPONENT: Kind =
    Kind { crd: crds::COMPONENT_DEPLOYMENT, stashes: &["nvidia.com/dcd-spec", "nvidia.com/dcd-status", PRESERVED] };

pub const REQUEST: Kind = Kind {
    crd: crds::GRAPH_DEPLOYMENT_REQUEST,
    stashes: &["nvidia.com/dgdr-spec", "nvidia.com/dgdr-status", PRESERVED],
};

pub const ADAPTER: Kind = Kind { crd: crds::GRAPH_DEPLOYMENT_SCALING_ADAPTER, stashes: &[PRESERVED] };

/// The webhooks under test.
pub fn webhooks() -> &'static Webhooks {
    static WEBHOOKS: LazyLock<Webhooks> = LazyLock::new(dynamo_webhooks::webhooks);
    &WEBHOOKS
}

/// Converts an object, demanding that it can be done.
#[track_caller]
pub fn converted(object: &Value, version: &str) -> Value {
    match convert(object, version) {
        Ok(converted) => converted,
        Err(error) => panic!("to {version}: {error}\n{object}"),
    }
}

pub fn convert(object: &Value, version: &str) -> Result<Value, String> {
    let version = format!("nvidia.com/{version}");
    let converted = webhooks().convert(&object.to_string(), &version).map_err(|error| error.to_string())?;
    serde_json::from_str(&converted.json).map_err(|error| error.to_string())
}

impl Kind {
    /// Arbitrary objects of a version.
    pub fn objects(&self, version: &str) -> Objects {
        vocabulary(objects(self.crd.json, version)).ready()
    }

    /// Takes out what the other version needs: the stashes.
    pub fn without_stashes(&self, object: &Value) -> Value {
        let mut object = object.clone();
        if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
            annotations.retain(|key, _| !self.stashes.contains(&key.as_str()));
        }
        object
    }
}

const WORDS: [&str; 28] = [
    "main",
    "sidecar-frontend",
    "sidecar",
    "worker",
    "frontend",
    "planner",
    "epp",
    "prefill",
    "decode",
    "profiler",
    "otter",
    "gull",
    "logger",
    "metrics",
    "hf-token",
    "HF_HOME",
    "cache",
    "weights",
    "intraPod",
    "interPod",
    "IntraPod",
    "sla",
    "planner",
    "0",
    "0Gi",
    "2",
    "example.org/team",
    "team",
];

const OFTEN: [&str; 40] = [
    "services",
    "components",
    "mainContainer",
    "extraPodSpec",
    "extraPodMetadata",
    "env",
    "envs",
    "envFrom",
    "envFromSecret",
    "resources",
    "limits",
    "requests",
    "volumeMounts",
    "containers",
    "podTemplate",
    "frontendSidecar",
    "spec",
    "metadata",
    "profilingConfig",
    "config",
    "overrides",
    "profilingJob",
    "template",
    "experimental",
    "checkpoint",
    "secretRef",
    "livenessProbe",
    "readinessProbe",
    "componentType",
    "subComponentType",
    "type",
    "sharedMemory",
    "scalingAdapter",
    "compilationCache",
    "gpuMemoryService",
    "sharedMemorySize",
    "name",
    "image",
    "args",
    "state",
];

/// Few names, so that they meet, and those that conversion looks at.
pub fn vocabulary(objects: Objects) -> Objects {
    let quantity =
        json!({"enum": ["1", "2", "500m", "0.5", "1Gi", "1024Mi", "1e3", "0", "", "junk", "nvidia.com/gpu"]});
    let values = [
        (
            "name",
            json!([
                "main",
                "sidecar-frontend",
                "sidecar",
                "logger",
                "metrics",
                "profiler",
                "cache",
                "hf-token",
                "A",
                "B",
                ""
            ]),
        ),
        ("componentType", json!(["worker", "frontend", "prefill", "decode", "planner", "epp", "main", ""])),
        ("subComponentType", json!(["prefill", "decode", "draft", ""])),
        ("serviceName", json!(["otter", "worker", "main", ""])),
        ("envFromSecret", json!(["hf-token", "other", ""])),
        ("mountPoint", json!(["/cache", "/data", ""])),
        ("mountPath", json!(["/cache", "/data"])),
        ("pvcName", json!(["cache", "weights", "main"])),
        ("frontendSidecar", json!(["sidecar-frontend", "sidecar", "gone", ""])),
        ("gpuType", json!(["gpu.intel.com/xe", "nvidia.com/gpu", ""])),
        ("dgdName", json!(["otter", "gull", ""])),
        ("componentName", json!(["otter-w", "otter-x", ""])),
        ("profilerImage", json!(["r/prof:1", "r/prof:2", ""])),
        ("workersImage", json!(["r/work:1", "r/prof:1", ""])),
    ];
    let objects = values.into_iter().fold(objects.words(&WORDS).often(&OFTEN), |objects, (name, values)| {
        objects.member(name, json!({"enum": values}))
    });
    let objects = ["cpu", "memory", "gpu"].iter().fold(objects, |objects, name| objects.member(name, quantity.clone()));
    objects.member("config", configuration())
}

/// What stands in `profilingConfig.config` and `eppConfig.config`, more or less.
fn configuration() -> Value {
    let anything = json!({});
    let number = json!({"type": "number"});
    let text = json!({"type": "string"});
    json!({
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": true,
        "properties": {
            "sla": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                "ttft": number, "itl": number, "isl": number, "osl": number, "custom": anything,
                "optimizationType": {"enum": ["latency", "throughput", "other", 7]},
            }},
            "deployment": {"type": "object", "properties": {
                "modelCache": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                    "pvcName": text, "modelPathInPvc": text, "pvcMountPath": anything,
                }},
                "model": anything,
            }},
            "planner": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"mode": text}},
            "plugins": {"type": "array", "items": {"type": "object", "required": ["type"], "properties": {
                "name": text, "type": text, "parameters": anything,
            }}},
            "schedulingProfiles": anything,
        },
    })
}
