//! The annotation that notes what runs a graph: DGD-60 to DGD-62. Controllers own it.

use dynamo_api::constants::{PROVIDER_COMPONENT, PROVIDER_GROVE, WORKLOAD_PROVIDER};
use dynamo_api::v1beta1::DynamoGraphDeployment;
use gateward::{FieldPath, Issues, Request, Rule, UPDATE};

use super::applies_to::GRAPHS;
use crate::operator::facts::ClusterFacts;
use crate::operator::principals;

const SET_BY_OPERATOR: Rule = rule! {
    id: "DGD-60",
    summary: "only the operator notes the workload provider of a graph that has none",
    operations: UPDATE,
    ..GRAPHS
};

const KNOWN: Rule = rule! {
    id: "DGD-61",
    good_of: "DGD-60",
    summary: "the workload provider that is noted on a graph is component or grove",
    help: "write one of the supported values, or leave the annotation out",
    operations: UPDATE,
    ..GRAPHS
};

const CONSTANT: Rule = rule! {
    id: "DGD-62",
    good_of: "DGD-60",
    summary: "a workload provider that is noted on a graph never changes",
    operations: UPDATE,
    ..GRAPHS
};

/// The catalogue's entries.
pub(super) const RULES: &[&Rule] = &[&SET_BY_OPERATOR, &KNOWN, &CONSTANT];

/// Judges a change of the annotation, of terminating graphs too.
pub(super) fn check_update(
    old: &DynamoGraphDeployment,
    new: &DynamoGraphDeployment,
    request: &Request,
    facts: &ClusterFacts,
    issues: &mut Issues,
) {
    let at = || FieldPath::annotation(WORKLOAD_PROVIDER);
    match (old.metadata.annotation(WORKLOAD_PROVIDER), new.metadata.annotation(WORKLOAD_PROVIDER)) {
        (None, None) => {}
        (None, Some(provider)) => added(provider, request, facts, issues),
        (Some(before), after) if after == Some(before) => {}
        (Some(before), after) => {
            let issue = CONSTANT.invalid(at(), after).message("field is immutable");
            issues.add(issue.help(format!("keep {before:?}")));
        }
    }
}

fn added(provider: &str, request: &Request, facts: &ClusterFacts, issues: &mut Issues) {
    let at = || FieldPath::annotation(WORKLOAD_PROVIDER);
    let operators = &facts.operator_principals;
    if !operators.is_empty() && !principals::is_operator(request.username(), operators) {
        let issue = SET_BY_OPERATOR.forbidden(at()).message("may only be set by the operator");
        issues.add(issue.help("leave it out"));
    }
    let known = [PROVIDER_COMPONENT, PROVIDER_GROVE];
    if !known.contains(&provider) {
        issues.add(KNOWN.not_supported(at(), provider, &known));
    }
}
