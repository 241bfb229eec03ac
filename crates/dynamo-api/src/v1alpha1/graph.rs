//! DynamoGraphDeployment.

use std::collections::BTreeMap;

use gateward::Bound;

use super::component::{ComponentSpec, ServiceReplicaStatus};
use crate::meta::Condition;
use crate::parts::{
    BackendFramework, ComponentCheckpointStatus, DeploymentState, GraphExperimental, PlacementStatus, ProviderOverride,
    Restart, RestartStatus, RollingUpdatePhase,
};
use crate::pod::EnvVar;
use crate::{Quantity, Raw};

const BOUNDS: &[Bound] =
    &[Bound { path: &["spec", "services"], most: 25 }, Bound { path: &["spec", "pvcs"], most: 100 }];

kind! {
    /// An inference graph: services that serve a model together.
    pub struct DynamoGraphDeployment in "v1alpha1" as "dynamographdeployments" with bounds BOUNDS, {
        /// The graph as it shall be.
        spec: DynamoGraphDeploymentSpec,
        /// The graph as it is.
        status: DynamoGraphDeploymentStatus,
    }
}

object! {
    /// A graph as it shall be.
    pub struct DynamoGraphDeploymentSpec {
        /// What is changed in the provider's root object.
        pub provider_override: Option<ProviderOverride>,
        /// Annotations of all objects made for the graph.
        pub annotations: BTreeMap<String, String>,
        /// Labels of all objects made for the graph.
        pub labels: BTreeMap<String, String>,
        /// Priority class of all pods; only with Grove.
        pub priority_class_name: String,
        /// Volumes that services mount.
        pub pvcs: Vec<Pvc>,
        /// The services by name; the API tells a `null` entry from none.
        pub services: BTreeMap<String, Option<ComponentSpec>>,
        /// Environment variables of every service, before its own.
        pub envs: Vec<Raw<EnvVar>>,
        /// Inference engine.
        pub backend_framework: Option<BackendFramework>,
        /// A wish to restart the services.
        pub restart: Option<Restart>,
        /// Where the pods of the graph are packed together.
        pub topology_constraint: Option<GraphTopologyConstraint>,
        /// Preview features.
        pub experimental: Option<GraphExperimental>,
    }
}

object! {
    /// A PersistentVolumeClaim that services mount.
    pub struct Pvc {
        /// Whether the operator makes it.
        pub create: Option<bool>,
        /// Name of the claim.
        pub name: Option<String>,
        /// Storage class, where it is made.
        pub storage_class: Option<String>,
        /// Size, where it is made.
        pub size: Option<Quantity>,
        /// Access mode, where it is made.
        pub volume_access_mode: Option<String>,
    }
}

object! {
    /// Where the pods of a graph are packed together.
    pub struct GraphTopologyConstraint {
        /// ClusterTopology that names the domains.
        pub topology_profile: String,
        /// Domain for services that name none.
        pub pack_domain: String,
    }
}

object! {
    /// A graph as it is.
    pub struct DynamoGraphDeploymentStatus {
        /// The generation of the spec that was looked at.
        pub observed_generation: Option<i64>,
        /// Where the deployment stands.
        pub state: Option<DeploymentState>,
        /// Aspects of the graph's state.
        pub conditions: Vec<Condition>,
        /// Replicas by service name.
        pub services: BTreeMap<String, ServiceReplicaStatus>,
        /// The restart that was last worked on.
        pub restart: Option<RestartStatus>,
        /// Checkpoints by service name.
        pub checkpoints: BTreeMap<String, ComponentCheckpointStatus>,
        /// The rolling update that was last worked on.
        pub rolling_update: Option<RollingUpdateStatus>,
        /// How well the pods were placed.
        pub placement: Option<PlacementStatus>,
    }
}

object! {
    /// A rolling update of a graph's workers.
    pub struct RollingUpdateStatus {
        /// Where the update stands.
        pub phase: Option<RollingUpdatePhase>,
        /// When it began, RFC 3339.
        pub start_time: Option<String>,
        /// When it ended, RFC 3339.
        pub end_time: Option<String>,
        /// Names of the services that are done.
        pub updated_services: Vec<String>,
    }
}
