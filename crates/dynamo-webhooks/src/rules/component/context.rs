//! What the rules of components judge, and what they know beside it.

use dynamo_api::v1beta1::{ComponentSpec, ComponentType};
use gateward::{FieldPath, Operation, Rule};

use super::pod_view::Pod;
use crate::operator::facts::ClusterFacts;
use crate::operator::principals::ScalePermission;
use crate::rules::grove::WorkloadBackend;
use crate::rules::provider_override::OverrideLocation;

/// The DynamoGraphDeployment or DynamoComponentDeployment of a component, as far as rules of components depend on it.
#[derive(Debug, Clone)]
pub(crate) struct DeploymentContext<'a> {
    /// Its kind.
    pub kind: DeploymentKind,
    /// What runs its pods; [`WorkloadBackend::Component`] for a DynamoComponentDeployment.
    pub workload_backend: WorkloadBackend,
    /// The value of its workload provider annotation, if it has one.
    pub provider: Option<&'a str>,
    /// The version that the user wrote.
    pub source_version: SourceVersion,
    /// The cluster and the configuration.
    pub facts: &'a ClusterFacts,
    /// Whether the cluster serves the API of `InferencePool`.
    pub inference_pool: InferencePool,
    /// Whether the user may change replicas that a scaling adapter owns.
    pub scale_permission: ScalePermission,
}

impl DeploymentContext<'_> {
    /// The location of a provider override that would be at `location` in a graph.
    pub(super) fn override_location<'p>(&self, location: OverrideLocation<'p>) -> OverrideLocation<'p> {
        match self.kind {
            DeploymentKind::Graph => location,
            DeploymentKind::Component => OverrideLocation::Standalone,
        }
    }
}

/// The kind of the object that holds the component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeploymentKind {
    /// DynamoGraphDeployment.
    Graph,
    /// DynamoComponentDeployment.
    Component,
}

/// The version of the API in which the user sent the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SourceVersion {
    /// v1beta1: all rules run on it.
    V1beta1,
    /// v1alpha1: rules whose fields exist there in another form run on the object as written instead.
    V1alpha1,
}

/// Whether the cluster serves the API of `InferencePool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InferencePool {
    /// The cluster serves it.
    Served,
    /// The cluster doesn't serve it.
    Absent,
    /// There is no cluster to look it up in.
    NotEvaluated,
    /// No rule needs it.
    NotNeeded,
}

/// The operation on the object that holds the component.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ComponentOperation<'a> {
    /// The object is created.
    Create,
    /// The object is updated; with the old component, if there was one of this name.
    Update(Option<&'a ComponentSpec>),
}

/// A component with its path and the deployment that holds it.
pub(super) struct ComponentContext<'a> {
    pub component: &'a ComponentSpec,
    pub pod: Pod<'a>,
    pub at: &'a FieldPath,
    pub deployment: &'a DeploymentContext<'a>,
}

impl ComponentContext<'_> {
    pub fn is_worker_class(&self) -> bool {
        self.component.component_type.as_ref().is_some_and(ComponentType::is_worker_class)
    }
}

/// An old and a new component, with the path of the new one.
pub(super) struct ComponentUpdate<'a> {
    pub old: &'a ComponentSpec,
    pub new: &'a ComponentSpec,
    pub at: &'a FieldPath,
}

/// The common part of rules on components: both kinds, both versions.
pub(super) const fn on_components(operations: &'static [Operation]) -> Rule {
    Rule {
        kinds: &["DynamoGraphDeployment", "DynamoComponentDeployment"],
        versions: &["v1alpha1", "v1beta1"],
        page: "docs/rule-book/component.md",
        ..Rule::on(operations)
    }
}
