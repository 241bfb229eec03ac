//! Where the pods of a graph are packed together: DGD-63 to DGD-69, DGD-78.

use dynamo_api::constants::{PROVIDER_GROVE, WORKLOAD_PROVIDER};
use dynamo_api::v1beta1::{ComponentSpec, DynamoGraphDeployment, GraphTopologyConstraint, ProviderOverride};
use gateward::{FieldPath, Issues, Rule, UPDATE};

use super::applies_to::GRAPHS;
use super::lookups::TopologyLookup;
use crate::rules::provider_override::{OverrideLocation, sets_topology};

const ONE_SOURCE: Rule = rule! {
    id: "DGD-63",
    good_of: "DGD-64",
    summary: "topology constraints stand in the graph or in provider overrides, not in both",
    ..GRAPHS
};

const GRAPH_FIRST: Rule = rule! {
    id: "DGD-64",
    summary: "a graph whose components have topology constraints has one itself",
    ..GRAPHS
};

const DOMAIN: Rule = rule! {
    id: "DGD-65",
    good_of: "DGD-64",
    summary: "a graph with a topology constraint names a domain, or one of its components does",
    ..GRAPHS
};

const EXISTS: Rule = rule! {
    id: "DGD-66",
    good_of: "DGD-64",
    summary: "the cluster has the topology that a graph's constraint names",
    help: "create the ClusterTopologyBinding first, or name one that exists: kubectl get clustertopologybindings",
    ..GRAPHS
};

const DOMAIN_IS_LEVEL: Rule = rule! {
    id: "DGD-67",
    good_of: "DGD-64",
    summary: "the domain of a graph's constraint is a level of the topology",
    ..GRAPHS
};

const COMPONENT_DOMAIN_IS_LEVEL: Rule = rule! {
    id: "DGD-68",
    good_of: "DGD-64",
    summary: "the domain of a component's constraint is a level of the topology",
    ..GRAPHS
};

const NOT_BROADER: Rule = rule! {
    id: "DGD-69",
    good_of: "DGD-64",
    summary: "the domain of a component's constraint is no broader than that of the graph",
    ..GRAPHS
};

const CONSTANT: Rule = rule! {
    id: "DGD-78",
    summary: "the topology constraint of a graph never changes",
    operations: UPDATE,
    ..GRAPHS
};

/// The catalogue's entries.
pub(super) const RULES: &[&Rule] = &[
    &ONE_SOURCE,
    &GRAPH_FIRST,
    &DOMAIN,
    &EXISTS,
    &DOMAIN_IS_LEVEL,
    &COMPONENT_DOMAIN_IS_LEVEL,
    &NOT_BROADER,
    &CONSTANT,
];

/// Judges the topology constraints of `graph`, given the topology that its own one names.
pub(super) fn check(graph: &DynamoGraphDeployment, topology: &TopologyLookup, issues: &mut Issues) {
    let of_components = graph.spec.components.iter().any(|component| component.topology_constraint.is_some());
    let own = graph.spec.topology_constraint.as_ref();
    if own.is_some() || of_components {
        overrides(graph, issues);
    }
    match own {
        Some(own) => {
            if own.pack_domain.is_empty() && !of_components {
                let issue = DOMAIN.required(path() / "packDomain").message("must be set here or at a component");
                issues.add(issue.help("name one here or at a component"));
            }
            within(own, graph, topology, issues);
        }
        None if of_components => issues.add(
            GRAPH_FIRST
                .required(path())
                .message("must be set if a component has a topology constraint")
                .help("name the cluster topology here"),
        ),
        None => {}
    }
}

fn path() -> FieldPath {
    FieldPath::field("spec") / "topologyConstraint"
}

/// Refuses overrides that lay another constraint over the typed ones (DGD-63).
fn overrides(graph: &DynamoGraphDeployment, issues: &mut Issues) {
    let provider = graph.metadata.annotation(WORKLOAD_PROVIDER);
    if provider != Some(PROVIDER_GROVE) {
        return;
    }
    let mut judge = |overlay: Option<&ProviderOverride>, place: OverrideLocation, at: &dyn Fn() -> FieldPath| {
        if overlay.is_some_and(|overlay| sets_topology(overlay, place, provider)) {
            let issue = ONE_SOURCE.forbidden(at() / "providerOverride" / "value");
            issues.add(
                issue.message("may not set a topology constraint if the graph has one").help("keep one of the two"),
            );
        }
    };
    judge(graph.spec.provider_override.as_ref(), OverrideLocation::Root, &|| FieldPath::field("spec"));
    for (index, component) in graph.spec.components.iter().enumerate() {
        judge(component.provider_override.as_ref(), OverrideLocation::Component(component), &|| component_path(index));
        for (role_index, role) in component.roles.iter().flatten().enumerate() {
            let at = || (component_path(index) / "roles").index(role_index);
            judge(role.provider_override.as_ref(), OverrideLocation::Role(component, role), &at);
        }
    }
}

/// Demands that every domain is a level of the topology (DGD-66 to DGD-69).
fn within(
    own: &GraphTopologyConstraint,
    graph: &DynamoGraphDeployment,
    topology: &TopologyLookup,
    issues: &mut Issues,
) {
    let name = || path() / "clusterTopologyName";
    let levels = match topology {
        TopologyLookup::NotNeeded => return,
        TopologyLookup::NotEvaluated => return issues.add(EXISTS.note(name(), NOT_EVALUATED)),
        TopologyLookup::Absent => {
            let issue = EXISTS.invalid(name(), own.cluster_topology_name.as_str());
            return issues.add(issue.message("the cluster has no ClusterTopologyBinding of this name"));
        }
        TopologyLookup::Known(levels) => levels,
    };
    let level = position(levels, &own.pack_domain);
    if level.is_none() && !own.pack_domain.is_empty() {
        issues.add(DOMAIN_IS_LEVEL.invalid(path() / "packDomain", own.pack_domain.as_str()).help(listed(levels)));
    }
    for (index, component) in graph.spec.components.iter().enumerate() {
        component_level(component, level, levels, || component_path(index), issues);
    }
}

/// Demands that the component's domain is a level, and none that is broader than the graph's.
fn component_level(
    component: &ComponentSpec,
    own: Option<usize>,
    levels: &[String],
    at: impl Fn() -> FieldPath,
    issues: &mut Issues,
) {
    let Some(constraint) = &component.topology_constraint else { return };
    let domain = constraint.pack_domain.as_str();
    let at = || at() / "topologyConstraint" / "packDomain";
    match (position(levels, domain), own) {
        (None, _) => issues.add(COMPONENT_DOMAIN_IS_LEVEL.invalid(at(), domain).help(listed(levels))),
        (Some(level), Some(own)) if level < own => {
            let issue = NOT_BROADER.invalid(at(), domain).message("may not be broader than the domain of the graph");
            issues.add(issue.help(format!("at least as narrow as {:?}", levels[own])));
        }
        _ => {}
    }
}

fn position(levels: &[String], domain: &str) -> Option<usize> {
    levels.iter().position(|level| level == domain)
}

/// What would be right, for a domain that is no level.
pub(super) fn listed(levels: &[String]) -> String {
    format!("the levels of the topology are {}", levels.join(", "))
}

/// The note where there is no cluster to ask.
pub(super) const NOT_EVALUATED: &str =
    "the cluster topology isn't looked up: nothing is known of a cluster here, so its levels aren't checked";

/// Demands that the graph's constraint stays as it is.
pub(super) fn check_update(old: &DynamoGraphDeployment, new: &DynamoGraphDeployment, issues: &mut Issues) {
    if old.spec.topology_constraint != new.spec.topology_constraint {
        let value = serde_json::to_value(&new.spec.topology_constraint).unwrap_or_default();
        let issue = CONSTANT.invalid(path(), value).message("field is immutable");
        issues.add(issue.help("delete the graph and recreate it"));
    }
}

fn component_path(index: usize) -> FieldPath {
    (FieldPath::field("spec") / "components").index(index)
}
