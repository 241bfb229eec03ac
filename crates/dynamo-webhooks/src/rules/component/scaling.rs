//! Replicas that a scaling adapter owns.

use gateward::{Issues, Rule, UPDATE};

use super::context::{ComponentUpdate, DeploymentContext, DeploymentKind, on_components};
use crate::operator::principals::ScalePermission;

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
