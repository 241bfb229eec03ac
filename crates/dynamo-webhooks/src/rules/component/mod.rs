//! Rules of every component, in a DynamoGraphDeployment or in a DynamoComponentDeployment: section 9 of the rule book.

mod checkpoint;
mod context;
pub(crate) mod elastic;
mod epp;
mod failover;
mod gpu;
mod gpu_memory;
mod multinode;
mod placement;
mod pod;
pub(crate) mod pod_view;
pub(crate) mod roles;
pub(crate) mod runtime;
mod scaling;

use dynamo_api::v1beta1::{ComponentSpec, Experimental};
use gateward::{FieldPath, Issues, Rule};

use crate::rules::provider_override::{self, OverrideLocation};
use context::{ComponentContext, ComponentUpdate};
use pod_view::Pod;
use runtime::Runtime;

pub(crate) use context::{ComponentOperation, DeploymentContext, DeploymentKind, InferencePool, SourceVersion};

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
