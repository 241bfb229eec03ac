//! Names that users write and rules read: the API group, annotation keys, container names and limits.

/// The API group of all kinds.
pub const GROUP: &str = "nvidia.com";

/// Annotation of a graph: the version of the operator that saw its creation, as a semantic version.
pub const ORIGIN_VERSION: &str = "nvidia.com/dynamo-operator-origin-version";
/// Annotation: which executor vLLM distributes with, `mp` or `ray` in any case of letters.
pub const VLLM_EXECUTOR_BACKEND: &str = "nvidia.com/vllm-distributed-executor-backend";
/// Annotation of a graph: `pod` or `container`.
pub const KUBE_DISCOVERY_MODE: &str = "nvidia.com/dynamo-kube-discovery-mode";
/// Annotation of a graph: `false` in any case of letters opts out of Grove.
pub const ENABLE_GROVE: &str = "nvidia.com/enable-grove";
/// Annotation of a graph: `RollingRecreate` or `OnDelete`.
pub const GROVE_UPDATE_STRATEGY: &str = "nvidia.com/grove-update-strategy";
/// Annotation of a graph, owned by the controllers: what runs it, [`PROVIDER_COMPONENT`] or [`PROVIDER_GROVE`].
pub const WORKLOAD_PROVIDER: &str = "nvidia.com/workload-provider";
/// Annotation of a pod template: watts per GPU, a positive decimal integer.
pub const GPU_POWER_LIMIT: &str = "dynamo.nvidia.com/gpu-power-limit";

/// Value of [`WORKLOAD_PROVIDER`]: Deployments and `LeaderWorkerSets`.
pub const PROVIDER_COMPONENT: &str = "component";
/// Value of [`WORKLOAD_PROVIDER`]: Grove.
pub const PROVIDER_GROVE: &str = "grove";

/// Name of the container that runs a component.
pub const MAIN_CONTAINER: &str = "main";
/// Name of the container made from a v1alpha1 `frontendSidecar`.
pub const FRONTEND_SIDECAR_CONTAINER: &str = "sidecar-frontend";
/// Name of the planner's ServiceAccount, which may change replicas in any namespace.
pub const PLANNER_SERVICE_ACCOUNT: &str = "planner-serviceaccount";

/// The longest combined name of the objects that Grove makes, in bytes.
pub const GROVE_NAME_LIMIT: usize = 45;
/// Suffix of the leader's clique in names.
pub const LEADER_SUFFIX: &str = "ldr";
/// Suffix of the workers' clique in names.
pub const WORKER_SUFFIX: &str = "wkr";
/// Suffix of the clique of the GPU memory service in names.
pub const GPU_MEMORY_SUFFIX: &str = "gms";

/// Name of the role that leads a multinode component.
pub const LEADER_ROLE: &str = "leader";
/// Name of the role of the other nodes of a multinode component.
pub const WORKER_ROLE: &str = "worker";

/// The one `apiVersion` of a provider override.
pub const OVERRIDE_API_VERSION: &str = "grove.io/v1alpha1";
/// Resource name of a whole GPU.
pub const GPU_RESOURCE: &str = "nvidia.com/gpu";
/// The Dynamo namespace of components that use the global one.
pub const GLOBAL_DYNAMO_NAMESPACE: &str = "dynamo";

/// Annotation of a graph that holds the fields that the other version's spec doesn't have.
pub const GRAPH_SPEC_STASH: &str = "nvidia.com/dgd-spec";
/// Annotation of a graph that holds the fields that the other version's status doesn't have.
pub const GRAPH_STATUS_STASH: &str = "nvidia.com/dgd-status";
/// Annotation of a component that holds the fields that the other version's spec doesn't have.
pub const COMPONENT_SPEC_STASH: &str = "nvidia.com/dcd-spec";
/// Annotation of a component that holds the fields that the other version's status doesn't have.
pub const COMPONENT_STATUS_STASH: &str = "nvidia.com/dcd-status";
/// Annotation of a request that holds the fields that the other version's spec doesn't have.
pub const REQUEST_SPEC_STASH: &str = "nvidia.com/dgdr-spec";
/// Annotation of a request that holds the fields that the other version's status doesn't have.
pub const REQUEST_STATUS_STASH: &str = "nvidia.com/dgdr-status";
