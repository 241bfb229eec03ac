//! Version v1beta1: the hub of conversion and the stored version.

mod component;
mod experimental;
mod graph;
mod request;
mod scaling_adapter;

pub use component::{
    CompilationCache, ComponentReplicaStatus, ComponentSpec, ComponentType, DynamoComponentDeployment,
    DynamoComponentDeploymentSpec, DynamoComponentDeploymentStatus, ScalingAdapter,
};
pub use experimental::{Checkpoint, Experimental, Failover, GpuMemoryService, Grove, PodMode};
pub use graph::{
    DynamoGraphDeployment, DynamoGraphDeploymentSpec, DynamoGraphDeploymentStatus, GraphTopologyConstraint,
    RollingUpdateStatus,
};
pub use request::{
    Backend, DeploymentInfo, DynamoGraphDeploymentRequest, DynamoGraphDeploymentRequestSpec,
    DynamoGraphDeploymentRequestStatus, Features, Hardware, KvRouter, Mocker, ModelCache, OptimizationType, Overrides,
    ParetoPoint, ProfilingPhase, ProfilingResults, RequestPhase, SearchStrategy, Sla, Workload,
};
pub use scaling_adapter::{
    ComponentReference, DynamoGraphDeploymentScalingAdapter, DynamoGraphDeploymentScalingAdapterSpec,
    DynamoGraphDeploymentScalingAdapterStatus,
};

pub use crate::meta::{Condition, ObjectMeta, OwnerReference};
pub use crate::parts::{
    BackendFramework, CheckpointDeletionPolicy, CheckpointIdentity, CheckpointJob, CheckpointMode,
    CheckpointStartupPolicy, ComponentCheckpointStatus, ComponentKind, ComponentRole, DeploymentState, Enforcement,
    EppConfig, GpuMemoryClientPod, GraphExperimental, KvTransferPolicy, ModelReference, Multinode, PlacementState,
    PlacementStatus, ProviderOverride, Restart, RestartStatus, RestartStrategy, RestartStrategyType,
    RollingUpdatePhase, TopologyConstraint,
};
