use std::time::{Duration, Instant};

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::*;
use crate::namespace_lease::claims::ObservedWebhooks;
use crate::namespace_lease::record::{LeaseVersion, NamespaceLease, ObservedLease};
use crate::namespace_lease::webhook::{ClaimingWebhook, ConfigurationVersion, Versions, WebhookRule};

const MARKER: &str = "claimed.otter.zoo.org";

fn rule(versions: &[&str], operations: &[&str]) -> RuleWithOperations {
    let rule = json!({
        "apiGroups": ["zoo.org"], "apiVersions": versions, "operations": operations, "resources": ["otters"],
    });
    serde_json::from_value(rule).unwrap()
}

/// Claims of some namespaces by a webhook that covers a rule.
fn claims(namespaces: &[&str], rule: RuleWithOperations) -> Claims {
    let now = Instant::now();
    let leases = namespaces.iter().map(|namespace| {
        let lease = NamespaceLease {
            namespace: (*namespace).to_owned(),
            name: "lock".into(),
            holder: Some("river/1".into()),
            duration: Some(Duration::from_secs(30)),
            renewed: Some(Timestamp::UNIX_EPOCH),
            version: LeaseVersion::default(),
        };
        ObservedLease { lease, since: now }
    });
    let leases: Vec<ObservedLease> = leases.collect();
    let webhook = ClaimingWebhook {
        version: ConfigurationVersion::default(),
        review: Review::Validate,
        configuration: "river".into(),
        entry: "otters.zoo.org".into(),
        namespaces: namespaces.iter().map(|namespace| (*namespace).to_owned()).collect(),
        rules: vec![WebhookRule { rule, versions: Versions::Exact }],
    };
    let webhooks = ObservedWebhooks::after(&ObservedWebhooks::default(), vec![webhook], now);
    Claims::of(&leases, &webhooks, Duration::ZERO, now)
}

fn ours(rules: Vec<RuleWithOperations>, selector: Value) -> OwnConfiguration {
    let selector = serde_json::from_value(selector).unwrap();
    OwnConfiguration {
        review: Review::Validate,
        name: "lake-validating".into(),
        resource_version: "7".into(),
        webhooks: vec![OwnWebhook { name: "otters.lake.org".into(), rules, selector }],
    }
}

fn kube_system() -> Value {
    json!({"key": NAMESPACE_NAME, "operator": "NotIn", "values": ["kube-system"]})
}

fn expression(namespaces: &[&str]) -> Value {
    let values: Vec<&str> = std::iter::once(MARKER).chain(namespaces.iter().copied()).collect();
    json!({"key": NAMESPACE_NAME, "operator": "NotIn", "values": values})
}

fn whole() -> Vec<RuleWithOperations> {
    vec![rule(&["v1", "v2"], &["CREATE", "UPDATE"])]
}

fn patched(configuration: &OwnConfiguration, claims: &Claims, setting: ClaimedNamespaces) -> Option<Value> {
    configuration
        .patch(&ExcludedClaims { claims, setting, marker: MARKER })
        .map(|patch| serde_json::to_value(patch).unwrap())
}

#[test]
fn an_entry_whose_rules_are_all_claimed_leaves_the_namespaces_out() {
    let claims = claims(&["team-b", "team-a"], rule(&["*"], &["*"]));
    let selector = json!({"matchLabels": {"tier": "gold"}, "matchExpressions": [kube_system()]});
    assert_eq!(
        patched(&ours(whole(), selector), &claims, ClaimedNamespaces::Excluded),
        Some(json!([
            {"op": "test", "path": "/metadata/resourceVersion", "value": "7"},
            {"op": "test", "path": "/webhooks/0/name", "value": "otters.lake.org"},
            {"op": "add", "path": "/webhooks/0/namespaceSelector", "value": {
                "matchLabels": {"tier": "gold"},
                "matchExpressions": [kube_system(), expression(&["team-a", "team-b"])],
            }},
        ]))
    );
}

#[test]
fn an_entry_with_a_rule_that_is_not_claimed_goes_on_being_called() {
    let configuration = ours(whole(), json!({"matchExpressions": [kube_system()]}));
    for covered in [rule(&["v1", "v2"], &["CREATE"]), rule(&["v2"], &["CREATE", "UPDATE"])] {
        assert_eq!(patched(&configuration, &claims(&["team-a"], covered), ClaimedNamespaces::Excluded), None);
    }
    let everything = ours(vec![rule(&["v1"], &["*"])], json!({}));
    let covered = claims(&["team-a"], rule(&["*"], &["CREATE", "UPDATE"]));
    assert_eq!(patched(&everything, &covered, ClaimedNamespaces::Excluded), None);
    let nothing = ours(Vec::new(), json!({}));
    assert_eq!(patched(&nothing, &covered, ClaimedNamespaces::Excluded), None);
}

#[test]
fn an_expression_that_is_as_it_should_be_is_left() {
    let claims = claims(&["team-a"], rule(&["*"], &["*"]));
    let selector = json!({"matchExpressions": [kube_system(), expression(&["team-a"])]});
    assert_eq!(patched(&ours(whole(), selector), &claims, ClaimedNamespaces::Excluded), None);
}

#[test]
fn an_expression_that_somebody_changed_is_repaired() {
    let claims = claims(&["team-a"], rule(&["*"], &["*"]));
    let wanted = json!([kube_system(), expression(&["team-a"])]);
    for written in [
        json!([kube_system(), expression(&["team-a", "team-b"])]),
        json!([kube_system(), expression(&[])]),
        json!([expression(&["team-b"]), kube_system(), expression(&["team-a"])]),
        json!([kube_system(), {"key": "x", "operator": "In", "values": [MARKER]}]),
    ] {
        let configuration = ours(whole(), json!({"matchExpressions": written}));
        let patch = patched(&configuration, &claims, ClaimedNamespaces::Excluded).unwrap();
        assert_eq!(patch[2]["value"]["matchExpressions"], wanted, "{written}");
    }
}

#[test]
fn the_expression_goes_with_the_claim_and_with_the_setting() {
    let configuration = ours(whole(), json!({"matchExpressions": [kube_system(), expression(&["team-a"])]}));
    let ended = Claims::default();
    let patch = patched(&configuration, &ended, ClaimedNamespaces::Excluded).unwrap();
    assert_eq!(patch[2]["value"]["matchExpressions"], json!([kube_system()]));
    let claimed = claims(&["team-a"], rule(&["*"], &["*"]));
    assert_eq!(patched(&configuration, &claimed, ClaimedNamespaces::Called), Some(patch));
}

#[test]
fn a_configuration_without_selectors_is_left_alone() {
    assert_eq!(patched(&ours(whole(), json!({})), &Claims::default(), ClaimedNamespaces::Excluded), None);
}
