//! DynamoComponentDeployment, and what it shares with the components of a graph.

use gateward::json::inline;
use serde::{Deserialize, Deserializer, Serialize};

use super::experimental::Experimental;
use crate::constants::MAIN_CONTAINER;
use crate::meta::Condition;
use crate::parts::{
    BackendFramework, ComponentKind, ComponentRole, EppConfig, ModelReference, Multinode, ProviderOverride,
    TopologyConstraint,
};
use crate::pod::{Container, PodTemplate};
use crate::wire::{self, Part};
use crate::{LenientView, Quantity, Raw};

kind! {
    /// One component of an inference graph, deployed on its own.
    pub struct DynamoComponentDeployment in "v1beta1" as "dynamocomponentdeployments" {
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
    /// A component: an item of a graph's `components`, or the spec of a DynamoComponentDeployment.
    pub struct ComponentSpec {
        /// Name of the component, unique in its graph whatever the case of letters.
        pub name: String,
        /// What the component does in the graph.
        #[serde(rename = "type")]
        pub component_type: Option<ComponentType>,
        /// Version of the Dynamo runtime, where the image's tag doesn't say it.
        pub runtime_version_override: String,
        /// Whether the component lives in the global Dynamo namespace.
        pub global_dynamo_namespace: bool,
        /// The component's pod; its main container is named `main`.
        pub pod_template: Option<Raw<PodTemplate>>,
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
        /// Size of `/dev/shm`; zero turns it off.
        pub shared_memory_size: Option<Quantity>,
        /// The model that the component serves.
        pub model_ref: Option<ModelReference>,
        /// Presence puts replicas in the hands of a scaling adapter.
        pub scaling_adapter: Option<ScalingAdapter>,
        /// Configuration of the endpoint picker written in Go.
        pub epp_config: Option<EppConfig>,
        /// Name of the container of the pod that is the frontend sidecar.
        pub frontend_sidecar: Option<String>,
        /// Volume that compiled kernels are kept on.
        pub compilation_cache: Option<CompilationCache>,
        /// Where the pods of the component are packed together.
        pub topology_constraint: Option<TopologyConstraint>,
        /// Preview features.
        pub experimental: Option<Experimental>,
    }
}

impl ComponentSpec {
    /// What can be read of the pod; `None` where there is none, or where nothing of it can be read.
    pub fn pod(&self) -> Option<LenientView<'_, PodTemplate>> {
        self.pod_template.as_ref()?.lenient_view()
    }

    /// The container that runs the component, with its place in the list.
    pub fn main_container(&self) -> Option<(usize, &Container)> {
        self.pod()?.value.spec.container(MAIN_CONTAINER)
    }
}

string_enum! {
    /// What a component does in its graph.
    pub enum ComponentType {
        /// Takes the requests.
        Frontend = "frontend",
        /// Does inference.
        Worker = "worker",
        /// Does the prefill half of inference.
        Prefill = "prefill",
        /// Does the decode half of inference.
        Decode = "decode",
        /// Scales the graph.
        Planner = "planner",
        /// Picks endpoints for a gateway.
        Epp = "epp",
    }
}

impl ComponentType {
    /// Whether the component does inference: worker, prefill or decode.
    pub fn is_worker_class(&self) -> bool {
        matches!(self, Self::Worker | Self::Prefill | Self::Decode)
    }
}

object! {
    /// Its presence alone puts replicas in the hands of a scaling adapter.
    pub struct ScalingAdapter {}
}

object! {
    /// Volume that compiled kernels are kept on.
    pub struct CompilationCache {
        /// Name of a PersistentVolumeClaim.
        pub pvc_name: Option<String>,
        /// Where it is mounted.
        pub mount_path: String,
    }
}

object! {
    /// A component as it is.
    pub struct DynamoComponentDeploymentStatus {
        /// The generation of the spec that was looked at.
        pub observed_generation: Option<i64>,
        /// Aspects of the component's state.
        pub conditions: Vec<Condition>,
        /// Replicas of the component.
        pub component: Option<ComponentReplicaStatus>,
    }
}

object! {
    /// Replicas of a component.
    pub struct ComponentReplicaStatus {
        /// What backs the component.
        pub component_kind: Option<ComponentKind>,
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
