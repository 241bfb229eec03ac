//! What is demanded of every component, in a graph or on its own: section 9 of the rule book.

mod checkpoint;
pub(crate) mod elastic;
mod epp;
mod failover;
mod gpu;
mod gpu_memory;
mod multinode;
mod placement;
mod pod;
pub(crate) mod roles;
pub(crate) mod runtime;
mod scaling;
#[cfg(test)]
mod testing;

use dynamo_api::v1beta1::{ComponentSpec, ComponentType, Experimental};
use gateward_core::{FieldPath, Issues, Operation, Rule};

use crate::operator::facts::ClusterFacts;
use crate::operator::principals::MayScale;
use crate::rules::grove::Pathway;
use crate::rules::provider_override::{self, Place};
use pod::Pod;
use runtime::Runtime;

/// The object that a component belongs to, as far as rules of components depend on it.
#[derive(Debug, Clone)]
pub(crate) struct Owner<'a> {
    /// Its kind.
    pub kind: OwnerKind,
    /// What lays out its pods; [`Pathway::Plain`] for a DynamoComponentDeployment.
    pub pathway: Pathway,
    /// Value of its workload provider annotation, if it has one.
    pub provider: Option<&'a str>,
    /// The version that the user wrote.
    pub written: Written,
    /// The cluster and the configuration.
    pub facts: &'a ClusterFacts,
    /// What was learnt of the API of `InferencePool`.
    pub inference_pool: InferencePool,
    /// Whether the user may change replicas that a scaling adapter owns.
    pub may_scale: MayScale,
}

impl Owner<'_> {
    /// Where an override stands that would stand at `place` in a graph.
    fn place<'p>(&self, place: Place<'p>) -> Place<'p> {
        match self.kind {
            OwnerKind::Graph => place,
            OwnerKind::Component => Place::Standalone,
        }
    }
}

/// Which kind has the component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnerKind {
    /// DynamoGraphDeployment.
    Graph,
    /// DynamoComponentDeployment.
    Component,
}

/// The version that the user wrote, where that makes a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// v1beta1: all rules run on it.
    V1beta1,
    /// v1alpha1: rules whose fields exist there in another form run on the object as written instead.
    V1alpha1,
}

/// What was learnt of the API of `InferencePool`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InferencePool {
    /// The cluster serves it.
    Served,
    /// The cluster doesn't serve it.
    Absent,
    /// Nothing can be looked up.
    NotEvaluated,
    /// It makes no difference here.
    NotAsked,
}

/// What is being done to the owner.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Occasion<'a> {
    /// It is created.
    Create,
    /// It is changed; the component as it was, if there was one of this name.
    Update(Option<&'a ComponentSpec>),
}

/// Judges a component by itself: section 9.1, with the runtime rules on creates. `at` is the component's path.
pub(crate) fn stateless(
    component: &ComponentSpec,
    at: &FieldPath,
    occasion: Occasion,
    owner: &Owner,
    issues: &mut Issues,
) {
    let judged = Judged { component, pod: Pod::of(component), at, owner };
    pod::readable(&judged, issues);
    provider_override(&judged, issues);
    placement::min_available(&judged, issues);
    roles::stateless(&judged, issues);
    pod::shared_memory(&judged, issues);
    multinode::supported(&judged, occasion, issues);
    epp::stateless(&judged, issues);
    pod::frontend_sidecar(&judged, issues);
    if let Some(experimental) = &component.experimental {
        self::experimental(&judged, experimental, issues);
    }
    if let (Occasion::Create, Written::V1beta1, Some(runtime)) = (occasion, owner.written, Runtime::of(component)) {
        runtime::on_create(&runtime, at, owner.kind, issues);
    }
}

/// Judges the change of a component: section 9.2, with the runtime rules. `at` is the path of the new component.
pub(crate) fn update(old: &ComponentSpec, new: &ComponentSpec, at: &FieldPath, owner: &Owner, issues: &mut Issues) {
    let change = Change { old, new, at };
    if let (old @ Some(_), new @ Some(_)) = (&old.provider_override, &new.provider_override) {
        provider_override::unchanged(old.as_ref(), new.as_ref(), &(at / "providerOverride"), issues);
    }
    if multinode::unchanged(&change, issues) {
        roles::spelling(&change, issues);
    }
    roles::unchanged(&change, issues);
    scaling::replicas(&change, owner, issues);
    placement::topology_unchanged(&change, issues);
    gpu_memory::unchanged(&change, issues);
    failover::unchanged(&change, issues);
    placement::scaling_group_unchanged(&change, issues);
    if let (Written::V1beta1, Some(before), Some(after)) = (owner.written, Runtime::of(old), Runtime::of(new)) {
        runtime::on_update(&before, &after, at, owner.kind, issues);
    }
}

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

/// A component under judgement.
struct Judged<'a> {
    component: &'a ComponentSpec,
    pod: Pod<'a>,
    at: &'a FieldPath,
    owner: &'a Owner<'a>,
}

impl Judged<'_> {
    fn is_worker_class(&self) -> bool {
        self.component.component_type.as_ref().is_some_and(ComponentType::is_worker_class)
    }
}

/// A component before and after.
struct Change<'a> {
    old: &'a ComponentSpec,
    new: &'a ComponentSpec,
    at: &'a FieldPath,
}

fn provider_override(judged: &Judged, issues: &mut Issues) {
    if let Some(overlay) = &judged.component.provider_override {
        let (at, owner) = (judged.at / "providerOverride", judged.owner);
        let place = owner.place(Place::Component(judged.component));
        provider_override::check(overlay, &at, place, owner.provider, issues);
    }
}

fn experimental(judged: &Judged, experimental: &Experimental, issues: &mut Issues) {
    gpu_memory::stateless(judged, experimental, issues);
    failover::stateless(judged, experimental, issues);
    placement::forced_scaling_group(judged, issues);
    checkpoint::stateless(judged, experimental, issues);
}

/// The frame of a rule on components: both kinds, both versions.
const fn rule(operations: &'static [Operation]) -> Rule {
    Rule {
        kinds: &["DynamoGraphDeployment", "DynamoComponentDeployment"],
        versions: &["v1alpha1", "v1beta1"],
        ..Rule::on(operations)
    }
}
