//! Limits and defaults of v1alpha1.

use serde_json::Value;

use super::node::SchemaCursor;
use super::rules::{
    ALPHA_CLIENT_CONTAINERS_INTRA_POD, ALPHA_CLIENT_PODS_INTER_POD, CLIENT_PODS_RESERVED, COMPONENT_TYPE_STAYS,
    CREATED_PVC_IS_COMPLETE, NO_RESTART_ON_CREATE, SHARED_MEMORY_SIZE,
};
use super::types::Types;
use super::{Mismatch, parts};
use crate::v1alpha1::{
    Autoscaling, Checkpoint, ComponentSpec, ConfigMapKey, DeploymentStatus, DynamoComponentDeploymentSpec,
    DynamoComponentDeploymentStatus, DynamoGraphDeploymentRequestSpec, DynamoGraphDeploymentRequestStatus,
    DynamoGraphDeploymentScalingAdapterSpec, DynamoGraphDeploymentScalingAdapterStatus, DynamoGraphDeploymentSpec,
    DynamoGraphDeploymentStatus, DynamoModelSpec, DynamoModelStatus, DynamoWorkerMetadataSpec, EndpointInfo, Failover,
    FrontendSidecar, GpuMemoryService, GraphTopologyConstraint, ModelSource, Multinode, ProfilingConfig, Pvc,
    RollingUpdateStatus, ScalingAdapter, ServiceReference, ServiceReplicaStatus, SharedMemory, VolumeMount,
};

/// Spec and status of a DynamoGraphDeployment.
pub fn graph() -> Result<[Value; 2], Mismatch> {
    let mut types = Types::of::<DynamoGraphDeploymentSpec, DynamoGraphDeploymentStatus>();
    component(&mut types.edit::<ComponentSpec>());
    component_parts(&mut types);
    parts::graph_parts(&mut types);
    types.edit::<Pvc>().required(&["name"]).rule(&CREATED_PVC_IS_COMPLETE);

    let mut topology = types.edit::<GraphTopologyConstraint>();
    topology.required(&["topologyProfile"]).property("topologyProfile").min_length(1);
    topology.property("packDomain").pattern(parts::TOPOLOGY_DOMAIN);

    let mut spec = types.edit::<DynamoGraphDeploymentSpec>();
    spec.property("services").max_properties(25);
    spec.property("pvcs").max_items(100);
    spec.rule(&NO_RESTART_ON_CREATE);

    parts::graph_status(&mut types.edit::<DynamoGraphDeploymentStatus>());
    replica_status(&mut types);
    parts::graph_status_parts(&mut types);
    parts::rolling_update(&mut types.edit::<RollingUpdateStatus>());
    parts::condition(&mut types);

    types.finish::<DynamoGraphDeploymentSpec, DynamoGraphDeploymentStatus>(|_, _| {})
}

/// Spec and status of a DynamoComponentDeployment; there is no provider whose objects could be overridden.
pub fn component_deployment() -> Result<[Value; 2], Mismatch> {
    let mut types = Types::of::<DynamoComponentDeploymentSpec, DynamoComponentDeploymentStatus>();
    component(&mut types.edit::<DynamoComponentDeploymentSpec>());
    component_parts(&mut types);

    types.edit::<DynamoComponentDeploymentStatus>().required(&["conditions"]);
    replica_status(&mut types);
    parts::condition(&mut types);

    types.finish::<DynamoComponentDeploymentSpec, DynamoComponentDeploymentStatus>(|spec, _| {
        spec.remove("providerOverride");
        spec.property("roles").items().remove("providerOverride");
    })
}

/// Spec and status of a DynamoGraphDeploymentScalingAdapter.
pub fn scaling_adapter() -> Result<[Value; 2], Mismatch> {
    let mut types = Types::of::<DynamoGraphDeploymentScalingAdapterSpec, DynamoGraphDeploymentScalingAdapterStatus>();
    let mut spec = types.edit::<DynamoGraphDeploymentScalingAdapterSpec>();
    spec.required(&["replicas", "dgdRef"]).property("replicas").minimum(0);

    let mut reference = types.edit::<ServiceReference>();
    reference.required(&["name", "serviceName"]);
    reference.property("name").min_length(1);
    reference.property("serviceName").min_length(1);

    types.edit::<DynamoGraphDeploymentScalingAdapterStatus>().property("lastScaleTime").format("date-time");

    types.finish::<DynamoGraphDeploymentScalingAdapterSpec, DynamoGraphDeploymentScalingAdapterStatus>(|_, _| {})
}

/// Spec and status of a DynamoGraphDeploymentRequest.
pub fn request() -> Result<[Value; 2], Mismatch> {
    let mut types = Types::of::<DynamoGraphDeploymentRequestSpec, DynamoGraphDeploymentRequestStatus>();
    let mut spec = types.edit::<DynamoGraphDeploymentRequestSpec>();
    spec.required(&["model", "backend", "profilingConfig"]);
    spec.property("useMocker").default(false);
    spec.property("runtimeVersionOverride").pattern(parts::RUNTIME_VERSION);
    spec.property("enableGpuDiscovery").default(true);
    spec.property("autoApply").default(false);

    types.edit::<ProfilingConfig>().required(&["profilerImage"]);
    types.edit::<ConfigMapKey>().required(&["name"]).property("key").default("disagg.yaml");

    let mut status = types.edit::<DynamoGraphDeploymentRequestStatus>();
    status.required(&["state"]).property("state").default("Initializing");
    status.property("generatedDeployment").embedded_resource().atomic();
    types.edit::<DeploymentStatus>().required(&["state"]).property("state").default("initializing");
    parts::condition(&mut types);

    types.finish::<DynamoGraphDeploymentRequestSpec, DynamoGraphDeploymentRequestStatus>(|_, _| {})
}

/// Spec and status of a DynamoModel.
pub fn model() -> Result<[Value; 2], Mismatch> {
    let mut types = Types::of::<DynamoModelSpec, DynamoModelStatus>();
    let mut spec = types.edit::<DynamoModelSpec>();
    spec.required(&["modelName", "baseModelName"]).property("modelType").default("base");
    types.edit::<ModelSource>().required(&["uri"]);

    let mut status = types.edit::<DynamoModelStatus>();
    status.required(&["readyEndpoints", "totalEndpoints"]);
    for count in ["readyEndpoints", "loraFallbackCoveredEndpoints", "totalEndpoints"] {
        status.property(count).any_width();
    }
    types.edit::<EndpointInfo>().required(&["address", "ready"]);
    parts::condition(&mut types);

    types.finish::<DynamoModelSpec, DynamoModelStatus>(|_, _| {})
}

/// Spec of a DynamoWorkerMetadata.
pub fn worker_metadata() -> Result<[Value; 1], Mismatch> {
    let mut types = Types::of::<DynamoWorkerMetadataSpec, DynamoWorkerMetadataSpec>();
    types.edit::<DynamoWorkerMetadataSpec>().required(&["data"]).property("data").atomic();
    let [spec, _] = types.finish::<DynamoWorkerMetadataSpec, DynamoWorkerMetadataSpec>(|_, _| {})?;
    Ok([spec])
}

fn component(component: &mut SchemaCursor) {
    parts::component(component);
    component.rule(&COMPONENT_TYPE_STAYS);
}

fn component_parts(types: &mut Types) {
    parts::component_parts(types);
    types.edit::<Multinode>().required(&["nodeCount"]);
    types.edit::<FrontendSidecar>().required(&["image"]);
    types.edit::<SharedMemory>().rule(&SHARED_MEMORY_SIZE);
    types.edit::<ScalingAdapter>().property("enabled").default(false);

    let mut mount = types.edit::<VolumeMount>();
    mount.required(&["name"]).property("useAsCompilationCache").default(false);

    let mut autoscaling = types.edit::<Autoscaling>();
    autoscaling.property("minReplicas").any_width();
    autoscaling.property("maxReplicas").any_width();

    let mut service = types.edit::<GpuMemoryService>();
    parts::gpu_memory_service(&mut service, "intraPod");
    service.required(&["enabled"]);
    service.rule(&ALPHA_CLIENT_CONTAINERS_INTRA_POD).rule(&ALPHA_CLIENT_PODS_INTER_POD).rule(&CLIENT_PODS_RESERVED);

    let mut failover = types.edit::<Failover>();
    parts::failover(&mut failover, "intraPod");
    failover.required(&["enabled"]);

    let mut checkpoint = types.edit::<Checkpoint>();
    parts::checkpoint(&mut checkpoint);
    checkpoint.property("enabled").default(false);
}

fn replica_status(types: &mut Types) {
    let mut status = types.edit::<ServiceReplicaStatus>();
    parts::replica_status(&mut status, &["componentKind", "componentName", "replicas", "updatedReplicas"]);
}
