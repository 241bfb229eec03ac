//! Overrides of what the workload provider is given (section 10 of the rule book): OVR-01 to OVR-10.

mod catalogue;
mod fragment;
mod target;

use dynamo_api::constants::{OVERRIDE_API_VERSION, PROVIDER_GROVE};
use dynamo_api::v1beta1::ProviderOverride;
use gateward::{FieldPath, Issue, Issues};

use catalogue::{API_VERSION, GRAPHS_ONLY, PLACE_HAS_TARGET, PROVIDER_KNOWN, PROVIDER_SUPPORTED, TARGET, UNCHANGED};

pub(crate) use catalogue::RULES;
pub(crate) use target::{OverrideLocation, Target};

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
