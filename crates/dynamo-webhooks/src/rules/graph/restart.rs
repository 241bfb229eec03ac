//! A wish to restart the components of a graph: DGD-56 to DGD-59, DGD-80.

use std::collections::HashSet;

use dynamo_api::v1beta1::{DynamoGraphDeployment, Restart, RestartStrategyType, RollingUpdatePhase};
use gateward::{FieldPath, Issues, MOST_ISSUES, Rule, UPDATE};

use super::applies_to::GRAPHS;

const NO_PARALLEL_ORDER: Rule = rule! {
    id: "DGD-56",
    good_of: "DGD-57",
    summary: "a parallel restart has no order",
    ..GRAPHS
};

const ONCE: Rule = rule! {
    id: "DGD-57",
    summary: "a restart's order names no component twice",
    help: "name each component once",
    ..GRAPHS
};

const COMPLETE: Rule = rule! {
    id: "DGD-58",
    good_of: "DGD-57",
    summary: "a restart's order names as many components as there are",
    ..GRAPHS
};

const KNOWN: Rule = rule! {
    id: "DGD-59",
    good_of: "DGD-57",
    summary: "a restart's order names components of the graph",
    help: "write the names of components of this graph",
    ..GRAPHS
};

const NOT_DURING_UPDATE: Rule = rule! {
    id: "DGD-80",
    summary: "no other restart is asked for while a rolling update is under way",
    operations: UPDATE,
    ..GRAPHS
};

/// The catalogue's entries.
pub(super) const RULES: &[&Rule] = &[&NO_PARALLEL_ORDER, &ONCE, &COMPLETE, &KNOWN, &NOT_DURING_UPDATE];

/// How many components a finding lists as accepted: as many as the schema lets a graph have.
const SHOWN_NAMES: usize = 25;

/// Judges the order of a restart.
pub(super) fn check(graph: &DynamoGraphDeployment, issues: &mut Issues) {
    let Some(strategy) = graph.spec.restart.as_ref().and_then(|restart| restart.strategy.as_ref()) else { return };
    let order = &strategy.order;
    if order.is_empty() {
        return;
    }
    if strategy.strategy_type == Some(RestartStrategyType::Parallel) {
        let issue = NO_PARALLEL_ORDER.forbidden(order_path()).message("may not be set for a parallel restart");
        return issues.add(issue.help("remove the order, or set the type Sequential"));
    }
    let ordered: HashSet<&str> = order.iter().map(String::as_str).collect();
    let components: HashSet<&str> = graph.spec.components.iter().map(|component| component.name.as_str()).collect();
    if ordered.len() != order.len() {
        issues.add(ONCE.invalid(order_path(), order.as_slice()).message("may not name a component twice"));
    }
    if ordered.len() != components.len() {
        let issue = COMPLETE.invalid(order_path(), order.as_slice()).message("must name every component once");
        issues.add(issue.help(format!("the graph has {}, the order names {}", components.len(), ordered.len())));
    }
    unknown_names(order, graph, &components, issues);
}

/// Each place in the order whose name is no component's.
fn unknown_names(order: &[String], graph: &DynamoGraphDeployment, known: &HashSet<&str>, issues: &mut Issues) {
    let components = graph.spec.components.iter().take(SHOWN_NAMES);
    let accepted: Vec<&str> = components.map(|component| component.name.as_str()).collect();
    let unknown = order.iter().enumerate().filter(|(_, name)| !known.contains(name.as_str()));
    for (place, name) in unknown.take(MOST_ISSUES) {
        issues.add(KNOWN.not_supported(order_path().index(place), name.as_str(), &accepted));
    }
}

fn order_path() -> FieldPath {
    FieldPath::field("spec") / "restart" / "strategy" / "order"
}

/// Demands that no other restart is asked for while a rolling update goes on.
pub(super) fn check_update(old: &DynamoGraphDeployment, new: &DynamoGraphDeployment, issues: &mut Issues) {
    let update = old.status.as_ref().and_then(|status| status.rolling_update.as_ref());
    let phase = update.and_then(|update| update.phase.as_ref());
    let under_way = matches!(phase, Some(RollingUpdatePhase::Pending | RollingUpdatePhase::InProgress));
    let (before, after) = (id(old), id(new));
    if under_way && before != after {
        issues.add(
            NOT_DURING_UPDATE
                .invalid(FieldPath::field("spec") / "restart" / "id", after)
                .message("may not change during a rolling update")
                .help(format!("keep {before:?} until the update is over")),
        );
    }
}

/// The restart's id; empty where none is asked for.
fn id(graph: &DynamoGraphDeployment) -> &str {
    graph.spec.restart.as_ref().map_or("", |restart: &Restart| &restart.id)
}
