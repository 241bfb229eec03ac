//! The named parts of an instance that spans several nodes: leader and worker.

use std::collections::{BTreeMap, BTreeSet};

use dynamo_api::constants::{LEADER_ROLE, WORKER_ROLE};
use dynamo_api::v1beta1::{ComponentRole, Multinode};
use gateward_core::{CREATE_AND_UPDATE, FieldPath, Issues, Rule, UPDATE};

use super::{ComponentContext, ComponentUpdate, on_components};
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::default_replicas;
    use crate::rules::component::testing::{TestDeployment, worker};
    use dynamo_api::v1beta1::{ComponentRole, Multinode};

    fn with_roles(roles: Value) -> Value {
        let mut component = worker(json!({"multinode": {"nodeCount": 4}}));
        component["roles"] = roles;
        component
    }

    fn both() -> Value {
        json!([{"name": "leader", "replicas": 1}, {"name": "worker", "replicas": 3}])
    }

    #[test]
    fn accepts_a_leader_and_workers_with_or_without_their_replicas() {
        assert!(TestDeployment::standalone().created(&with_roles(both())).is_empty());
        assert!(
            TestDeployment::standalone()
                .created(&with_roles(json!([{"name": "worker"}, {"name": "leader"}])))
                .is_empty()
        );
    }

    #[test]
    fn rejects_roles_on_one_node_and_looks_no_further() {
        let component = worker(json!({"roles": [{"name": "captain", "podTemplate": {}}]}));
        assert_eq!(TestDeployment::standalone().created(&component), ["SHARED-41 c.roles"]);
        assert_eq!(TestDeployment::standalone().created(&worker(json!({"roles": []}))), ["SHARED-41 c.roles"]);
        assert!(TestDeployment::standalone().created(&worker(json!({"roles": null}))).is_empty());
    }

    #[test]
    fn an_empty_list_lacks_both_roles() {
        assert_eq!(
            TestDeployment::standalone().created(&with_roles(json!([]))),
            ["SHARED-43 c.roles", "SHARED-43 c.roles"]
        );
    }

    #[test]
    fn an_unknown_role_gets_no_further_finding() {
        let roles =
            json!([{"name": "leader"}, {"name": "worker"}, {"name": "Worker", "replicas": 9, "podTemplate": {}}]);
        assert_eq!(TestDeployment::standalone().created(&with_roles(roles)), ["SHARED-42 c.roles[2].name"]);
    }

    #[test]
    fn a_repeated_role_is_judged_further() {
        let roles =
            json!([{"name": "leader"}, {"name": "worker"}, {"name": "worker", "replicas": 9, "podTemplate": {}}]);
        let expected =
            ["SHARED-42 c.roles[2].name", "SHARED-42 c.roles[2].replicas", "SHARED-42 c.roles[2].podTemplate"];
        assert_eq!(TestDeployment::standalone().created(&with_roles(roles)), expected);
    }

    #[test]
    fn replicas_of_a_role_follow_from_the_number_of_nodes() {
        let roles = json!([{"name": "leader", "replicas": 2}, {"name": "worker", "replicas": 4}]);
        let expected = ["SHARED-42 c.roles[0].replicas", "SHARED-42 c.roles[1].replicas"];
        assert_eq!(TestDeployment::standalone().created(&with_roles(roles)), expected);
    }

    #[test]
    fn the_lacking_role_is_named_after_what_is_wrong_with_the_others() {
        let roles = json!([{"name": "worker", "replicas": 9}]);
        let expected = ["SHARED-42 c.roles[0].replicas", "SHARED-43 c.roles"];
        assert_eq!(TestDeployment::standalone().created(&with_roles(roles)), expected);
    }

    #[test]
    fn a_role_of_a_component_on_its_own_takes_no_override() {
        let roles = json!([{"name": "leader", "providerOverride": {}}, {"name": "worker"}]);
        assert_eq!(TestDeployment::standalone().created(&with_roles(roles)), ["OVR-01 c.roles[0].providerOverride"]);
    }

    #[test]
    fn what_holds_anyway_may_be_spelt_out_and_left_out() {
        let without = worker(json!({"multinode": {"nodeCount": 4}}));
        assert!(TestDeployment::graph().changed(&without, &with_roles(both())).is_empty());
        assert!(
            TestDeployment::graph()
                .changed(&with_roles(json!([{"name": "worker"}, {"name": "leader"}])), &without)
                .is_empty()
        );
    }

    #[test]
    fn everything_else_may_not_be_added_or_removed() {
        let without = worker(json!({"multinode": {"nodeCount": 4}}));
        for roles in [
            json!([]),
            json!([{"name": "leader"}]),
            json!([{"name": "leader"}, {"name": "leader"}]),
            json!([{"name": "leader"}, {"name": "worker"}, {"name": "worker"}]),
            json!([{"name": "leader"}, {"name": "worker", "replicas": 2}]),
            json!([{"name": "leader"}, {"name": "worker", "providerOverride": {"apiVersion": "grove.io/v1alpha1"}}]),
        ] {
            assert_eq!(
                TestDeployment::graph().changed(&without, &with_roles(roles.clone())),
                ["SHARED-62 c.roles"],
                "{roles}"
            );
            assert_eq!(
                TestDeployment::graph().changed(&with_roles(roles.clone()), &without),
                ["SHARED-62 c.roles"],
                "{roles}"
            );
        }
    }

    #[test]
    fn roles_may_be_listed_in_another_order_but_not_renamed() {
        let [old, turned, other] = [
            json!([{"name": "leader"}, {"name": "worker"}]),
            json!([{"name": "worker"}, {"name": "leader"}]),
            json!([{"name": "leader"}, {"name": "captain"}]),
        ]
        .map(with_roles);
        assert!(TestDeployment::graph().changed(&old, &turned).is_empty());
        assert_eq!(TestDeployment::graph().changed(&old, &other), ["SHARED-63 c.roles"]);
        assert_eq!(TestDeployment::graph().changed(&old, &with_roles(json!([]))), ["SHARED-63 c.roles"]);
    }

    #[test]
    fn the_override_of_a_role_is_followed_by_its_name() {
        let overlay = |target: &str| json!({"apiVersion": "grove.io/v1alpha1", "target": target, "value": {}});
        let old = with_roles(json!([{"name": "leader", "providerOverride": overlay("A")}, {"name": "worker"}]));
        let new = with_roles(json!([{"name": "worker"}, {"name": "leader", "providerOverride": overlay("B")}]));
        assert_eq!(TestDeployment::graph().changed(&old, &new), ["OVR-10 c.roles[1].providerOverride.target"]);
    }

    #[test]
    fn a_change_between_one_node_and_several_hides_added_roles_but_not_renamed_ones() {
        let one = worker(json!({}));
        assert_eq!(TestDeployment::graph().changed(&one, &with_roles(both())), ["SHARED-60 c.multinode"]);
        let one = worker(json!({"roles": [{"name": "leader"}]}));
        assert_eq!(
            TestDeployment::standalone().changed(&with_roles(both()), &one),
            ["SHARED-60 c.multinode", "SHARED-63 c.roles"]
        );
    }

    #[test]
    fn given_replicas_are_kept_and_others_filled_in() {
        let mut roles: Vec<ComponentRole> = serde_json::from_value(json!([
            {"name": "leader"}, {"name": "worker"}, {"name": "worker", "replicas": 9}, {"name": "captain"}
        ]))
        .unwrap();
        default_replicas(Some(&Multinode { node_count: Some(4) }), Some(&mut roles));
        let replicas: Vec<Option<i32>> = roles.iter().map(|role| role.replicas).collect();
        assert_eq!(replicas, [Some(1), Some(3), Some(9), None]);
    }

    #[test]
    fn roles_on_one_node_are_given_nothing() {
        let mut roles = vec![ComponentRole { name: "leader".into(), ..ComponentRole::default() }];
        default_replicas(None, Some(&mut roles));
        assert_eq!(roles[0].replicas, None);
    }
}
