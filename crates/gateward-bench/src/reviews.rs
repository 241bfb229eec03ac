//! The reviews that are sent.

use serde_json::{Value, json};

/// One review and where it goes.
pub struct Sample {
    /// What it is, for the table.
    pub name: &'static str,
    /// The webhook's path.
    pub path: &'static str,
    /// The AdmissionReview or ConversionReview.
    pub body: Vec<u8>,
}

/// Where graphs are validated, and where they are defaulted.
pub const VALIDATE: &str = "/validate/nvidia.com/v1beta1/dynamographdeployments";
pub const DEFAULT: &str = "/mutate/nvidia.com/v1beta1/dynamographdeployments";

impl Sample {
    /// A creation that is sent to `path`.
    pub const fn new(name: &'static str, path: &'static str, body: Vec<u8>) -> Self {
        Self { name, path, body }
    }
}

/// Which way objects are converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From v1alpha1 to the hub.
    Lift,
    /// From the hub, with what a lift has kept, back to v1alpha1.
    Lower,
}

impl Way {
    /// The words for the table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lift => "v1alpha1 to v1beta1",
            Self::Lower => "v1beta1 to v1alpha1",
        }
    }
}

/// A ConversionReview of so many graphs, each of this size as it is sent.
pub fn conversion(way: Way, bytes: usize, objects: usize) -> anyhow::Result<Sample> {
    let mut variables = 0;
    loop {
        let graph = alpha(variables).to_string();
        if as_sent(way, graph.clone())?.len() >= bytes {
            return conversion_of(way, graph, objects);
        }
        variables += 1;
    }
}

/// The same of this v1alpha1 graph, which is converted first where the way is back.
pub fn conversion_of(way: Way, graph: String, objects: usize) -> anyhow::Result<Sample> {
    let object = as_sent(way, graph)?;
    let version = match way {
        Way::Lift => "nvidia.com/v1beta1",
        Way::Lower => "nvidia.com/v1alpha1",
    };
    let objects = vec![object; objects].join(",");
    let body = format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{{"uid":"705ab4f5","desiredAPIVersion":"{version}","objects":[{objects}]}}}}"#
    );
    Ok(Sample { name: way.name(), path: "/convert", body: body.into_bytes() })
}

fn as_sent(way: Way, graph: String) -> anyhow::Result<String> {
    match way {
        Way::Lift => Ok(graph),
        Way::Lower => Ok(dynamo_webhooks::webhooks().convert(&graph, "nvidia.com/v1beta1")?.json),
    }
}

/// The review whose components have as many environment variables as it takes to reach the size.
pub fn sized(bytes: usize, object: fn(usize) -> Value) -> Vec<u8> {
    reaching(bytes, |variables| review(&object(variables)))
}

/// The body with as few environment variables as it takes to reach the size.
pub fn reaching(bytes: usize, body: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    // Each of them has some bytes.
    (0..=bytes).map(body).find(|body| body.len() >= bytes).unwrap_or_default()
}

fn review(object: &Value) -> Vec<u8> {
    let version = object["apiVersion"].as_str().unwrap_or_default().trim_start_matches("nvidia.com/").to_owned();
    let kind = json!({"group": "nvidia.com", "version": version, "kind": "DynamoGraphDeployment"});
    let resource = json!({"group": "nvidia.com", "version": version, "resource": "dynamographdeployments"});
    creation(&kind, &resource, object)
}

/// The AdmissionReview of a creation.
pub fn creation(kind: &Value, resource: &Value, object: &Value) -> Vec<u8> {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
            "kind": kind, "resource": resource, "requestKind": kind, "requestResource": resource,
            "name": "otter", "namespace": "zoo", "operation": "CREATE",
            "userInfo": {"username": "jane", "uid": "1", "groups": ["system:authenticated", "operators"]},
            "object": object,
            "oldObject": null,
            "dryRun": false,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "kubectl"},
        }
    })
    .to_string()
    .into_bytes()
}

/// The metadata of every object.
pub fn metadata() -> Value {
    json!({
        "name": "otter", "namespace": "zoo", "uid": "a3c1", "generation": 1,
        "creationTimestamp": "2026-11-21T10:00:00Z",
        "labels": {"app.kubernetes.io/name": "otter", "team": "river"},
        "annotations": {
            "nvidia.com/dynamo-operator-origin-version": "1.4.2", "nvidia.com/workload-provider": "grove",
        },
    })
}

/// The names and types of the components.
pub const COMPONENTS: [(&str, &str); 4] =
    [("frontend", "frontend"), ("prefill", "prefill"), ("decode", "decode"), ("planner", "planner")];

fn variables(count: usize) -> Vec<Value> {
    (0..count).map(|n| json!({"name": format!("DYN_SETTING_{n}"), "value": format!("value-{n}")})).collect()
}

/// A container with so many environment variables.
pub fn container(component: &str, count: usize) -> Value {
    json!({
        "name": "main",
        "image": format!("registry.example.org/dynamo/{component}:1.4.2"),
        "command": ["python3", "-m", "dynamo.vllm"],
        "args": ["--model", "Qwen/Qwen3-0.6B", "--max-model-len", "8192"],
        "env": variables(count),
        "resources": {"limits": {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"}},
    })
}

/// A graph of v1beta1 whose components have so many environment variables.
pub fn beta(count: usize) -> Value {
    let components: Vec<Value> = COMPONENTS
        .iter()
        .map(|(name, kind)| {
            json!({
                "name": name, "type": kind, "replicas": 2, "minAvailable": 1,
                "podTemplate": {"spec": {"containers": [container(name, count)]}},
            })
        })
        .collect();
    json!({
        "apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "metadata": metadata(),
        "spec": {"backendFramework": "vllm", "components": components},
    })
}

/// The same of v1alpha1, whose halves of inference are subtypes of workers, as in all manifests that upstream publishes.
pub fn alpha(count: usize) -> Value {
    let service = |name: &str, kind: &str| {
        let main = container(name, 0);
        let mut service = json!({
            "componentType": kind, "replicas": 2, "envs": variables(count),
            "resources": {"limits": {"cpu": "4", "memory": "16Gi", "gpu": "1"}},
            "extraPodSpec": {"mainContainer": {
                "image": main["image"], "command": main["command"], "args": main["args"],
            }},
        });
        if let half @ ("prefill" | "decode") = kind {
            service["componentType"] = "worker".into();
            service["subComponentType"] = half.into();
        }
        service
    };
    let services: serde_json::Map<String, Value> =
        COMPONENTS.iter().map(|(name, kind)| ((*name).to_owned(), service(name, kind))).collect();
    json!({
        "apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": metadata(),
        "spec": {"backendFramework": "vllm", "services": services},
    })
}
