//! How a component is placed: what only Grove can do, and what can't change.

use dynamo_api::v1beta1::ComponentSpec;
use gateward_core::{BadValue, CREATE_AND_UPDATE, Issues, Rule, UPDATE};
use serde_json::Value;

use super::{Change, Judged, OwnerKind, rule};
use crate::grove::forces_scaling_group;

const MIN_AVAILABLE: Rule = Rule {
    id: "SHARED-40",
    summary: "minAvailable is set only where Grove lays out the graph",
    bad: include_str!("../examples/shared/shared-40.bad.yaml"),
    good: include_str!("../examples/shared/shared-40.good.yaml"),
    ..rule(CREATE_AND_UPDATE)
};

const FORCED_SCALING_GROUP: Rule = Rule {
    id: "GRV-01",
    summary: "a scaling group is forced only where Grove lays out the graph",
    versions: &["v1beta1"],
    bad: include_str!("../examples/shared/grv-01.bad.yaml"),
    good: include_str!("../examples/shared/grv-01.good.yaml"),
    ..rule(CREATE_AND_UPDATE)
};

const TOPOLOGY: Rule = Rule {
    id: "SHARED-65",
    summary: "the topology constraint of a component stays as it is",
    bad: include_str!("../examples/shared/shared-65.bad.yaml"),
    good: include_str!("../examples/shared/shared-65.good.yaml"),
    ..rule(UPDATE)
};

const SCALING_GROUP: Rule = Rule {
    id: "SHARED-70",
    summary: "whether a scaling group is forced stays as it is",
    versions: &["v1beta1"],
    bad: include_str!("../examples/shared/shared-70.bad.yaml"),
    good: include_str!("../examples/shared/shared-70.good.yaml"),
    ..rule(UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&MIN_AVAILABLE, &FORCED_SCALING_GROUP, &TOPOLOGY, &SCALING_GROUP];

pub(super) fn min_available(judged: &Judged, issues: &mut Issues) {
    if judged.component.min_available.is_none() || judged.owner.pathway.is_grove() {
        return;
    }
    let issue = MIN_AVAILABLE.forbidden(judged.at / "minAvailable");
    issues.add(issue.message(without_grove(judged.owner.kind)).help("leave it out"));
}

pub(super) fn forced_scaling_group(judged: &Judged, issues: &mut Issues) {
    if !forces_scaling_group(judged.component) || judged.owner.pathway.is_grove() {
        return;
    }
    let path = judged.at / "experimental" / "grove" / "forceScalingGroup";
    let issue = FORCED_SCALING_GROUP.forbidden(path).message(without_grove(judged.owner.kind));
    issues.add(issue.help("leave it out, or set it to false"));
}

pub(super) fn topology_unchanged(change: &Change, issues: &mut Issues) {
    let domain = |component: &ComponentSpec| component.topology_constraint.as_ref().map(|at| at.pack_domain.clone());
    let (old, new) = (domain(change.old), domain(change.new));
    if old != new {
        let value = new.map_or(BadValue::Json(Value::Null), |domain| serde_json::json!({"packDomain": domain}).into());
        let issue = TOPOLOGY.invalid(change.at / "topologyConstraint", value);
        issues.add(issue.message("a topology constraint can be neither added, changed nor removed"));
    }
}

pub(super) fn scaling_group_unchanged(change: &Change, issues: &mut Issues) {
    let [old, new] = [change.old, change.new].map(forces_scaling_group);
    if old != new {
        let path = change.at / "experimental" / "grove" / "forceScalingGroup";
        issues.add(SCALING_GROUP.invalid(path, new).message("it can't change once the component exists"));
    }
}

const fn without_grove(kind: OwnerKind) -> &'static str {
    match kind {
        OwnerKind::Graph => "only Grove can do this, and it doesn't lay out this graph",
        OwnerKind::Component => "only Grove can do this, and it never lays out a component on its own",
    }
}
