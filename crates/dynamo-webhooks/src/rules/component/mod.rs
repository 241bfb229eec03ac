//! Rules of every component, in a DynamoGraphDeployment or in a DynamoComponentDeployment: section 9 of the rule book.

mod checkpoint;
pub(crate) mod elastic;
mod epp;
mod failover;
mod gpu;
mod gpu_memory;
mod multinode;
mod placement;
pub(crate) mod pod;
pub(crate) mod roles;
pub(crate) mod runtime;
mod scaling;

use dynamo_api::v1beta1::{ComponentSpec, ComponentType, Experimental};
use gateward::{FieldPath, Issues, Operation, Rule};

use crate::operator::facts::ClusterFacts;
use crate::operator::principals::ScalePermission;
use crate::rules::grove::WorkloadBackend;
use crate::rules::provider_override::{self, OverrideLocation};
use pod::Pod;
use runtime::Runtime;

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
    fn override_location<'p>(&self, location: OverrideLocation<'p>) -> OverrideLocation<'p> {
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

/// Validates a component by itself: section 9.1, with the runtime rules on creates. `at` is the component's path.
pub(crate) fn stateless(
    component: &ComponentSpec,
    at: &FieldPath,
    operation: ComponentOperation,
    deployment: &DeploymentContext,
    issues: &mut Issues,
) {
    let context = ComponentContext { component, pod: Pod::of(component), at, deployment };
    pod::readable(&context, issues);
    provider_override(&context, issues);
    placement::min_available(&context, issues);
    roles::stateless(&context, issues);
    pod::shared_memory(&context, issues);
    multinode::supported(&context, operation, issues);
    epp::stateless(&context, issues);
    pod::frontend_sidecar(&context, issues);
    if let Some(experimental) = &component.experimental {
        self::experimental(&context, experimental, issues);
    }
    if let (ComponentOperation::Create, SourceVersion::V1beta1, Some(runtime)) =
        (operation, deployment.source_version, Runtime::of(component))
    {
        runtime::on_create(&runtime, at, deployment.kind, issues);
    }
}

/// Validates the update of a component: section 9.2, with the runtime rules. `at` is the path of the new component.
pub(crate) fn update(
    old: &ComponentSpec,
    new: &ComponentSpec,
    at: &FieldPath,
    deployment: &DeploymentContext,
    issues: &mut Issues,
) {
    let change = ComponentUpdate { old, new, at };
    if let (old @ Some(_), new @ Some(_)) = (&old.provider_override, &new.provider_override) {
        provider_override::unchanged(old.as_ref(), new.as_ref(), &(at / "providerOverride"), issues);
    }
    if multinode::unchanged(&change, issues) {
        roles::spelling(&change, issues);
    }
    roles::unchanged(&change, issues);
    scaling::replicas(&change, deployment, issues);
    placement::topology_unchanged(&change, issues);
    gpu_memory::unchanged(&change, issues);
    failover::unchanged(&change, issues);
    placement::scaling_group_unchanged(&change, issues);
    if let (SourceVersion::V1beta1, Some(before), Some(after)) =
        (deployment.source_version, Runtime::of(old), Runtime::of(new))
    {
        runtime::on_update(&before, &after, at, deployment.kind, issues);
    }
}

/// What graphs and their components call otherwise in v1beta1 than in v1alpha1, or in the releases of early 2025.
pub(crate) const RENAMED_FIELDS: &[(&str, &str)] = &[
    ("services", "components"),
    ("componentType", "type"),
    ("envs", "env"),
    ("extraPodSpec", "podTemplate"),
    ("sharedMemory", "sharedMemorySize"),
    ("pvc", "volumeMounts"),
    ("enableFailover", "failover"),
];

/// The catalogue's entries.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    let parts = [
        placement::RULES,
        roles::RULES,
        pod::RULES,
        multinode::RULES,
        epp::RULES,
        gpu_memory::RULES,
        failover::RULES,
        checkpoint::RULES,
        scaling::RULES,
        runtime::RULES,
    ];
    parts.into_iter().flatten().copied()
}

/// A component with its path and the deployment that holds it.
struct ComponentContext<'a> {
    component: &'a ComponentSpec,
    pod: Pod<'a>,
    at: &'a FieldPath,
    deployment: &'a DeploymentContext<'a>,
}

impl ComponentContext<'_> {
    fn is_worker_class(&self) -> bool {
        self.component.component_type.as_ref().is_some_and(ComponentType::is_worker_class)
    }
}

/// An old and a new component, with the path of the new one.
struct ComponentUpdate<'a> {
    old: &'a ComponentSpec,
    new: &'a ComponentSpec,
    at: &'a FieldPath,
}

fn provider_override(context: &ComponentContext, issues: &mut Issues) {
    if let Some(overlay) = &context.component.provider_override {
        let (at, deployment) = (context.at / "providerOverride", context.deployment);
        let location = deployment.override_location(OverrideLocation::Component(context.component));
        provider_override::check(overlay, &at, location, deployment.provider, issues);
    }
}

fn experimental(context: &ComponentContext, experimental: &Experimental, issues: &mut Issues) {
    gpu_memory::stateless(context, experimental, issues);
    failover::stateless(context, experimental, issues);
    placement::forced_scaling_group(context, issues);
    checkpoint::stateless(context, experimental, issues);
}

/// The common part of rules on components: both kinds, both versions.
const fn on_components(operations: &'static [Operation]) -> Rule {
    Rule {
        kinds: &["DynamoGraphDeployment", "DynamoComponentDeployment"],
        versions: &["v1alpha1", "v1beta1"],
        page: "docs/rule-book/component.md",
        ..Rule::on(operations)
    }
}
