//! Admission of DynamoGraphDeployment: sections 7, 8 and 15 of the rule book.

mod annotations;
mod applies_to;
mod components;
pub(crate) mod defaults;
mod kv_transfer;
mod lookups;
mod power;
mod provider;
mod restart;
mod topology;
mod update;

use dynamo_api::constants::WORKLOAD_PROVIDER;
use dynamo_api::crds;
use dynamo_api::v1alpha1;
use dynamo_api::v1beta1::DynamoGraphDeployment;
use gateward::{Endpoint, FieldPath, Issues, Request, Rule, Validator, Verdict, Webhook, handler};

use crate::conversion::GraphConversion;
use crate::conversion::schemas::CrdSchemas;
use crate::operator::facts::ClusterFacts;
use crate::operator::principals::ScalePermission;
use crate::rules;
use crate::rules::component::{self, ComponentOperation, DeploymentContext, DeploymentKind, SourceVersion};
use crate::rules::grove::WorkloadBackend;
use crate::rules::provider_override::{self, OverrideLocation};
use applies_to::GRAPHS;
use lookups::Lookups;
use update::ComponentIndex;

const PRIORITY_NEEDS_GROVE: Rule = rule! {
    id: "DGD-47",
    summary: "only a graph that Grove runs has a priority class",
    ..GRAPHS
};

/// The kind with its webhooks.
pub(crate) fn kind() -> Webhook<DynamoGraphDeployment> {
    let validating = Endpoint::new()
        .name("vdynamographdeployment.kb.io")
        .path("/validate/nvidia.com/v1beta1/dynamographdeployments")
        .alias("/validate-nvidia-com-v1alpha1-dynamographdeployment");
    let mutating = Endpoint::new()
        .name("mdynamographdeployment.kb.io")
        .path("/mutate/nvidia.com/v1beta1/dynamographdeployments")
        .alias("/mutate-nvidia-com-v1alpha1-dynamographdeployment");
    Webhook::new()
        .spoke::<v1alpha1::DynamoGraphDeployment>(GraphConversion)
        .schemas(CrdSchemas::Graph)
        .validator(GraphValidator)
        .validating_at(validating)
        .defaulter(defaults::apply)
        .defaulter_for(rules::v1alpha1::defaults::apply)
        .mutating_at(mutating)
        .crd(crds::GRAPH_DEPLOYMENT.json)
        .renamed_fields(component::RENAMED_FIELDS)
        .rules(rules())
}

/// The catalogue's entries.
fn rules() -> impl Iterator<Item = &'static Rule> {
    let parts = [
        annotations::RULES,
        provider_override::RULES,
        &[&PRIORITY_NEEDS_GROVE],
        components::RULES,
        power::RULES,
        restart::RULES,
        topology::RULES,
        kv_transfer::RULES,
        provider::RULES,
        update::RULES,
    ];
    parts.into_iter().flatten().copied().chain(component::rules()).chain(rules::v1alpha1::graph::rules())
}

/// Judges graphs. A v1alpha1 graph comes lifted.
pub(crate) struct GraphValidator;

#[handler]
impl Validator<DynamoGraphDeployment> for GraphValidator {
    async fn create(&self, new: &DynamoGraphDeployment, request: &Request) -> Verdict {
        let facts = ClusterFacts::of(request);
        let lookups = Lookups::of(new, workload_backend(new, &facts), &facts).await;
        let deployment = deployment_context(new, request, &facts, &lookups);
        let mut issues = Issues::new();
        stateless(None, new, &deployment, &lookups, &mut issues);
        rules::v1alpha1::graph::stateless(new, request, &mut issues);
        lookups.verdict(issues)
    }

    /// Changes are judged only where the new object is sound by itself.
    async fn update(&self, old: &DynamoGraphDeployment, new: &DynamoGraphDeployment, request: &Request) -> Verdict {
        let facts = ClusterFacts::of(request);
        let mut issues = Issues::new();
        if new.metadata.is_terminating() {
            provider::check_update(old, new, request, &facts, &mut issues);
            return issues.into();
        }
        let lookups = Lookups::of(new, workload_backend(new, &facts), &facts).await;
        let deployment = deployment_context(new, request, &facts, &lookups);
        stateless(Some(old), new, &deployment, &lookups, &mut issues);
        rules::v1alpha1::graph::stateless(new, request, &mut issues);
        if !issues.has_errors() {
            provider::check_update(old, new, request, &facts, &mut issues);
            update::check(old, new, &deployment, &mut issues);
            rules::v1alpha1::graph::update(request, &mut issues);
        }
        lookups.verdict(issues)
    }
}

fn workload_backend(graph: &DynamoGraphDeployment, facts: &ClusterFacts) -> WorkloadBackend {
    WorkloadBackend::of(&graph.metadata.annotations, facts)
}

/// What the rules of components need to know of their graph.
fn deployment_context<'a>(
    graph: &'a DynamoGraphDeployment,
    request: &Request,
    facts: &'a ClusterFacts,
    lookups: &Lookups,
) -> DeploymentContext<'a> {
    let lifted = request.new_as_written::<v1alpha1::DynamoGraphDeployment>().is_some();
    DeploymentContext {
        kind: DeploymentKind::Graph,
        workload_backend: workload_backend(graph, facts),
        provider: graph.metadata.annotation(WORKLOAD_PROVIDER),
        source_version: if lifted { SourceVersion::V1alpha1 } else { SourceVersion::V1beta1 },
        facts,
        inference_pool: lookups.inference_pool,
        scale_permission: ScalePermission::of(request.username(), &facts.operator_principals),
    }
}

/// Judges a graph by itself: section 7.
fn stateless(
    old: Option<&DynamoGraphDeployment>,
    new: &DynamoGraphDeployment,
    deployment: &DeploymentContext,
    lookups: &Lookups,
    issues: &mut Issues,
) {
    annotations::check(new, issues);
    root_override(new, deployment, issues);
    priority_class(new, deployment, issues);
    components::some(old, new, issues);
    each_component(old, new, deployment, issues);
    restart::check(new, issues);
    topology::check(new, &lookups.packing, issues);
    kv_transfer::check(new, deployment.workload_backend, &lookups.transfer, issues);
}

fn root_override(graph: &DynamoGraphDeployment, deployment: &DeploymentContext, issues: &mut Issues) {
    if let Some(overlay) = &graph.spec.provider_override {
        let at = FieldPath::field("spec") / "providerOverride";
        provider_override::check(overlay, &at, OverrideLocation::Root, deployment.provider, issues);
    }
}

fn priority_class(graph: &DynamoGraphDeployment, deployment: &DeploymentContext, issues: &mut Issues) {
    if !graph.spec.priority_class_name.is_empty() && !deployment.workload_backend.is_grove() {
        let at = FieldPath::field("spec") / "priorityClassName";
        let issue = PRIORITY_NEEDS_GROVE.forbidden(at).message("may only be set for graphs that Grove runs");
        issues.add(issue.help("set the priority class in the pod templates instead"));
    }
}

fn each_component(
    old: Option<&DynamoGraphDeployment>,
    new: &DynamoGraphDeployment,
    deployment: &DeploymentContext,
    issues: &mut Issues,
) {
    let graph_context = components::GraphContext::of(new, deployment.workload_backend);
    let old_components = old.map(ComponentIndex::of);
    let components = FieldPath::field("spec") / "components";
    for (index, component) in new.spec.components.iter().enumerate() {
        let at = components.index(index);
        components::check(component, graph_context, &at, issues);
        let operation = match &old_components {
            Some(old_components) => ComponentOperation::Update(old_components.component(index, &component.name)),
            None => ComponentOperation::Create,
        };
        component::stateless(component, &at, operation, deployment, issues);
    }
}

#[cfg(test)]
mod tests;
