//! The named parts of an instance that spans several nodes: leader and worker.

use std::collections::{BTreeMap, BTreeSet};

use dynamo_api::constants::{LEADER_ROLE, WORKER_ROLE};
use dynamo_api::v1beta1::{ComponentRole, Multinode};
use gateward::{CREATE_AND_UPDATE, FieldPath, Issues, Rule, UPDATE};

use super::context::{ComponentContext, ComponentUpdate, on_components};
use crate::rules::grove::{node_count, nodes};
use crate::rules::provider_override::{self, OverrideLocation};

const NEED_NODES: Rule = rule! {
    id: "SHARED-41",
    summary: "only a component that spans several nodes has roles",
    ..on_components(CREATE_AND_UPDATE)
};

const KNOWN: Rule = rule! {
    id: "SHARED-42",
    summary: "roles are leader and worker, each once, with the replicas that the number of nodes gives",
    ..on_components(CREATE_AND_UPDATE)
};

const COMPLETE: Rule = rule! {
    id: "SHARED-43",
    summary: "where roles are given, both leader and worker are",
    help: "add the role to the list, with the kind of work that it does",
    ..on_components(CREATE_AND_UPDATE)
};

const SPELT_OUT: Rule = rule! {
    id: "SHARED-62",
    summary: "roles can be spelt out or left out later only where that changes nothing",
    ..on_components(UPDATE)
};

const SAME_NAMES: Rule = rule! {
    id: "SHARED-63",
    summary: "the names of the roles stay as they are",
    ..on_components(UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&NEED_NODES, &KNOWN, &COMPLETE, &SPELT_OUT, &SAME_NAMES];

/// Gives the roles of a component that spans several nodes their replicas where they have none: DEF-07.
pub(crate) fn default_replicas(multinode: Option<&Multinode>, roles: Option<&mut Vec<ComponentRole>>) {
    let (Some(multinode), Some(roles)) = (multinode, roles) else { return };
    for role in roles {
        role.replicas = role.replicas.or_else(|| replicas_of(&role.name, node_count(multinode)));
    }
}

pub(super) fn stateless(context: &ComponentContext, issues: &mut Issues) {
    let Some(roles) = &context.component.roles else { return };
    let at = context.at / "roles";
    if context.component.multinode.is_none() {
        let issue = NEED_NODES.forbidden(at).message("may only be set for a component that spans several nodes");
        return issues.add(issue.help("remove the roles, or set multinode"));
    }
    let mut seen = BTreeSet::new();
    for (index, role) in roles.iter().enumerate() {
        self::role(context, role, &at.index(index), &mut seen, issues);
    }
    for name in [LEADER_ROLE, WORKER_ROLE] {
        if !seen.contains(name) {
            issues.add(COMPLETE.required(at.clone()).message(format!("must have the role {name}")));
        }
    }
}

fn role<'a>(
    context: &ComponentContext,
    role: &'a ComponentRole,
    at: &FieldPath,
    seen: &mut BTreeSet<&'a str>,
    issues: &mut Issues,
) {
    let Some(replicas) = replicas_of(&role.name, nodes(context.component)) else {
        let accepted = [LEADER_ROLE, WORKER_ROLE];
        return issues.add(KNOWN.not_supported(at / "name", role.name.as_str(), &accepted));
    };
    if !seen.insert(&role.name) {
        issues.add(KNOWN.duplicate(at / "name", role.name.as_str()));
    }
    if let Some(given) = role.replicas.filter(|given| *given != replicas) {
        let issue = KNOWN.invalid(at / "replicas", given).message(format!("must be {replicas}"));
        issues.add(issue.help("leave it out"));
    }
    if role.pod_template.is_some() {
        let issue =
            KNOWN.forbidden(at / "podTemplate").message("may not be set: roles share the pod of their component");
        issues.add(issue.help("use podTemplate of the component"));
    }
    if let Some(overlay) = &role.provider_override {
        let place = context.deployment.override_location(OverrideLocation::Role(context.component, role));
        provider_override::check(overlay, &(at / "providerOverride"), place, context.deployment.provider, issues);
    }
}

/// Replicas of a known role: one leader, and a worker on every other node.
fn replicas_of(name: &str, nodes: i32) -> Option<i32> {
    match name {
        LEADER_ROLE => Some(1),
        WORKER_ROLE => Some(nodes.saturating_sub(1)),
        _ => None,
    }
}

/// Judges that roles are given where they weren't before, or the other way round.
pub(super) fn spelling(change: &ComponentUpdate, issues: &mut Issues) {
    let ((Some(given), None) | (None, Some(given))) = (&change.old.roles, &change.new.roles) else { return };
    if !says_nothing_new(change, given) {
        let issue = SPELT_OUT.forbidden(change.at / "roles").message("roles may not be added or removed");
        issues.add(issue.help("what the operator does by itself may be spelt out: leader and worker only"));
    }
}

/// Judges the change of roles that are given before and after.
pub(super) fn unchanged(change: &ComponentUpdate, issues: &mut Issues) {
    let (Some(old), Some(new)) = (&change.old.roles, &change.new.roles) else { return };
    let at = change.at / "roles";
    let before: BTreeMap<&str, &ComponentRole> = old.iter().map(|role| (role.name.as_str(), role)).collect();
    for (index, role) in new.iter().enumerate() {
        let old = before.get(role.name.as_str()).and_then(|role| role.provider_override.as_ref());
        let at = at.index(index) / "providerOverride";
        provider_override::unchanged(old, role.provider_override.as_ref(), &at, issues);
    }
    if names(old) != names(new) {
        let listed: Vec<&str> = new.iter().map(|role| role.name.as_str()).collect();
        let issue = SAME_NAMES.invalid(at, listed).message("roles may not be added or removed");
        issues.add(issue.help("keep their names"));
    }
}

/// Whether a list of roles says only what holds without it.
fn says_nothing_new(change: &ComponentUpdate, roles: &[ComponentRole]) -> bool {
    let both = change.old.multinode.is_some() && change.new.multinode.is_some();
    let nodes = nodes(change.new);
    let plain = |role: &ComponentRole| {
        let usual = replicas_of(&role.name, nodes);
        role.provider_override.is_none() && usual.is_some() && role.replicas.is_none_or(|given| Some(given) == usual)
    };
    both && roles.len() == 2 && names(roles).len() == 2 && roles.iter().all(plain)
}

fn names(roles: &[ComponentRole]) -> BTreeSet<&str> {
    roles.iter().map(|role| role.name.as_str()).collect()
}
