//! Overrides of what the workload provider is given (section 10 of the rule book): OVR-01 to OVR-10.

mod fragment;

use dynamo_api::constants::{LEADER_ROLE, OVERRIDE_API_VERSION, PROVIDER_GROVE, WORKER_ROLE};
use dynamo_api::v1beta1::{ComponentRole, ComponentSpec, ProviderOverride};
use gateward::{CREATE_AND_UPDATE, FieldPath, Issue, Issues, Rule, UPDATE};

use crate::rules::grove;

/// The location of a provider override.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OverrideLocation<'a> {
    /// The spec of a graph.
    Root,
    /// A component of a graph.
    Component(&'a ComponentSpec),
    /// A role of a component of a graph.
    Role(&'a ComponentSpec, &'a ComponentRole),
    /// A DynamoComponentDeployment.
    Standalone,
}

/// The kind of Grove's object that an override is laid over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// The object of the whole graph.
    Set,
    /// The object of a component in a scaling group.
    ScalingGroup,
    /// The object of any other component, and of a role.
    Clique,
}

impl Target {
    /// The name as it is written.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Set => "PodCliqueSet",
            Self::ScalingGroup => "PodCliqueScalingGroupConfig",
            Self::Clique => "PodCliqueTemplateSpec",
        }
    }

    /// The target of this name.
    fn named(name: &str) -> Option<Self> {
        [Self::Set, Self::ScalingGroup, Self::Clique].into_iter().find(|target| target.as_str() == name)
    }

    /// The target that an override at this place has; `None` where there is none.
    pub(crate) fn expected(location: OverrideLocation) -> Option<Self> {
        match location {
            OverrideLocation::Root => Some(Self::Set),
            OverrideLocation::Component(component) if grove::uses_scaling_group(component) => Some(Self::ScalingGroup),
            OverrideLocation::Component(_) => Some(Self::Clique),
            OverrideLocation::Role(component, role) => has_clique(component, role).then_some(Self::Clique),
            OverrideLocation::Standalone => None,
        }
    }
}

/// Whether Grove makes exactly one clique for the role: a GPU memory service between pods splits it into several.
fn has_clique(component: &ComponentSpec, role: &ComponentRole) -> bool {
    let known = role.name == LEADER_ROLE || role.name == WORKER_ROLE;
    known && grove::nodes(component) > 1 && !grove::shares_gpu_memory_between_pods(component)
}

/// Whether the target of an override without one can be derived (DEF-06).
pub(crate) fn is_resolvable(overlay: &ProviderOverride, provider: Option<&str>) -> bool {
    provider == Some(PROVIDER_GROVE) && overlay.api_version == OVERRIDE_API_VERSION
}

/// Whether the override sets a topology constraint where its target has one (for DGD-63), of whatever JSON type.
pub(crate) fn sets_topology(overlay: &ProviderOverride, location: OverrideLocation, provider: Option<&str>) -> bool {
    let target = match overlay.target.as_str() {
        "" => Target::expected(location).filter(|_| is_resolvable(overlay, provider)),
        name => Target::named(name),
    };
    let value = overlay.value.as_ref().and_then(|value| value.view().ok());
    target.zip(value).is_some_and(|(target, value)| fragment::has_owned_key(target, value))
}

/// Judges one override, given the graph's workload provider annotation (OVR-01 to OVR-09).
pub(crate) fn check(
    overlay: &ProviderOverride,
    at: &FieldPath,
    location: OverrideLocation,
    provider: Option<&str>,
    issues: &mut Issues,
) {
    let refused = standalone(at, location)
        .or_else(|| unsupported_provider(at, provider))
        .or_else(|| unsupported_api_version(overlay, at));
    if let Some(issue) = refused {
        return issues.add(issue);
    }
    let Some(target) = Target::expected(location) else { return issues.add(no_target(at)) };
    match wrong_target(overlay, target, at) {
        Some(issue) => issues.add(issue),
        None => fragment::check(target, overlay.value.as_ref(), &(at / "value"), issues),
    }
}

fn standalone(at: &FieldPath, location: OverrideLocation) -> Option<Issue> {
    let issue = || GRAPHS_ONLY.forbidden(at.clone()).message("may not be set in a DynamoComponentDeployment");
    matches!(location, OverrideLocation::Standalone).then(issue)
}

fn unsupported_provider(at: &FieldPath, provider: Option<&str>) -> Option<Issue> {
    match provider {
        Some(PROVIDER_GROVE) => None,
        None | Some("") => Some(
            PROVIDER_KNOWN
                .forbidden(at.clone())
                .message("may not be set before the workload provider is known")
                .help("the annotation nvidia.com/workload-provider is set when a graph is created"),
        ),
        Some(other) => Some(
            PROVIDER_SUPPORTED
                .forbidden(at.clone())
                .message(format!("the workload provider {other:?} takes no override"))
                .help("only grove does"),
        ),
    }
}

fn unsupported_api_version(overlay: &ProviderOverride, at: &FieldPath) -> Option<Issue> {
    match overlay.api_version.as_str() {
        OVERRIDE_API_VERSION => None,
        "" => Some(API_VERSION.required(at / "apiVersion").help("accepted: grove.io/v1alpha1")),
        other => Some(API_VERSION.not_supported(at / "apiVersion", other, &[OVERRIDE_API_VERSION])),
    }
}

fn no_target(at: &FieldPath) -> Issue {
    PLACE_HAS_TARGET
        .forbidden(at.clone())
        .message("may not be set: Grove has no single object for this role")
        .help("a role takes an override on several nodes, without a GPU memory service between pods")
}

fn wrong_target(overlay: &ProviderOverride, expected: Target, at: &FieldPath) -> Option<Issue> {
    let name = expected.as_str();
    let issue = match overlay.target.as_str() {
        "" => TARGET.required(at / "target"),
        target if target != name => TARGET.invalid(at / "target", target),
        _ => return None,
    };
    Some(issue.help(format!("here it is {name}")))
}

/// Demands that an override that stays keeps its apiVersion and target (OVR-10).
pub(crate) fn unchanged(
    old: Option<&ProviderOverride>,
    new: Option<&ProviderOverride>,
    at: &FieldPath,
    issues: &mut Issues,
) {
    let Some((old, new)) = old.zip(new) else { return };
    let pairs = [("apiVersion", &old.api_version, &new.api_version), ("target", &old.target, &new.target)];
    for (field, old, new) in pairs {
        if old != new {
            let issue = UNCHANGED.invalid(at / field, new.as_str()).message("can't be changed");
            issues.add(issue.help(format!("keep {old:?}, or remove the override and add another")));
        }
    }
}

const GRAPHS: Rule = Rule {
    kinds: &["DynamoGraphDeployment"],
    versions: &["v1alpha1", "v1beta1"],
    page: "docs/rule-book/provider-override.md",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// OVR-01.
pub(crate) const GRAPHS_ONLY: Rule = rule! {
    id: "OVR-01",
    summary: "a component that is deployed on its own has no provider override",
    help: "leave it out, or put the component into a DynamoGraphDeployment",
    kinds: &["DynamoComponentDeployment"],
    ..GRAPHS
};

/// OVR-02.
pub(crate) const PROVIDER_KNOWN: Rule = rule! {
    id: "OVR-02",
    summary: "a graph with a provider override says which workload provider runs it",
    ..GRAPHS
};

/// OVR-03.
pub(crate) const PROVIDER_SUPPORTED: Rule = rule! {
    id: "OVR-03",
    good_of: "OVR-02",
    summary: "only the workload provider grove takes overrides",
    ..GRAPHS
};

/// OVR-04.
pub(crate) const API_VERSION: Rule = rule! {
    id: "OVR-04",
    good_of: "OVR-02",
    summary: "the apiVersion of a provider override is grove.io/v1alpha1",
    help: "write one of the supported values",
    ..GRAPHS
};

/// OVR-05.
pub(crate) const PLACE_HAS_TARGET: Rule = rule! {
    id: "OVR-05",
    summary: "a role has a provider override only where Grove makes one object for it",
    ..GRAPHS
};

/// OVR-06.
pub(crate) const TARGET: Rule = rule! {
    id: "OVR-06",
    good_of: "OVR-05",
    summary: "the target of a provider override is the kind that Grove makes at its place",
    ..GRAPHS
};

/// OVR-07.
pub(crate) const VALUE_READABLE: Rule = rule! {
    id: "OVR-07",
    good_of: "OVR-02",
    summary: "the value of a provider override is an object whose known fields have their JSON types",
    help: "write a fragment of the named kind, an object with a spec",
    ..GRAPHS
};

/// OVR-08.
pub(crate) const VALUE_OWNED: Rule = rule! {
    id: "OVR-08",
    good_of: "OVR-02",
    summary: "a provider override sets topologyConstraint and nothing else",
    ..GRAPHS
};

/// OVR-09.
pub(crate) const VALUE_COMPLETE: Rule = rule! {
    id: "OVR-09",
    good_of: "OVR-02",
    summary: "a provider override sets topologyConstraint to an object",
    help: "write an object here, or leave it out",
    ..GRAPHS
};

/// OVR-10.
pub(crate) const UNCHANGED: Rule = rule! {
    id: "OVR-10",
    summary: "a provider override that stays keeps its apiVersion and target",
    operations: UPDATE,
    ..GRAPHS
};

/// The catalogue's entries of this module.
pub(crate) const RULES: &[&Rule] = &[
    &GRAPHS_ONLY,
    &PROVIDER_KNOWN,
    &PROVIDER_SUPPORTED,
    &API_VERSION,
    &PLACE_HAS_TARGET,
    &TARGET,
    &VALUE_READABLE,
    &VALUE_OWNED,
    &VALUE_COMPLETE,
    &UNCHANGED,
];

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn overlay(target: &str, value: &Value) -> ProviderOverride {
        let overlay = json!({"apiVersion": OVERRIDE_API_VERSION, "target": target, "value": value});
        serde_json::from_value(overlay).unwrap()
    }

    /// The findings as `<rule> <path>`.
    fn found(overlay: &ProviderOverride, location: OverrideLocation, provider: Option<&str>) -> Vec<String> {
        let mut issues = Issues::new();
        check(overlay, &FieldPath::field("o"), location, provider, &mut issues);
        issues.iter().map(|issue| format!("{} {}", issue.rule, issue.path)).collect()
    }

    fn in_root(value: &Value) -> Vec<String> {
        found(&overlay("PodCliqueSet", value), OverrideLocation::Root, Some("grove"))
    }

    fn packed() -> Value {
        json!({"topologyConstraint": {"pack": {"required": "rack"}}})
    }

    #[test]
    fn refuses_a_value_that_grove_could_not_read() {
        for value in [json!(null), json!("x"), json!([]), json!({"spec": 1}), json!({"spec": {"template": []}})] {
            assert_eq!(in_root(&value), ["OVR-07 o.value"], "{value}");
        }
        let replicas = |count: &Value| in_root(&json!({"spec": {"replicas": count, "template": packed()}}));
        assert_eq!(replicas(&json!("4")), ["OVR-07 o.value"]);
        assert_eq!(replicas(&json!(4.5)), ["OVR-07 o.value"]);
        assert_eq!(replicas(&json!(2_147_483_648_u64)), ["OVR-07 o.value"]);
        assert_eq!(replicas(&json!(4)), ["OVR-08 o.value.spec.replicas"]);
    }

    #[test]
    fn a_value_of_the_wrong_type_is_never_shown() {
        let overlay = overlay("PodCliqueSet", &json!({"spec": "hush"}));
        let mut issues = Issues::new();
        check(&overlay, &FieldPath::field("o"), OverrideLocation::Root, Some("grove"), &mut issues);
        assert!(issues.iter().all(|issue| !issue.to_string().contains("hush")));
    }

    #[test]
    fn a_value_nested_without_end_is_refused() {
        let deep = format!("{}{}", "{\"spec\":".repeat(5000), "1".to_owned() + &"}".repeat(5000));
        let overlay = ProviderOverride {
            api_version: OVERRIDE_API_VERSION.into(),
            target: "PodCliqueSet".into(),
            value: serde_json::from_str(&deep).ok(),
        };
        assert_eq!(found(&overlay, OverrideLocation::Root, Some("grove")), ["OVR-07 o.value"]);
    }
}
