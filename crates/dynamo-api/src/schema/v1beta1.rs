//! Limits and defaults of v1beta1.

use serde_json::Value;

use super::node::SchemaCursor;
use super::rules::{
    CLIENT_CONTAINERS_INTRA_POD, CLIENT_PODS_INTER_POD, CLIENT_PODS_RESERVED, EPP_CONFIG_ONLY_FOR_EPP,
    EXECUTOR_BACKEND_IS_KNOWN, INIT_CONTAINERS_HAVE_IMAGES, NAMES_DIFFER_BEYOND_CASE, NEW_NAMES_DIFFER_BEYOND_CASE,
    NO_FURTHER_EPP, NO_RESTART_ON_CREATE, ONE_EPP_AT_MOST, ONE_EPP_CONFIG, SIDECARS_HAVE_IMAGES, TYPE_STAYS,
};
use super::types::Types;
use super::{Mismatch, parts};
use crate::v1beta1::{
    Checkpoint, CheckpointIdentity, CompilationCache, ComponentReference, ComponentReplicaStatus, ComponentSpec,
    DynamoComponentDeploymentSpec, DynamoComponentDeploymentStatus, DynamoGraphDeploymentRequestSpec,
    DynamoGraphDeploymentRequestStatus, DynamoGraphDeploymentScalingAdapterSpec,
    DynamoGraphDeploymentScalingAdapterStatus, DynamoGraphDeploymentSpec, DynamoGraphDeploymentStatus, EppConfig,
    Failover, GpuMemoryService, GraphTopologyConstraint, Hardware, ModelCache, ModelReference, Overrides, ParetoPoint,
    ProfilingResults, RollingUpdateStatus, Workload,
};

/// The name of a component.
const COMPONENT_NAME: &str = "^[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?$";
/// The greatest annotation that may take part in a CEL rule; larger ones don't fit into an object anyway.
const ANNOTATION_BYTES: u32 = 262_144;
/// GPUs that the profiler knows.
const GPU_SKUS: &[&str] = &[
    "vr_nvl72",
    "gb200",
    "gb200_sxm",
    "gb10",
    "b300_sxm",
    "b200_sxm",
    "h200_sxm",
    "h100_sxm",
    "h100_pcie",
    "a100_sxm",
    "a100_pcie",
    "a30",
    "l40s",
    "l40",
    "l4",
    "v100_sxm",
    "v100_pcie",
    "t4",
    "mi200",
    "mi300",
];

/// Spec and status of a DynamoGraphDeployment.
pub fn graph() -> Result<[Value; 2], Mismatch> {
    let mut types = Types::of::<DynamoGraphDeploymentSpec, DynamoGraphDeploymentStatus>();
    component(&mut types.edit::<ComponentSpec>());
    types.edit::<ComponentSpec>().required(&["name"]);
    component_parts(&mut types);
    parts::graph_parts(&mut types);

    let mut topology = types.edit::<GraphTopologyConstraint>();
    topology.required(&["clusterTopologyName"]).property("clusterTopologyName").min_length(1);
    topology.property("packDomain").pattern(parts::TOPOLOGY_DOMAIN);

    let mut spec = types.edit::<DynamoGraphDeploymentSpec>();
    let mut components = spec.property("components");
    components
        .max_items(25)
        .keyed_by(&["name"])
        .rule(&ONE_EPP_AT_MOST)
        .rule(&NO_FURTHER_EPP)
        .rule(&NAMES_DIFFER_BEYOND_CASE)
        .rule(&NEW_NAMES_DIFFER_BEYOND_CASE);
    spec.rule(&NO_RESTART_ON_CREATE);

    let mut status = types.edit::<DynamoGraphDeploymentStatus>();
    parts::graph_status(&mut status);
    status.property("conditions").keyed_by(&["type"]);
    replica_status(&mut types);
    parts::graph_status_parts(&mut types);
    parts::rolling_update(&mut types.edit::<RollingUpdateStatus>());
    parts::condition(&mut types);

    types.finish::<DynamoGraphDeploymentSpec, DynamoGraphDeploymentStatus>(|spec, _| {
        pod_template_rules(&mut spec.property("components").items());
    })
}

/// Spec and status of a DynamoComponentDeployment.
///
/// The name is filled in by defaulting, and there is no provider whose objects could be overridden.
pub fn component_deployment() -> Result<[Value; 2], Mismatch> {
    let mut types = Types::of::<DynamoComponentDeploymentSpec, DynamoComponentDeploymentStatus>();
    component(&mut types.edit::<DynamoComponentDeploymentSpec>());
    component_parts(&mut types);

    types.edit::<DynamoComponentDeploymentStatus>().property("conditions").keyed_by(&["type"]);
    replica_status(&mut types);
    parts::condition(&mut types);

    types.finish::<DynamoComponentDeploymentSpec, DynamoComponentDeploymentStatus>(|spec, _| {
        spec.remove("providerOverride");
        spec.property("roles").items().remove("providerOverride");
        pod_template_rules(spec);
    })
}

/// Spec and status of a DynamoGraphDeploymentScalingAdapter.
pub fn scaling_adapter() -> Result<[Value; 2], Mismatch> {
    let mut types = Types::of::<DynamoGraphDeploymentScalingAdapterSpec, DynamoGraphDeploymentScalingAdapterStatus>();
    let mut spec = types.edit::<DynamoGraphDeploymentScalingAdapterSpec>();
    spec.required(&["replicas", "dgdRef"]).property("replicas").minimum(0);

    let mut reference = types.edit::<ComponentReference>();
    reference.required(&["name", "componentName"]);
    reference.property("name").min_length(1);
    reference.property("componentName").min_length(1);

    let mut status = types.edit::<DynamoGraphDeploymentScalingAdapterStatus>();
    status.required(&["replicas"]).property("lastScaleTime").format("date-time");

    types.finish::<DynamoGraphDeploymentScalingAdapterSpec, DynamoGraphDeploymentScalingAdapterStatus>(|_, _| {})
}

/// Spec and status of a DynamoGraphDeploymentRequest.
pub fn request() -> Result<[Value; 2], Mismatch> {
    let mut types = Types::of::<DynamoGraphDeploymentRequestSpec, DynamoGraphDeploymentRequestStatus>();
    let mut spec = types.edit::<DynamoGraphDeploymentRequestSpec>();
    spec.required(&["model"]).property("model").min_length(1);
    spec.property("backend").default("auto");
    spec.property("runtimeVersionOverride").pattern(parts::RUNTIME_VERSION);
    spec.property("searchStrategy").default("rapid");
    spec.property("autoApply").default(true);

    types.edit::<ModelCache>().property("pvcMountPath").default("/opt/model-cache");
    types.edit::<Hardware>().property("gpuSku").one_of(GPU_SKUS);
    types.edit::<Workload>().property("isl").default(4000);
    types.edit::<Workload>().property("osl").default(1000);
    let mut overrides = types.edit::<Overrides>();
    overrides.property("trustRemoteCode").default(false);
    overrides.property("dgd").embedded_resource();

    types.edit::<DynamoGraphDeploymentRequestStatus>().property("conditions").keyed_by(&["type"]);
    types.edit::<ProfilingResults>().property("selectedConfig").atomic();
    types.edit::<ParetoPoint>().required(&["config"]);
    parts::condition(&mut types);

    types.finish::<DynamoGraphDeploymentRequestSpec, DynamoGraphDeploymentRequestStatus>(|_, _| {})
}

fn component(component: &mut SchemaCursor) {
    parts::component(component);
    component.property("name").length(1, 63).pattern(COMPONENT_NAME);
    component.rule(&EPP_CONFIG_ONLY_FOR_EPP).rule(&TYPE_STAYS);
}

fn component_parts(types: &mut Types) {
    parts::component_parts(types);
    types.edit::<ModelReference>().property("name").min_length(1);
    types.edit::<CheckpointIdentity>().property("model").min_length(1);
    types.edit::<EppConfig>().rule(&ONE_EPP_CONFIG);

    let mut cache = types.edit::<CompilationCache>();
    cache.required(&["pvcName"]).property("pvcName").min_length(1);

    let mut service = types.edit::<GpuMemoryService>();
    parts::gpu_memory_service(&mut service, "IntraPod");
    service.rule(&CLIENT_CONTAINERS_INTRA_POD).rule(&CLIENT_PODS_INTER_POD).rule(&CLIENT_PODS_RESERVED);

    let mut failover = types.edit::<Failover>();
    parts::failover(&mut failover, "IntraPod");
    failover.property("numShadows").maximum(1);

    let mut checkpoint = types.edit::<Checkpoint>();
    parts::checkpoint(&mut checkpoint);
    checkpoint.required(&["enabled"]);
}

fn replica_status(types: &mut Types) {
    let mut status = types.edit::<ComponentReplicaStatus>();
    parts::replica_status(&mut status, &["componentKind", "replicas", "updatedReplicas"]);
}

/// What holds for the pods of a component, but not for those of its roles.
fn pod_template_rules(component: &mut SchemaCursor) {
    let mut template = component.property("podTemplate");
    let mut metadata = template.property("metadata");
    let mut annotations = metadata.property("annotations");
    annotations.rule(&EXECUTOR_BACKEND_IS_KNOWN).values().max_length(ANNOTATION_BYTES);
    let mut pod = template.property("spec");
    pod.property("containers").items().rule(&SIDECARS_HAVE_IMAGES);
    pod.property("initContainers").items().rule(&INIT_CONTAINERS_HAVE_IMAGES);
}
