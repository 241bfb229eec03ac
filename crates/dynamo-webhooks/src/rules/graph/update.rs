//! Updates of a graph: section 8 of the rule book.

use std::collections::{BTreeSet, HashMap};

use dynamo_api::v1beta1::{BackendFramework, ComponentSpec, DynamoGraphDeployment};
use gateward::{FieldPath, Issues, Rule, UPDATE};

use super::applies_to::GRAPHS;
use super::{kv_transfer, power, restart, topology};
use crate::rules::component::{self, DeploymentContext};
use crate::rules::provider_override;

pub(super) const SAME_COMPONENTS: Rule = rule! {
    id: "DGD-74",
    summary: "components are neither added nor removed",
    operations: UPDATE,
    ..GRAPHS
};

const SAME_BACKEND: Rule = rule! {
    id: "DGD-77",
    good_of: "DGD-74",
    summary: "the inference engine of a graph never changes",
    help: "keep the inference engine, or create a graph of another name beside this one",
    operations: UPDATE,
    ..GRAPHS
};

/// The catalogue's entries.
pub(super) const RULES: &[&Rule] = &[&SAME_COMPONENTS, &SAME_BACKEND];

/// Validates the update of a graph that is not being deleted, but for its workload provider.
pub(super) fn check(
    old: &DynamoGraphDeployment,
    new: &DynamoGraphDeployment,
    deployment: &DeploymentContext,
    issues: &mut Issues,
) {
    let (before, after) = (old.spec.provider_override.as_ref(), new.spec.provider_override.as_ref());
    if before.is_some() && after.is_some() {
        provider_override::unchanged(before, after, &(FieldPath::field("spec") / "providerOverride"), issues);
    }
    component_set(old, new, issues);
    let old_components = ComponentIndex::of(old);
    let components = FieldPath::field("spec") / "components";
    for (index, component) in new.spec.components.iter().enumerate() {
        if let Some(old) = old_components.component(index, &component.name) {
            let at = components.index(index);
            component::update(old, component, &at, deployment, issues);
            power::check_update(old, component, &at, issues);
        }
    }
    backend(old, new, issues);
    topology::check_update(old, new, issues);
    kv_transfer::check_update(old, new, issues);
    restart::check_update(old, new, issues);
}

/// The components of a graph by name.
pub(super) struct ComponentIndex<'a> {
    in_order: &'a [ComponentSpec],
    by_name: HashMap<&'a str, &'a ComponentSpec>,
}

impl<'a> ComponentIndex<'a> {
    /// The components of `graph`.
    pub(super) fn of(graph: &'a DynamoGraphDeployment) -> Self {
        let in_order = &graph.spec.components;
        let by_name = in_order.iter().rev().map(|component| (component.name.as_str(), component)).collect();
        Self { in_order, by_name }
    }

    /// The component of this name; most keep their position, so `likely` is tried first.
    pub(super) fn component(&self, likely: usize, name: &str) -> Option<&'a ComponentSpec> {
        let there = self.in_order.get(likely).filter(|component| component.name == name);
        there.or_else(|| self.by_name.get(name).copied())
    }
}

fn component_set(old: &DynamoGraphDeployment, new: &DynamoGraphDeployment, issues: &mut Issues) {
    let names = |graph: &'_ DynamoGraphDeployment| -> BTreeSet<String> {
        graph.spec.components.iter().map(|component| component.name.clone()).collect()
    };
    let unchanged = || {
        let (old, new) = (&old.spec.components, &new.spec.components);
        old.len() == new.len() && old.iter().zip(new).all(|(old, new)| old.name == new.name)
    };
    if unchanged() {
        return;
    }
    let (before, after) = (names(old), names(new));
    if before == after {
        return;
    }
    let issue = SAME_COMPONENTS.forbidden(FieldPath::field("spec") / "components").message(difference(&before, &after));
    issues.add(issue.help("delete the graph and recreate it"));
}

fn difference(before: &BTreeSet<String>, after: &BTreeSet<String>) -> String {
    let list = |what: &str, names: Vec<&str>| (!names.is_empty()).then(|| format!("{what} {}", names.join(", ")));
    let added = list("adds", after.difference(before).map(String::as_str).collect());
    let removed = list("removes", before.difference(after).map(String::as_str).collect());
    added.into_iter().chain(removed).collect::<Vec<_>>().join(" and ")
}

fn backend(old: &DynamoGraphDeployment, new: &DynamoGraphDeployment, issues: &mut Issues) {
    let (before, after) = (&old.spec.backend_framework, &new.spec.backend_framework);
    if before == after {
        return;
    }
    let at = FieldPath::field("spec") / "backendFramework";
    let name =
        |framework: &Option<_>| framework.as_ref().map_or("none", |known: &BackendFramework| known.as_str()).to_owned();
    issues.add(
        SAME_BACKEND
            .invalid(at.clone(), after.as_ref().map(BackendFramework::as_str))
            .message("can't be changed")
            .help(format!("it was {}", name(before))),
    );
    issues.add(
        SAME_BACKEND.warning(at, "another inference engine needs another graph: delete this one and create it anew"),
    );
}
