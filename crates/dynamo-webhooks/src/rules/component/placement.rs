//! How a component is placed: what only Grove can do, and what can't change.

use dynamo_api::v1beta1::ComponentSpec;
use gateward::{BadValue, CREATE_AND_UPDATE, Issues, Rule, UPDATE};
use serde_json::Value;

use super::context::{ComponentContext, ComponentUpdate, DeploymentKind, on_components};
use crate::rules::grove::forces_scaling_group;

const MIN_AVAILABLE: Rule = rule! {
    id: "SHARED-40",
    summary: "minAvailable is set only where Grove lays out the graph",
    ..on_components(CREATE_AND_UPDATE)
};

const FORCED_SCALING_GROUP: Rule = rule! {
    id: "GRV-01",
    summary: "a scaling group is forced only where Grove lays out the graph",
    versions: &["v1beta1"],
    ..on_components(CREATE_AND_UPDATE)
};

const TOPOLOGY: Rule = rule! {
    id: "SHARED-65",
    summary: "the topology constraint of a component stays as it is",
    help: "keep the stored value; another one needs another graph",
    ..on_components(UPDATE)
};

const SCALING_GROUP: Rule = rule! {
    id: "SHARED-70",
    summary: "whether a scaling group is forced stays as it is",
    help: "keep the stored value; another one needs another graph",
    versions: &["v1beta1"],
    ..on_components(UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&MIN_AVAILABLE, &FORCED_SCALING_GROUP, &TOPOLOGY, &SCALING_GROUP];

pub(super) fn min_available(context: &ComponentContext, issues: &mut Issues) {
    if context.component.min_available.is_none() || context.deployment.workload_backend.is_grove() {
        return;
    }
    let issue = MIN_AVAILABLE.forbidden(context.at / "minAvailable");
    issues.add(issue.message(without_grove(context.deployment.kind)).help("leave it out"));
}

pub(super) fn forced_scaling_group(context: &ComponentContext, issues: &mut Issues) {
    if !forces_scaling_group(context.component) || context.deployment.workload_backend.is_grove() {
        return;
    }
    let path = context.at / "experimental" / "grove" / "forceScalingGroup";
    let issue = FORCED_SCALING_GROUP.forbidden(path).message(without_grove(context.deployment.kind));
    issues.add(issue.help("leave it out, or set it to false"));
}

pub(super) fn topology_unchanged(change: &ComponentUpdate, issues: &mut Issues) {
    let domain = |component: &ComponentSpec| component.topology_constraint.as_ref().map(|at| at.pack_domain.clone());
    let (old, new) = (domain(change.old), domain(change.new));
    if old != new {
        let value = new.map_or(BadValue::Json(Value::Null), |domain| serde_json::json!({"packDomain": domain}).into());
        let issue = TOPOLOGY.invalid(change.at / "topologyConstraint", value);
        issues.add(issue.message("field is immutable"));
    }
}

pub(super) fn scaling_group_unchanged(change: &ComponentUpdate, issues: &mut Issues) {
    let [old, new] = [change.old, change.new].map(forces_scaling_group);
    if old != new {
        let path = change.at / "experimental" / "grove" / "forceScalingGroup";
        issues.add(SCALING_GROUP.invalid(path, new).message("field is immutable"));
    }
}

const fn without_grove(kind: DeploymentKind) -> &'static str {
    match kind {
        DeploymentKind::Graph => "may only be set for graphs that Grove runs",
        DeploymentKind::Component => "may not be set in a DynamoComponentDeployment",
    }
}
