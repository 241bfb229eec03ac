//! DynamoGraphDeploymentRequest.

use crate::meta::Condition;
use crate::pod::JobSpec;
use crate::{Json, Raw};

kind! {
    /// A wish for a graph that serves a model within given targets; the operator finds out how.
    pub struct DynamoGraphDeploymentRequest in "v1beta1" as "dynamographdeploymentrequests" {
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
        /// Image of the profiler.
        pub image: String,
        /// Version of the Dynamo runtime, where the image's tag doesn't say it.
        pub runtime_version_override: String,
        /// Volume that holds the weights.
        pub model_cache: Option<ModelCache>,
        /// The GPUs, where they can't be found out.
        pub hardware: Option<Hardware>,
        /// The traffic.
        pub workload: Option<Workload>,
        /// The targets.
        pub sla: Option<Sla>,
        /// What is changed in generated objects.
        pub overrides: Option<Overrides>,
        /// Parts of the graph that are wanted.
        pub features: Option<Features>,
        /// How thoroughly configurations are searched.
        pub search_strategy: Option<SearchStrategy>,
        /// Whether the graph found is deployed without asking; absent means yes.
        pub auto_apply: Option<bool>,
    }
}

string_enum! {
    /// Inference engine of a request.
    pub enum Backend {
        /// The profiler chooses.
        Auto = "auto",
        /// SGLang.
        Sglang = "sglang",
        /// TensorRT-LLM.
        Trtllm = "trtllm",
        /// vLLM.
        Vllm = "vllm",
    }
}

string_enum! {
    /// How thoroughly configurations are searched.
    pub enum SearchStrategy {
        /// By estimation.
        Rapid = "rapid",
        /// By measuring on GPUs.
        Thorough = "thorough",
    }
}

object! {
    /// Volume that holds the weights.
    pub struct ModelCache {
        /// Name of a PersistentVolumeClaim.
        pub pvc_name: String,
        /// Path of the weights in the volume.
        pub pvc_model_path: String,
        /// Where the volume is mounted.
        pub pvc_mount_path: String,
    }
}

object! {
    /// The GPUs that the graph will run on.
    pub struct Hardware {
        /// Model of the GPU.
        pub gpu_sku: String,
        /// Memory of one GPU in MiB.
        #[serde(serialize_with = "crate::wire::number")]
        pub vram_mb: Option<f64>,
        /// GPUs that may be used in all.
        pub total_gpus: Option<i32>,
        /// GPUs of one node.
        pub num_gpus_per_node: Option<i32>,
        /// How GPUs of one node are connected.
        pub interconnect: String,
        /// Whether nodes are connected by RDMA.
        pub rdma: Option<bool>,
    }
}

object! {
    /// The traffic to serve.
    pub struct Workload {
        /// Tokens of a typical prompt.
        pub isl: Option<i32>,
        /// Tokens of a typical answer.
        pub osl: Option<i32>,
        /// Requests at the same time.
        #[serde(serialize_with = "crate::wire::number")]
        pub concurrency: Option<f64>,
        /// Requests per second.
        #[serde(serialize_with = "crate::wire::number")]
        pub request_rate: Option<f64>,
    }
}

object! {
    /// The targets, in milliseconds.
    pub struct Sla {
        /// Time to the first token.
        #[serde(serialize_with = "crate::wire::number")]
        pub ttft: Option<f64>,
        /// Time between tokens.
        #[serde(serialize_with = "crate::wire::number")]
        pub itl: Option<f64>,
        /// Time from request to the end of the answer.
        #[serde(serialize_with = "crate::wire::number")]
        pub e2e_latency: Option<f64>,
        /// What is optimised where no target is given.
        pub optimization_type: Option<OptimizationType>,
    }
}

string_enum! {
    /// What is optimised.
    pub enum OptimizationType {
        /// Short answers' times.
        Latency = "latency",
        /// Many answers.
        Throughput = "throughput",
    }
}

object! {
    /// What is changed in generated objects.
    pub struct Overrides {
        /// Laid over the profiling job.
        pub profiling_job: Option<Raw<JobSpec>>,
        /// Whether code that comes with a model may run.
        pub trust_remote_code: bool,
        /// Laid over the generated graph: a partial DynamoGraphDeployment of either version.
        pub dgd: Option<Json>,
    }
}

object! {
    /// Parts of the graph that are wanted.
    pub struct Features {
        /// Configuration of the planner.
        pub planner: Option<Json>,
        /// Routing by KV cache.
        pub kv_router: Option<KvRouter>,
        /// Workers that only pretend.
        pub mocker: Option<Mocker>,
    }
}

object! {
    /// Routing by KV cache.
    pub struct KvRouter {
        /// Whether it is wanted.
        pub enabled: bool,
    }
}

object! {
    /// Workers that only pretend.
    pub struct Mocker {
        /// Whether they are wanted.
        pub enabled: bool,
    }
}

object! {
    /// What became of a request.
    pub struct DynamoGraphDeploymentRequestStatus {
        /// Where the request stands.
        pub phase: Option<RequestPhase>,
        /// Where the profiling stands.
        pub profiling_phase: Option<ProfilingPhase>,
        /// Name of the graph made for the request.
        pub dgd_name: String,
        /// Name of the profiling job.
        pub profiling_job_name: String,
        /// Aspects of the request's state.
        pub conditions: Vec<Condition>,
        /// What profiling found.
        pub profiling_results: Option<ProfilingResults>,
        /// Replicas of the graph made for the request.
        pub deployment_info: Option<DeploymentInfo>,
        /// The generation of the spec that was looked at.
        pub observed_generation: Option<i64>,
    }
}

string_enum! {
    /// Where a request stands.
    pub enum RequestPhase {
        /// Accepted.
        Pending = "Pending",
        /// Being profiled.
        Profiling = "Profiling",
        /// A graph was found.
        Ready = "Ready",
        /// The graph is being deployed.
        Deploying = "Deploying",
        /// The graph is deployed.
        Deployed = "Deployed",
        /// Given up.
        Failed = "Failed",
    }
}

string_enum! {
    /// Where profiling stands.
    pub enum ProfilingPhase {
        /// Getting ready.
        Initializing = "Initializing",
        /// Trying configurations of prefill.
        SweepingPrefill = "SweepingPrefill",
        /// Trying configurations of decode.
        SweepingDecode = "SweepingDecode",
        /// Choosing a configuration.
        SelectingConfig = "SelectingConfig",
        /// Fitting performance curves.
        BuildingCurves = "BuildingCurves",
        /// Writing the graph.
        GeneratingDgd = "GeneratingDGD",
        /// Finished.
        Done = "Done",
    }
}

object! {
    /// What profiling found.
    pub struct ProfilingResults {
        /// Configurations that no other one beats; deprecated.
        pub pareto: Vec<ParetoPoint>,
        /// The configuration chosen, a DynamoGraphDeployment.
        pub selected_config: Option<Json>,
    }
}

object! {
    /// A configuration that no other one beats.
    pub struct ParetoPoint {
        /// The configuration.
        pub config: Option<Json>,
    }
}

object! {
    /// Replicas of the graph made for a request.
    pub struct DeploymentInfo {
        /// Wanted replicas.
        pub replicas: Option<i32>,
        /// Replicas that can serve.
        pub available_replicas: Option<i32>,
    }
}
