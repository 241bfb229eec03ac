//! What has the same shape in v1alpha1 and v1beta1; both versions export it.

use std::collections::BTreeMap;

use crate::pod::{ConfigMapKeySelector, PodTemplate};
use crate::{Json, Raw};

string_enum! {
    /// An inference engine.
    pub enum BackendFramework {
        /// SGLang.
        Sglang = "sglang",
        /// vLLM.
        Vllm = "vllm",
        /// TensorRT-LLM.
        Trtllm = "trtllm",
    }
}

object! {
    /// How many nodes one instance of a component spans.
    pub struct Multinode {
        /// Nodes of one instance, at least 2.
        pub node_count: Option<i32>,
    }
}

object! {
    /// One of the named parts of a component that make pods, such as leader and worker.
    pub struct ComponentRole {
        /// Name of the role, unique in the component.
        pub name: String,
        /// Pods of this role in one instance.
        pub replicas: Option<i32>,
        /// What is changed in the provider's object of this role.
        pub provider_override: Option<ProviderOverride>,
        /// Pod of this role; reserved.
        pub pod_template: Option<Raw<PodTemplate>>,
    }
}

object! {
    /// A fragment laid over an object that the workload provider is given.
    pub struct ProviderOverride {
        /// Group and version of the fragment.
        pub api_version: String,
        /// Kind that the fragment belongs to; filled in by defaulting.
        pub target: String,
        /// The fragment.
        pub value: Option<Json>,
    }
}

object! {
    /// The model that a component serves.
    pub struct ModelReference {
        /// Name of the model.
        pub name: Option<String>,
        /// Revision of the model.
        pub revision: String,
    }
}

object! {
    /// Configuration of the endpoint picker written in Go; exactly one of the two members is given.
    pub struct EppConfig {
        /// Key of a ConfigMap that holds the configuration.
        pub config_map_ref: Option<ConfigMapKeySelector>,
        /// The configuration itself, an `EndpointPickerConfig`.
        pub config: Option<Json>,
    }
}

object! {
    /// Where the pods of a component are packed together.
    pub struct TopologyConstraint {
        /// Topology domain that the pods share.
        pub pack_domain: String,
    }
}

object! {
    /// A wish to restart the components of a graph.
    pub struct Restart {
        /// Name of this wish; another id starts another restart.
        pub id: String,
        /// In which order the components restart.
        pub strategy: Option<RestartStrategy>,
    }
}

object! {
    /// In which order the components of a graph restart.
    pub struct RestartStrategy {
        /// One after the other, or all at once.
        #[serde(rename = "type")]
        pub strategy_type: Option<RestartStrategyType>,
        /// Names of the components in the order of their restart.
        pub order: Vec<String>,
    }
}

string_enum! {
    /// Whether components restart one after the other.
    pub enum RestartStrategyType {
        /// One after the other.
        Sequential = "Sequential",
        /// All at once.
        Parallel = "Parallel",
    }
}

object! {
    /// Preview features of a graph.
    pub struct GraphExperimental {
        /// Where KV caches may be transferred.
        pub kv_transfer_policy: Option<KvTransferPolicy>,
    }
}

object! {
    /// Between which nodes KV caches are transferred.
    pub struct KvTransferPolicy {
        /// ClusterTopology of Grove that names the levels; either this or `labelKey`.
        pub cluster_topology_name: Option<String>,
        /// Label key of nodes; either this or `clusterTopologyName`.
        pub label_key: Option<String>,
        /// Name of the topology level that transfers stay within.
        pub domain: String,
        /// Whether staying within the domain is a must.
        pub enforcement: Option<Enforcement>,
        /// Weight of the preference, from 0 to 1.
        pub preferred_weight: Option<f64>,
    }
}

string_enum! {
    /// Whether a policy is a must or a wish.
    pub enum Enforcement {
        /// A must.
        Required = "required",
        /// A wish.
        Preferred = "preferred",
    }
}

object! {
    /// Another pod that uses the GPU memory service; reserved.
    pub struct GpuMemoryClientPod {
        /// Name of the pod, unique in the list.
        pub name: String,
        /// The pod.
        pub pod_template: Option<Json>,
    }
}

object! {
    /// What makes a checkpoint the one that is looked for.
    pub struct CheckpointIdentity {
        /// Model id.
        pub model: Option<String>,
        /// Inference engine.
        pub backend_framework: Option<BackendFramework>,
        /// Version of the platform.
        pub dynamo_version: String,
        /// Tensor parallelism.
        pub tensor_parallel_size: Option<i32>,
        /// Pipeline parallelism.
        pub pipeline_parallel_size: Option<i32>,
        /// Data type of the weights.
        pub dtype: String,
        /// Longest sequence.
        pub max_model_len: Option<i32>,
        /// Further inputs of the hash.
        pub extra_parameters: BTreeMap<String, String>,
    }
}

object! {
    /// The pod that a checkpoint is taken in.
    pub struct CheckpointJob {
        /// Containers that use the GPU memory service.
        pub gms_client_containers: Vec<String>,
        /// What is laid over the pod.
        pub pod_template: Option<Json>,
    }
}

string_enum! {
    /// Who makes checkpoints.
    pub enum CheckpointMode {
        /// The operator.
        Auto = "Auto",
        /// The user.
        Manual = "Manual",
    }
}

string_enum! {
    /// When workers start, seen from the checkpoint.
    pub enum CheckpointStartupPolicy {
        /// At once.
        Immediate = "Immediate",
        /// When the checkpoint is there.
        WaitForCheckpoint = "WaitForCheckpoint",
    }
}

string_enum! {
    /// What becomes of automatic checkpoints when their owner goes.
    pub enum CheckpointDeletionPolicy {
        /// They go too.
        Delete = "Delete",
        /// They stay.
        Retain = "Retain",
    }
}

string_enum! {
    /// Where a deployment stands.
    pub enum DeploymentState {
        /// Not looked at yet.
        Initializing = "initializing",
        /// Not all components are ready.
        Pending = "pending",
        /// All components are ready.
        Successful = "successful",
        /// Something cannot become ready.
        Failed = "failed",
    }
}

string_enum! {
    /// What backs a component.
    pub enum ComponentKind {
        /// A clique of Grove.
        PodClique = "PodClique",
        /// A scaling group of Grove.
        PodCliqueScalingGroup = "PodCliqueScalingGroup",
        /// A Deployment.
        Deployment = "Deployment",
        /// A `LeaderWorkerSet`.
        LeaderWorkerSet = "LeaderWorkerSet",
    }
}

object! {
    /// The checkpoint of one component.
    pub struct ComponentCheckpointStatus {
        /// Name of the checkpoint object.
        pub checkpoint_name: String,
        /// Id of the checkpoint in its store.
        #[serde(rename = "checkpointID")]
        pub checkpoint_id: String,
        /// Hash of the identity.
        pub identity_hash: String,
        /// Whether the checkpoint can be restored from.
        pub ready: bool,
    }
}

object! {
    /// The restart that was last worked on.
    pub struct RestartStatus {
        /// Id of the restart.
        #[serde(rename = "observedID")]
        pub observed_id: String,
        /// `Pending`, `Restarting`, `Completed`, `Failed` or `Superseded`.
        pub phase: String,
        /// Names of the components that restart now.
        pub in_progress: Vec<String>,
    }
}

string_enum! {
    /// Where a rolling update stands.
    pub enum RollingUpdatePhase {
        /// Waiting to begin.
        Pending = "Pending",
        /// Under way.
        InProgress = "InProgress",
        /// Done.
        Completed = "Completed",
        /// Given up.
        Failed = "Failed",
    }
}

object! {
    /// How well the pods were placed.
    pub struct PlacementStatus {
        /// From 0 to 1.
        pub score: Option<f64>,
        /// How much is known about the placement.
        pub state: Option<PlacementState>,
    }
}

string_enum! {
    /// How much is known about the placement of pods.
    pub enum PlacementState {
        /// All of it.
        Reported = "Reported",
        /// Some of it.
        Partial = "Partial",
        /// The provider doesn't tell.
        Unsupported = "Unsupported",
        /// Nothing.
        Unknown = "Unknown",
    }
}
