//! Replicas that a scaling adapter owns.

use gateward_core::{Issues, Rule, UPDATE};

use super::{Change, MayScale, Owner, OwnerKind, rule};

const REPLICAS: Rule = Rule {
    id: "SHARED-64",
    summary: "replicas that a scaling adapter owns are changed by the operator and planners only",
    kinds: &["DynamoGraphDeployment"],
    bad: include_str!("../examples/shared/shared-64.bad.yaml"),
    good: include_str!("../examples/shared/shared-64.good.yaml"),
    ..rule(UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&REPLICAS];

/// The adapter protects replicas also in the update that removes it.
pub(super) fn replicas(change: &Change, owner: &Owner, issues: &mut Issues) {
    let adapted = change.old.scaling_adapter.is_some() || change.new.scaling_adapter.is_some();
    if !adapted || owner.kind == OwnerKind::Component || owner.may_scale == MayScale::Yes {
        return;
    }
    let [old, new] = [change.old, change.new].map(|component| component.replicas.unwrap_or(1));
    if old != new {
        let issue = REPLICAS.forbidden(change.at / "replicas");
        let issue = issue.message(format!("the scaling adapter owns the replicas, which are {old}"));
        issues.add(issue.help("scale the DynamoGraphDeploymentScalingAdapter"));
    }
}
