//! Limits and defaults of what has the same shape in both versions.

use super::node::SchemaCursor;
use super::rules::{
    JOB_OR_CHECKPOINT, LABEL_KEY_PREFIX_LENGTH, MIN_AVAILABLE_STAYS, MIN_AVAILABLE_WITHIN_REPLICAS,
    ONE_TOPOLOGY_SOURCE, PREFERENCE_NEEDS_WEIGHT, WEIGHT_NEEDS_PREFERENCE,
};
use super::types::Types;
use crate::meta::Condition;
use crate::parts::{
    CheckpointIdentity, CheckpointJob, ComponentRole, GpuMemoryClientPod, KvTransferPolicy, ModelReference, Multinode,
    PlacementStatus, ProviderOverride, Restart, RestartStrategy, TopologyConstraint,
};

/// A version of the runtime: three numbers of at most four digits.
pub const RUNTIME_VERSION: &str = r"^(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})$";
/// A DNS label.
pub const DNS_LABEL: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
/// The name of a topology domain.
pub const TOPOLOGY_DOMAIN: &str = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$";
/// A label key, with an optional prefix.
const LABEL_KEY: &str = concat!(
    r"^(([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*/)?",
    "([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$",
);
/// The reason of a condition.
const CONDITION_REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
/// The type of a condition.
const CONDITION_TYPE: &str = concat!(
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?",
    "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
);
/// Inference engines of a checkpoint's identity, in the order that the API lists them there.
const IDENTITY_FRAMEWORKS: &[&str] = &["vllm", "sglang", "trtllm"];

/// The name of a container or a role.
pub fn dns_label(name: &mut SchemaCursor) {
    name.length(1, 63).pattern(DNS_LABEL);
}

/// Constraints on members of components that both versions have.
pub fn component(component: &mut SchemaCursor) {
    component.property("runtimeVersionOverride").pattern(RUNTIME_VERSION);
    component.property("replicas").minimum(0);
    component.property("minAvailable").minimum(1);
    component.property("roles").keyed_by(&["name"]);
    component.rule(&MIN_AVAILABLE_WITHIN_REPLICAS).rule(&MIN_AVAILABLE_STAYS);
}

/// Types used in components.
pub fn component_parts(types: &mut Types) {
    types.edit::<Multinode>().property("nodeCount").minimum(2).default(2);
    types.edit::<ModelReference>().required(&["name"]);

    let mut role = types.edit::<ComponentRole>();
    role.required(&["name"]);
    dns_label(&mut role.property("name"));
    role.property("replicas").minimum(1);

    let mut topology = types.edit::<TopologyConstraint>();
    topology.required(&["packDomain"]).property("packDomain").pattern(TOPOLOGY_DOMAIN);

    let mut provider = types.edit::<ProviderOverride>();
    provider.required(&["apiVersion", "value"]).property("apiVersion").min_length(1);

    checkpoint_parts(types);
}

fn checkpoint_parts(types: &mut Types) {
    let mut pod = types.edit::<GpuMemoryClientPod>();
    pod.required(&["name", "podTemplate"]);
    dns_label(&mut pod.property("name"));

    let mut job = types.edit::<CheckpointJob>();
    dns_label(&mut job.property("gmsClientContainers").unique().items());

    let mut identity = types.edit::<CheckpointIdentity>();
    identity.required(&["model", "backendFramework"]);
    identity.property("backendFramework").one_of(IDENTITY_FRAMEWORKS);
    identity.property("tensorParallelSize").minimum(1).default(1);
    identity.property("pipelineParallelSize").minimum(1).default(1);
    identity.property("maxModelLen").minimum(1);
}

/// The block of snapshot and restore.
pub fn checkpoint(checkpoint: &mut SchemaCursor) {
    checkpoint.property("startupPolicy").default("Immediate");
    checkpoint.property("deletionPolicy").default("Delete");
    dns_label(checkpoint.property("targetContainerName").default("main"));
    checkpoint.rule(&JOB_OR_CHECKPOINT);
}

/// The block of the GPU memory service.
pub fn gpu_memory_service(service: &mut SchemaCursor, default_mode: &str) {
    service.property("mode").default(default_mode);
    service.property("deviceClassName").default("gpu.nvidia.com");
    dns_label(&mut service.property("extraClientContainers").unique().items());
    service.property("extraClientPods").keyed_by(&["name"]);
}

/// The block of failover.
pub fn failover(failover: &mut SchemaCursor, default_mode: &str) {
    failover.property("mode").default(default_mode);
    failover.property("numShadows").minimum(1).default(1);
}

/// Types used in graphs.
pub fn graph_parts(types: &mut Types) {
    types.edit::<Restart>().required(&["id"]).property("id").min_length(1);
    types.edit::<RestartStrategy>().property("type").default("Sequential");

    let mut policy = types.edit::<KvTransferPolicy>();
    policy.required(&["domain"]).property("domain").pattern(TOPOLOGY_DOMAIN);
    policy.property("clusterTopologyName").min_length(1);
    policy.property("labelKey").length(1, 317).pattern(LABEL_KEY).rule(&LABEL_KEY_PREFIX_LENGTH);
    policy.property("enforcement").default("required");
    policy.property("preferredWeight").minimum(0).maximum(1);
    policy.rule(&ONE_TOPOLOGY_SOURCE).rule(&PREFERENCE_NEEDS_WEIGHT).rule(&WEIGHT_NEEDS_PREFERENCE);
}

/// Constraints on the status of a graph in both versions.
pub fn graph_status(status: &mut SchemaCursor) {
    status.required(&["state"]).property("state").default("initializing");
}

/// Types used in the status of a graph.
pub fn graph_status_parts(types: &mut Types) {
    types.edit::<PlacementStatus>().property("score").minimum(0).maximum(1);
}

/// A rolling update; the API takes an empty phase for none.
pub fn rolling_update(update: &mut SchemaCursor) {
    update.property("phase").one_of(&["Pending", "InProgress", "Completed", "Failed", ""]);
    update.property("startTime").format("date-time");
    update.property("endTime").format("date-time");
}

/// Replicas of a component.
pub fn replica_status(status: &mut SchemaCursor, required: &[&str]) {
    status.required(required);
    for count in [
        "gpusPerEngine",
        "gpusPerReplica",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "scheduledReplicas",
    ] {
        status.property(count).minimum(0);
    }
}

/// The conditions of any status.
pub fn condition(types: &mut Types) {
    let mut condition = types.edit::<Condition>();
    condition.required(&["lastTransitionTime", "message", "reason", "status", "type"]);
    condition.property("lastTransitionTime").format("date-time");
    condition.property("message").max_length(32_768);
    condition.property("observedGeneration").minimum(0);
    condition.property("reason").length(1, 1024).pattern(CONDITION_REASON);
    condition.property("status").one_of(&["True", "False", "Unknown"]);
    condition.property("type").max_length(316).pattern(CONDITION_TYPE);
}
