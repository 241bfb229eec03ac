//! Replicas that a scaling adapter owns.

use gateward_core::{Issues, Rule, UPDATE};

use super::{ComponentUpdate, DeploymentContext, DeploymentKind, ScalePermission, on_components};

const REPLICAS: Rule = rule! {
    id: "SHARED-64",
    summary: "replicas that a scaling adapter owns are changed by the operator and planners only",
    kinds: &["DynamoGraphDeployment"],
    ..on_components(UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&REPLICAS];

/// The adapter protects replicas also in the update that removes it.
pub(super) fn replicas(change: &ComponentUpdate, deployment: &DeploymentContext, issues: &mut Issues) {
    let adapted = change.old.scaling_adapter.is_some() || change.new.scaling_adapter.is_some();
    if !adapted
        || deployment.kind == DeploymentKind::Component
        || deployment.scale_permission == ScalePermission::Granted
    {
        return;
    }
    let [old, new] = [change.old, change.new].map(|component| component.replicas.unwrap_or(1));
    if old != new {
        let issue = REPLICAS.forbidden(change.at / "replicas");
        let issue = issue.message(format!("may only be changed by the scaling adapter: it is {old}"));
        issues.add(issue.help("scale the DynamoGraphDeploymentScalingAdapter"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::rules::component::testing::{TestDeployment, worker};

    fn adapted(replicas: Value) -> Value {
        let mut component = worker(json!({"scalingAdapter": {}}));
        component["replicas"] = replicas;
        component
    }

    #[test]
    fn users_may_not_change_replicas_that_an_adapter_owns() {
        let change = TestDeployment::graph().changed(&adapted(2.into()), &adapted(3.into()));
        assert_eq!(change, ["SHARED-64 c.replicas"]);
        assert!(TestDeployment::graph().changed(&adapted(2.into()), &adapted(2.into())).is_empty());
    }

    #[test]
    fn the_operator_may() {
        assert!(TestDeployment::graph().may_scale().changed(&adapted(2.into()), &adapted(3.into())).is_empty());
    }

    #[test]
    fn neither_adding_nor_removing_the_adapter_frees_them() {
        let free = worker(json!({"replicas": 5}));
        assert_eq!(TestDeployment::graph().changed(&adapted(2.into()), &free), ["SHARED-64 c.replicas"]);
        assert_eq!(TestDeployment::graph().changed(&free, &adapted(2.into())), ["SHARED-64 c.replicas"]);
    }

    #[test]
    fn absent_replicas_are_one() {
        assert!(TestDeployment::graph().changed(&adapted(Value::Null), &adapted(1.into())).is_empty());
        assert_eq!(
            TestDeployment::graph().changed(&adapted(Value::Null), &adapted(0.into())),
            ["SHARED-64 c.replicas"]
        );
    }

    #[test]
    fn replicas_of_a_component_on_its_own_are_free() {
        assert!(TestDeployment::standalone().changed(&adapted(2.into()), &adapted(9.into())).is_empty());
    }

    #[test]
    fn replicas_without_an_adapter_are_free() {
        let component = |replicas: i32| worker(json!({"replicas": replicas}));
        assert!(TestDeployment::graph().changed(&component(2), &component(9)).is_empty());
    }
}
