//! What a graph is given that leaves something out: DEF-01, DEF-02, DEF-04 to DEF-07.

use dynamo_api::constants::{ORIGIN_VERSION, PROVIDER_COMPONENT, PROVIDER_GROVE, WORKLOAD_PROVIDER};
use dynamo_api::v1beta1::{ComponentSpec, DynamoGraphDeployment, ProviderOverride};
use gateward::{Operation, Request};

use crate::operator::facts::ClusterFacts;
use crate::rules::component::roles;
use crate::rules::grove::WorkloadBackend;
use crate::rules::provider_override::{self, OverrideLocation, Target};

/// The graph with its defaults.
pub(crate) fn apply(graph: DynamoGraphDeployment, request: &Request) -> DynamoGraphDeployment {
    match request.operation {
        Some(Operation::Create) => created(graph, &ClusterFacts::of(request)),
        Some(Operation::Update) if !graph.metadata.is_terminating() => changed(graph),
        _ => graph,
    }
}

fn created(mut graph: DynamoGraphDeployment, facts: &ClusterFacts) -> DynamoGraphDeployment {
    let provider = match WorkloadBackend::intended(&graph.metadata.annotations, facts) {
        WorkloadBackend::Grove => PROVIDER_GROVE,
        WorkloadBackend::Component => PROVIDER_COMPONENT,
    };
    // Whatever the user sent: the provider is the operator's to choose.
    graph.metadata.annotations.insert(WORKLOAD_PROVIDER.into(), provider.into());
    let mut graph = changed(graph);
    let origin = graph.metadata.annotations.entry(ORIGIN_VERSION.into());
    origin.or_insert_with(|| facts.operator_version.clone());
    graph
}

/// What is filled in on every write, for the workload provider that is noted on the graph.
fn changed(mut graph: DynamoGraphDeployment) -> DynamoGraphDeployment {
    let provider = graph.metadata.annotation(WORKLOAD_PROVIDER).map(str::to_owned);
    let provider = provider.as_deref();
    set_target(graph.spec.provider_override.as_mut(), Some(Target::Set), provider);
    for component in &mut graph.spec.components {
        component.replicas.get_or_insert(1);
        roles::default_replicas(component.multinode.as_ref(), component.roles.as_mut());
        if provider == Some(PROVIDER_GROVE) {
            component.min_available.get_or_insert(1);
        }
        targets(component, provider);
    }
    graph
}

/// Fills in the targets of the overrides of a component and its roles.
fn targets(component: &mut ComponentSpec, provider: Option<&str>) {
    let own = Target::expected(OverrideLocation::Component(component));
    let of_roles: Vec<Option<Target>> = component
        .roles
        .iter()
        .flatten()
        .map(|role| Target::expected(OverrideLocation::Role(component, role)))
        .collect();
    set_target(component.provider_override.as_mut(), own, provider);
    for (role, target) in component.roles.iter_mut().flatten().zip(of_roles) {
        set_target(role.provider_override.as_mut(), target, provider);
    }
}

fn set_target(overlay: Option<&mut ProviderOverride>, expected: Option<Target>, provider: Option<&str>) {
    let Some(overlay) = overlay.filter(|overlay| overlay.target.is_empty()) else { return };
    if let Some(target) = expected.filter(|_| provider_override::is_resolvable(overlay, provider)) {
        overlay.target = target.as_str().into();
    }
}
