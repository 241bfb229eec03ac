//! Version v1alpha1: served, deprecated where v1beta1 exists.

mod component;
mod graph;
mod model;
mod request;
mod scaling_adapter;
mod service;
mod worker_metadata;

pub use component::{
    ComponentSpec, DynamoComponentDeployment, DynamoComponentDeploymentSpec, DynamoComponentDeploymentStatus,
    ServiceReplicaStatus,
};
pub use graph::{
    DynamoGraphDeployment, DynamoGraphDeploymentSpec, DynamoGraphDeploymentStatus, GraphTopologyConstraint, Pvc,
    RollingUpdateStatus,
};
pub use model::{DynamoModel, DynamoModelSpec, DynamoModelStatus, EndpointInfo, ModelSource, ModelType};
pub use request::{
    Backend, ConfigMapKey, DeploymentOverrides, DeploymentStatus, DynamoGraphDeploymentRequest,
    DynamoGraphDeploymentRequestSpec, DynamoGraphDeploymentRequestStatus, ProfilingConfig, RequestState,
};
pub use scaling_adapter::{
    DynamoGraphDeploymentScalingAdapter, DynamoGraphDeploymentScalingAdapterSpec,
    DynamoGraphDeploymentScalingAdapterStatus, ServiceReference,
};
pub use service::{
    Autoscaling, Checkpoint, ExtraPodMetadata, Failover, FrontendSidecar, GpuMemoryService, Ingress, IngressTls,
    PodMode, ResourceItem, Resources, ScalingAdapter, SharedMemory, VolumeMount,
};
pub use worker_metadata::{DynamoWorkerMetadata, DynamoWorkerMetadataSpec};

pub use crate::meta::{Condition, ObjectMeta, OwnerReference};
pub use crate::parts::{
    BackendFramework, CheckpointDeletionPolicy, CheckpointIdentity, CheckpointJob, CheckpointMode,
    CheckpointStartupPolicy, ComponentCheckpointStatus, ComponentKind, ComponentRole, DeploymentState, Enforcement,
    EppConfig, GpuMemoryClientPod, GraphExperimental, KvTransferPolicy, ModelReference, Multinode, PlacementState,
    PlacementStatus, ProviderOverride, Restart, RestartStatus, RestartStrategy, RestartStrategyType,
    RollingUpdatePhase, TopologyConstraint,
};
