//! DynamoComponentDeployment, and what it shares with the services of a graph.

use std::collections::BTreeMap;

use gateward::json::inline;
use serde::{Deserialize, Deserializer, Serialize};

use super::service::{
    Autoscaling, Checkpoint, ExtraPodMetadata, Failover, FrontendSidecar, GpuMemoryService, Ingress, Resources,
    ScalingAdapter, SharedMemory, VolumeMount,
};
use crate::Raw;
use crate::meta::Condition;
use crate::parts::{
    BackendFramework, ComponentKind, ComponentRole, EppConfig, ModelReference, Multinode, ProviderOverride,
    TopologyConstraint,
};
use crate::pod::{EnvVar, ExtraPodSpec, Probe};
use crate::wire::{self, Part};

kind! {
    /// One component of an inference graph, deployed on its own.
    pub struct DynamoComponentDeployment in "v1alpha1" as "dynamocomponentdeployments" {
        /// The component as it shall be.
        spec: DynamoComponentDeploymentSpec,
        /// The component as it is.
        status: DynamoComponentDeploymentStatus,
    }
}

/// A component with its inference engine; the members of [`ComponentSpec`] stand on the same level.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DynamoComponentDeploymentSpec {
    /// Inference engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend_framework: Option<BackendFramework>,
    /// The component.
    #[serde(flatten)]
    pub component: ComponentSpec,
}

impl<'de> Deserialize<'de> for DynamoComponentDeploymentSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (backend_framework, component) = inline::read(deserializer, "backendFramework")?;
        let backend_framework = backend_framework.filter(|name: &BackendFramework| !name.is_unset());
        Ok(Self { backend_framework, component })
    }
}

impl wire::Member for DynamoComponentDeploymentSpec {}

object! {
    /// A component: a value of a graph's `services`, or the spec of a DynamoComponentDeployment.
    pub struct ComponentSpec {
        /// Annotations of the objects made for the component.
        pub annotations: BTreeMap<String, String>,
        /// Labels of the objects made for the component.
        pub labels: BTreeMap<String, String>,
        /// Name of the component.
        pub service_name: String,
        /// What the component does in the graph; any text.
        pub component_type: String,
        /// What the component does in detail, for example `prefill`; any text.
        pub sub_component_type: String,
        /// Version of the Dynamo runtime, where the image's tag doesn't say it.
        pub runtime_version_override: String,
        /// Ignored; deprecated.
        pub dynamo_namespace: Option<String>,
        /// Whether the component lives in the global Dynamo namespace.
        pub global_dynamo_namespace: bool,
        /// CPU, memory and GPUs of the main container.
        pub resources: Option<Resources>,
        /// Ignored; deprecated.
        pub autoscaling: Option<Autoscaling>,
        /// Environment variables of the main container.
        pub envs: Vec<Raw<EnvVar>>,
        /// Name of a Secret whose keys become environment variables of the main container.
        pub env_from_secret: Option<String>,
        /// Volumes mounted in the main container.
        pub volume_mounts: Vec<VolumeMount>,
        /// How the component is reached from outside.
        pub ingress: Option<Ingress>,
        /// The model that the component serves.
        pub model_ref: Option<ModelReference>,
        /// Size of `/dev/shm`.
        pub shared_memory: Option<SharedMemory>,
        /// Labels and annotations of the pods.
        pub extra_pod_metadata: Option<ExtraPodMetadata>,
        /// Further members of the pods' spec, and what is laid over the main container.
        pub extra_pod_spec: Option<Raw<ExtraPodSpec>>,
        /// Liveness probe of the main container.
        pub liveness_probe: Option<Raw<Probe>>,
        /// Readiness probe of the main container.
        pub readiness_probe: Option<Raw<Probe>>,
        /// Wanted instances; owned by the scaling adapter where there is one.
        pub replicas: Option<i32>,
        /// Instances that must be scheduled together; only with Grove.
        pub min_available: Option<i32>,
        /// Spreads each instance over several nodes.
        pub multinode: Option<Multinode>,
        /// The named parts of an instance that make pods; an empty list is not the same as none.
        pub roles: Option<Vec<ComponentRole>>,
        /// What is changed in the provider's object of this component.
        pub provider_override: Option<ProviderOverride>,
        /// Puts replicas in the hands of a scaling adapter, where enabled.
        pub scaling_adapter: Option<ScalingAdapter>,
        /// Configuration of the endpoint picker written in Go.
        pub epp_config: Option<EppConfig>,
        /// A container beside the main one that takes requests.
        pub frontend_sidecar: Option<FrontendSidecar>,
        /// Snapshot and restore.
        pub checkpoint: Option<Checkpoint>,
        /// Where the pods of the component are packed together.
        pub topology_constraint: Option<TopologyConstraint>,
        /// Shares GPU memory between containers or pods.
        pub gpu_memory_service: Option<GpuMemoryService>,
        /// Engines in reserve; needs the GPU memory service in the same mode.
        pub failover: Option<Failover>,
    }
}

object! {
    /// A component as it is.
    pub struct DynamoComponentDeploymentStatus {
        /// The generation of the spec that was looked at.
        pub observed_generation: Option<i64>,
        /// Aspects of the component's state.
        // The schema requires the list, and it may be empty.
        pub conditions: Option<Vec<Condition>>,
        /// Labels of the component's pods.
        pub pod_selector: BTreeMap<String, String>,
        /// Replicas of the component.
        pub service: Option<ServiceReplicaStatus>,
    }
}

object! {
    /// Replicas of a component.
    pub struct ServiceReplicaStatus {
        /// What backs the component.
        pub component_kind: Option<ComponentKind>,
        /// Name of the newest backing object; deprecated.
        pub component_name: Option<String>,
        /// Names of the backing objects.
        pub component_names: Vec<String>,
        /// Dynamo namespace in effect.
        pub runtime_namespace: String,
        /// GPUs of one engine.
        pub gpus_per_engine: Option<i64>,
        /// GPUs that one more replica takes.
        pub gpus_per_replica: Option<i64>,
        /// All replicas.
        pub replicas: Option<i32>,
        /// Replicas of the current revision.
        pub updated_replicas: Option<i32>,
        /// Replicas that are ready.
        pub ready_replicas: Option<i32>,
        /// Replicas that have been ready long enough.
        pub available_replicas: Option<i32>,
        /// Replicas that have nodes; absent where it is not reported.
        pub scheduled_replicas: Option<i32>,
    }
}
