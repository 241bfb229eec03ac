//! DynamoGraphDeployment.

use std::collections::BTreeMap;

use gateward::Bound;
use serde::{Serialize, Serializer};

use super::component::{ComponentReplicaStatus, ComponentSpec};
use crate::Raw;
use crate::meta::Condition;
use crate::parts::{
    BackendFramework, ComponentCheckpointStatus, DeploymentState, GraphExperimental, PlacementStatus, ProviderOverride,
    Restart, RestartStatus, RollingUpdatePhase,
};
use crate::pod::EnvVar;

const BOUNDS: &[Bound] = &[Bound { path: &["spec", "components"], most: 25 }];

kind! {
    /// An inference graph: components that serve a model together.
    pub struct DynamoGraphDeployment in "v1beta1" as "dynamographdeployments" with bounds BOUNDS, {
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
        /// The components.
        #[serde(serialize_with = "named")]
        pub components: Vec<ComponentSpec>,
        /// Environment variables of every component, before its own.
        pub env: Vec<Raw<EnvVar>>,
        /// Inference engine.
        pub backend_framework: Option<BackendFramework>,
        /// A wish to restart the components.
        pub restart: Option<Restart>,
        /// Where the pods of the graph are packed together.
        pub topology_constraint: Option<GraphTopologyConstraint>,
        /// Preview features.
        pub experimental: Option<GraphExperimental>,
    }
}

/// Writes each component with its name, an empty one too: an API server that finds an item of the list without its key
/// refuses every update of the object, also one that only removes a finalizer.
fn named<S: Serializer>(components: &[ComponentSpec], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Named<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'static str>,
        #[serde(flatten)]
        component: &'a ComponentSpec,
    }
    serializer.collect_seq(
        components.iter().map(|component| Named { name: component.name.is_empty().then_some(""), component }),
    )
}

object! {
    /// Where the pods of a graph are packed together.
    pub struct GraphTopologyConstraint {
        /// ClusterTopology that names the domains.
        pub cluster_topology_name: String,
        /// Domain for components that name none.
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
        /// Replicas by component name.
        pub components: BTreeMap<String, ComponentReplicaStatus>,
        /// The restart that was last worked on.
        pub restart: Option<RestartStatus>,
        /// Checkpoints by component name.
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
        /// Names of the components that are done.
        pub updated_components: Vec<String>,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::DynamoGraphDeploymentSpec;

    #[test]
    fn a_component_is_written_with_its_name_though_it_is_empty() {
        let spec = json!({"components": [{"type": "worker"}, {"name": "decode"}]});
        let read: DynamoGraphDeploymentSpec = serde_json::from_value(spec).unwrap();
        let written: Value = serde_json::to_value(&read).unwrap();
        assert_eq!(written, json!({"components": [{"name": "", "type": "worker"}, {"name": "decode"}]}));
    }
}
