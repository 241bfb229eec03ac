//! How a component is placed: what only Grove can do, and what can't change.

use dynamo_api::v1beta1::ComponentSpec;
use gateward_core::{BadValue, CREATE_AND_UPDATE, Issues, Rule, UPDATE};
use serde_json::Value;

use super::{ComponentContext, ComponentUpdate, DeploymentKind, on_components};
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
    ..on_components(UPDATE)
};

const SCALING_GROUP: Rule = rule! {
    id: "SHARED-70",
    summary: "whether a scaling group is forced stays as it is",
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::rules::component::testing::{TestDeployment, worker};

    #[test]
    fn rejects_min_available_without_grove() {
        let component = worker(json!({"minAvailable": 1}));
        assert_eq!(TestDeployment::without_grove().created(&component), ["SHARED-40 c.minAvailable"]);
        assert_eq!(TestDeployment::standalone().created(&component), ["SHARED-40 c.minAvailable"]);
        assert!(TestDeployment::graph().created(&component).is_empty());
    }

    #[test]
    fn min_available_of_zero_is_given_too() {
        let component = worker(json!({"minAvailable": 0}));
        assert_eq!(TestDeployment::standalone().created(&component), ["SHARED-40 c.minAvailable"]);
    }

    #[test]
    fn a_stored_min_available_is_not_forgiven() {
        let component = worker(json!({"minAvailable": 1}));
        assert_eq!(TestDeployment::standalone().stored(&component, &component), ["SHARED-40 c.minAvailable"]);
    }

    #[test]
    fn rejects_a_forced_scaling_group_without_grove() {
        let forced = worker(json!({"experimental": {"grove": {"forceScalingGroup": true}}}));
        let path = "GRV-01 c.experimental.grove.forceScalingGroup";
        assert_eq!(TestDeployment::without_grove().created(&forced), [path]);
        assert_eq!(TestDeployment::standalone().created(&forced), [path]);
        assert!(TestDeployment::graph().created(&forced).is_empty());
    }

    #[test]
    fn a_scaling_group_that_is_not_forced_is_fine_anywhere() {
        let unforced = worker(json!({"experimental": {"grove": {"forceScalingGroup": false}}}));
        assert!(TestDeployment::standalone().created(&unforced).is_empty());
        assert!(TestDeployment::standalone().created(&worker(json!({"experimental": {"grove": {}}}))).is_empty());
    }

    #[test]
    fn a_topology_constraint_can_neither_come_change_nor_go() {
        let [none, rack, zone] = [json!({}), packed("rack"), packed("zone")].map(worker);
        for (old, new) in [(&none, &rack), (&rack, &zone), (&rack, &none)] {
            assert_eq!(TestDeployment::graph().changed(old, new), ["SHARED-65 c.topologyConstraint"]);
        }
        assert!(TestDeployment::graph().changed(&rack, &rack).is_empty());
    }

    fn packed(domain: &str) -> serde_json::Value {
        json!({"topologyConstraint": {"packDomain": domain}})
    }

    #[test]
    fn whether_a_scaling_group_is_forced_can_not_change() {
        let force = |forced: bool| worker(json!({"experimental": {"grove": {"forceScalingGroup": forced}}}));
        let none = worker(json!({}));
        let path = "SHARED-70 c.experimental.grove.forceScalingGroup";
        assert_eq!(TestDeployment::graph().changed(&none, &force(true)), [path]);
        assert_eq!(TestDeployment::graph().changed(&force(true), &none), [path]);
        assert_eq!(TestDeployment::graph().changed(&force(true), &force(false)), [path]);
        assert!(TestDeployment::graph().changed(&none, &force(false)).is_empty(), "absent means no");
    }
}
