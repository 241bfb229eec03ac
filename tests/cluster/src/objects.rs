//! Objects of our kinds that tests begin with: small, and admitted as they are.

use serde_json::{Value, json};

/// An object of ours, of a version like `v1beta1`.
pub fn object(version: &str, kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": format!("nvidia.com/{version}"),
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    })
}

fn main_container(image: &str) -> Value {
    json!({"name": "main", "image": format!("registry.example.org/dynamo/{image}:1.5.0")})
}

/// A component of a graph, or the spec of one that stands alone.
pub fn component(name: &str, kind: &str) -> Value {
    let pod = json!({"spec": {"containers": [main_container("vllm-runtime")]}});
    json!({"name": name, "type": kind, "podTemplate": pod})
}

/// A graph of two components.
pub fn graph(name: &str) -> Value {
    let components = [component("frontend", "frontend"), component("decode", "decode")];
    object("v1beta1", "DynamoGraphDeployment", name, &json!({"components": components}))
}

/// A service of a v1alpha1 graph, or the spec of a v1alpha1 component.
pub fn service(kind: &str) -> Value {
    let mut container = main_container("vllm-runtime");
    container.as_object_mut().unwrap().remove("name");
    json!({"componentType": kind, "extraPodSpec": {"mainContainer": container}})
}

/// A graph of two services.
pub fn graph_v1alpha1(name: &str) -> Value {
    let services = json!({"Frontend": service("frontend"), "Worker": service("worker")});
    object("v1alpha1", "DynamoGraphDeployment", name, &json!({"services": services}))
}

/// A request for a graph.
pub fn request(name: &str) -> Value {
    object("v1beta1", "DynamoGraphDeploymentRequest", name, &json!({"model": "Qwen/Qwen3-0.6B"}))
}

/// The same in the older version, which has to name a profiler.
pub fn request_v1alpha1(name: &str) -> Value {
    let profiling = json!({
        "profilerImage": "registry.example.org/dynamo/profiler:1.5.0",
        "config": {"sla": {"ttft": 200.5, "itl": 20, "isl": 3000, "osl": 150}, "engine": {"max": 3}},
    });
    let spec = json!({"model": "Qwen/Qwen3-0.6B", "backend": "vllm", "profilingConfig": profiling});
    object("v1alpha1", "DynamoGraphDeploymentRequest", name, &spec)
}

/// What scales one service of a graph.
pub fn adapter_v1alpha1(name: &str) -> Value {
    let spec = json!({"replicas": 0, "dgdRef": {"name": "otter", "serviceName": "Worker"}});
    object("v1alpha1", "DynamoGraphDeploymentScalingAdapter", name, &spec)
}

/// An adapter model that comes from somewhere.
pub fn model(name: &str, uri: &str) -> Value {
    let spec =
        json!({"modelName": "wren", "baseModelName": "Qwen/Qwen3-0.6B", "modelType": "lora", "source": {"uri": uri}});
    object("v1alpha1", "DynamoModel", name, &spec)
}
