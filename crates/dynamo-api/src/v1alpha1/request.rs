//! DynamoGraphDeploymentRequest.

use std::collections::BTreeMap;

use crate::meta::Condition;
use crate::parts::DeploymentState;
use crate::pod::{ResourceRequirements, Toleration};
use crate::{Json, Raw};

kind! {
    /// A wish for a graph that serves a model within given targets; the operator finds out how.
    pub struct DynamoGraphDeploymentRequest in "v1alpha1" as "dynamographdeploymentrequests" {
        /// The wish.
        spec: DynamoGraphDeploymentRequestSpec,
        /// What became of it.
        status: DynamoGraphDeploymentRequestStatus,
    }
}

object! {
    /// The wish.
    pub struct DynamoGraphDeploymentRequestSpec {
        /// Model id.
        pub model: Option<String>,
        /// Inference engine, or the choice of the best.
        pub backend: Option<Backend>,
        /// Whether workers only pretend.
        pub use_mocker: bool,
        /// How the profiler works.
        pub profiling_config: ProfilingConfig,
        /// Version of the Dynamo runtime, where the image's tag doesn't say it.
        pub runtime_version_override: String,
        /// Without effect; deprecated.
        pub enable_gpu_discovery: Option<bool>,
        /// Whether the graph found is deployed without asking.
        pub auto_apply: bool,
        /// What is changed in the graph that is deployed.
        pub deployment_overrides: Option<DeploymentOverrides>,
    }
}

string_enum! {
    /// Inference engine of a request.
    pub enum Backend {
        /// The profiler chooses.
        Auto = "auto",
        /// vLLM.
        Vllm = "vllm",
        /// SGLang.
        Sglang = "sglang",
        /// TensorRT-LLM.
        Trtllm = "trtllm",
    }
}

object! {
    /// How the profiler works.
    pub struct ProfilingConfig {
        /// The profiler's own configuration.
        pub config: Option<Json>,
        /// Key of a ConfigMap that holds the graph to begin with.
        pub config_map_ref: Option<ConfigMapKey>,
        /// Image of the profiler.
        // An empty one is not an absent one: the schema demands it.
        pub profiler_image: Option<String>,
        /// PersistentVolumeClaim that results are kept on.
        #[serde(rename = "outputPVC")]
        pub output_pvc: String,
        /// Resources of the profiler.
        pub resources: Option<Raw<ResourceRequirements>>,
        /// Tolerations of the profiler.
        pub tolerations: Vec<Raw<Toleration>>,
        /// Labels of the nodes that the profiler may run on.
        pub node_selector: BTreeMap<String, String>,
    }
}

impl ProfilingConfig {
    /// Image of the profiler; empty where none is named.
    pub fn profiler_image(&self) -> &str {
        self.profiler_image.as_deref().unwrap_or_default()
    }
}

object! {
    /// Key of a ConfigMap in the same namespace.
    pub struct ConfigMapKey {
        /// Name of the ConfigMap.
        // An empty one is not an absent one: the schema demands it.
        pub name: Option<String>,
        /// Key in it.
        pub key: String,
    }
}

object! {
    /// What is changed in the graph that is deployed.
    pub struct DeploymentOverrides {
        /// Name of the graph.
        pub name: String,
        /// Namespace of the graph.
        pub namespace: String,
        /// Labels of the graph.
        pub labels: BTreeMap<String, String>,
        /// Annotations of the graph.
        pub annotations: BTreeMap<String, String>,
        /// Image of the workers.
        pub workers_image: String,
    }
}

object! {
    /// What became of a request.
    pub struct DynamoGraphDeploymentRequestStatus {
        /// Where the request stands.
        pub state: Option<RequestState>,
        /// Inference engine that was chosen.
        pub backend: String,
        /// The generation of the spec that was looked at.
        pub observed_generation: Option<i64>,
        /// Aspects of the request's state.
        pub conditions: Vec<Condition>,
        /// Where the results are, as `configmap/NAME`.
        pub profiling_results: String,
        /// The graph that was found.
        pub generated_deployment: Option<Json>,
        /// The graph that was deployed.
        pub deployment: Option<DeploymentStatus>,
    }
}

string_enum! {
    /// Where a request stands.
    pub enum RequestState {
        /// Not looked at yet.
        Initializing = "Initializing",
        /// Accepted.
        Pending = "Pending",
        /// Being profiled.
        Profiling = "Profiling",
        /// The graph is being deployed.
        Deploying = "Deploying",
        /// A graph was found or deployed.
        Ready = "Ready",
        /// The graph was deleted by somebody.
        DeploymentDeleted = "DeploymentDeleted",
        /// Given up.
        Failed = "Failed",
    }
}

object! {
    /// The graph that was deployed for a request.
    pub struct DeploymentStatus {
        /// Name of the graph.
        pub name: String,
        /// Namespace of the graph.
        pub namespace: String,
        /// Where the graph stands.
        pub state: Option<DeploymentState>,
        /// Whether the graph was made.
        pub created: bool,
    }
}
