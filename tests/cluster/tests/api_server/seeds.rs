//! Objects with much in them, from which the conformance test makes others.

use cluster_tests::objects::object;
use serde_json::{Value, json};

fn pod() -> Value {
    json!({
        "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example.org/dynamo/runtime:1.5.0",
                    "args": ["--model", "m"],
                    "ports": [{"containerPort": 8000, "name": "http"}],
                    "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
                    "envFrom": [{"configMapRef": {"name": "c"}}],
                    "resources": {"limits": {"nvidia.com/gpu": 1, "memory": "10Gi"}, "claims": [{"name": "gpus"}]},
                    "livenessProbe": {"httpGet": {"port": "http"}, "periodSeconds": 5},
                    "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                },
                {"name": "proxy", "image": "i"},
            ],
            "volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}],
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
            "nodeSelector": {"zone": "a"},
            "terminationGracePeriodSeconds": 30,
        },
    })
}

fn component(name: &str, kind: &str) -> Value {
    json!({
        "name": name,
        "type": kind,
        "replicas": 2,
        "minAvailable": 1,
        "runtimeVersionOverride": "1.5.0",
        "globalDynamoNamespace": true,
        "multinode": {"nodeCount": 2},
        "roles": [{"name": "leader", "replicas": 1}, {"name": "worker"}],
        "sharedMemorySize": "8Gi",
        "modelRef": {"name": "m", "revision": "r"},
        "scalingAdapter": {},
        "compilationCache": {"pvcName": "p", "mountPath": "/cache"},
        "topologyConstraint": {"packDomain": "rack"},
        "podTemplate": pod(),
        "experimental": {
            "gpuMemoryService": {"mode": "IntraPod", "extraClientContainers": ["proxy"]},
            "failover": {"mode": "IntraPod"},
            "checkpoint": {"enabled": true, "mode": "Auto", "checkpointRef": "c"},
        },
    })
}

fn service(kind: &str) -> Value {
    json!({
        "componentType": kind,
        "replicas": 2,
        "multinode": {"nodeCount": 2},
        "ingress": {"enabled": true, "host": "h.example.org", "labels": {"a": "b"}},
        "sharedMemory": {"size": "8Gi"},
        "envs": [{"name": "A", "value": "1"}],
        "envFromSecret": "s",
        "resources": {"limits": {"cpu": "1", "gpu": "1", "custom": {"example.org/nic": "1"}}},
        "livenessProbe": {"tcpSocket": {"port": 8000}},
        "volumeMounts": [{"name": "p", "mountPoint": "/p", "useAsCompilationCache": true}],
        "scalingAdapter": {"enabled": true},
        "gpuMemoryService": {"enabled": true, "mode": "intraPod"},
        "extraPodMetadata": {"labels": {"a": "b"}},
        "extraPodSpec": {
            "mainContainer": {"image": "registry.example.org/dynamo/runtime:1.5.0", "command": ["c"]},
            "containers": [{"name": "proxy", "image": "i"}],
            "volumes": [{"name": "v", "secret": {"secretName": "s"}}],
        },
    })
}

/// One object of each kind and version.
pub fn all() -> Vec<Value> {
    let graph = json!({
        "backendFramework": "vllm",
        "labels": {"a": "b"},
        "env": [{"name": "A", "value": "1"}],
        "topologyConstraint": {"clusterTopologyName": "t", "packDomain": "zone"},
        "components": [component("front", "frontend"), component("decode", "decode")],
        "experimental": {"kvTransferPolicy": {
            "labelKey": "example.org/rack", "domain": "rack", "enforcement": "preferred", "preferredWeight": 0.5,
        }},
    });
    let graph_v1alpha1 = json!({
        "backendFramework": "sglang",
        "envs": [{"name": "A", "value": "1"}],
        "pvcs": [{"name": "p", "create": true, "size": "1Gi", "storageClass": "s", "volumeAccessMode": "ReadWriteMany"}],
        "services": {"Frontend": service("frontend"), "Worker": service("worker")},
    });
    let mut lone = component("lone", "worker");
    lone["backendFramework"] = "trtllm".into();
    let request = json!({
        "model": "m",
        "backend": "vllm",
        "image": "i:1.5.0",
        "hardware": {"gpuSku": "h100_sxm", "vramMb": 80000, "numGpusPerNode": 8},
        "workload": {"isl": 4000, "osl": 1000, "concurrency": 5},
        "sla": {"ttft": 200.5, "itl": 10},
        "modelCache": {"pvcName": "p", "pvcModelPath": "m"},
        "overrides": {"profilingJob": {"template": pod()}},
        "features": {"mocker": {"enabled": true}, "planner": {"a": 1}},
        "searchStrategy": "rapid",
        "autoApply": true,
    });
    let request_v1alpha1 = json!({
        "model": "m",
        "backend": "vllm",
        "autoApply": true,
        "profilingConfig": {
            "profilerImage": "i",
            "config": {"sla": {"ttft": 1}},
            "configMapRef": {"name": "c", "key": "k"},
            "resources": {"requests": {"cpu": "1"}},
            "tolerations": [{"key": "a", "operator": "Exists"}],
        },
        "deploymentOverrides": {"name": "n", "labels": {"a": "b"}, "workersImage": "w"},
    });
    let adapter = |field: &str| json!({"replicas": 2, "dgdRef": {"name": "g", field: "w"}});
    let model = json!({"modelName": "n", "baseModelName": "b", "modelType": "lora", "source": {"uri": "hf://a/b"}});
    vec![
        object("v1beta1", "DynamoGraphDeployment", "seed", &graph),
        object("v1alpha1", "DynamoGraphDeployment", "seed", &graph_v1alpha1),
        object("v1beta1", "DynamoComponentDeployment", "seed", &lone),
        object("v1alpha1", "DynamoComponentDeployment", "seed", &service("worker")),
        object("v1beta1", "DynamoGraphDeploymentRequest", "seed", &request),
        object("v1alpha1", "DynamoGraphDeploymentRequest", "seed", &request_v1alpha1),
        object("v1beta1", "DynamoGraphDeploymentScalingAdapter", "seed", &adapter("componentName")),
        object("v1alpha1", "DynamoGraphDeploymentScalingAdapter", "seed", &adapter("serviceName")),
        object("v1alpha1", "DynamoModel", "seed", &model),
        object("v1alpha1", "DynamoWorkerMetadata", "seed", &json!({"data": {"a": {"b": 1}}})),
    ]
}
