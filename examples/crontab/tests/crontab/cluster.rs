//! What is looked up: policies, and CronTabs that `kubectl scale` changes. And what no object comes with: deletions.

use crate::objects::{old_tab, policy, tab, with};
use crontab::cron_policy::CronPolicy;
use crontab::cron_tab::siblings::ONE_A_JOB;
use crontab::cron_tab::v2::CronTab;
use crontab::webhooks;
use gateward::Outcome;
use gateward::testing::{Findings, Stored, TestRequest};
use serde_json::{Value, json};

/// A new CronTab in a cluster with these policies.
fn create(object: &Value, policies: &[Value]) -> Findings {
    let stored = policies.iter().fold(Stored::new(), Stored::with::<CronPolicy>);
    TestRequest::of(&webhooks()).cluster(stored).create(object)
}

/// What `kubectl scale` sends, in a cluster with these objects.
fn scale(replicas: i32, stored: Stored) -> Findings {
    TestRequest::of(&webhooks()).cluster(stored).scale(&tab(), replicas)
}

fn delete_policy(policy: &Value) -> Findings {
    TestRequest::of(&webhooks()).delete(policy)
}

#[track_caller]
fn assert_denied(response: &Findings, findings: &[(&str, &str)]) {
    let decision = &response.answer().decision;
    assert!(matches!(decision.outcome, Outcome::Denied { .. }), "{:?}", decision.outcome);
    let found: Vec<_> = decision.issues.iter().map(|issue| (issue.rule, issue.path.to_string())).collect();
    let found: Vec<_> = found.iter().map(|(rule, path)| (*rule, path.as_str())).collect();
    assert_eq!(found, findings);
}

#[track_caller]
fn assert_allowed(response: &Findings) {
    assert_eq!(response.answer().decision.outcome, Outcome::Allowed);
}

fn limited() -> Value {
    with(tab(), "/spec/policy", "small")
}

#[test]
fn a_cron_tab_keeps_within_its_policy() {
    assert_allowed(&create(&with(limited(), "/spec/replicas", 3), &[policy()]));
    assert_denied(&create(&with(limited(), "/spec/replicas", 4), &[policy()]), &[("CRON-07", "spec.replicas")]);
    assert_denied(
        &create(&with(limited(), "/spec/image", "registry.example.com/other"), &[policy()]),
        &[("CRON-08", "spec.image")],
    );
}

#[test]
fn a_policy_without_images_allows_all() {
    let any = with(policy(), "/spec/allowedImages", json!([]));
    assert_allowed(&create(&with(limited(), "/spec/image", "registry.example.com/other"), &[any]));
}

#[test]
fn a_policy_that_there_is_not_is_a_finding() {
    assert_denied(&create(&limited(), &[]), &[("CRON-06", "spec.policy")]);
}

#[test]
fn a_cron_tab_without_a_policy_is_not_limited() {
    assert_allowed(&create(&with(tab(), "/spec/replicas", 10), &[policy()]));
}

#[test]
fn what_cannot_be_looked_up_is_no_denial() {
    let damaged = with(policy(), "/spec/maxReplicas", "three");
    assert_eq!(create(&limited(), &[damaged]).answer().status, 503);
}

#[test]
fn no_two_cron_tabs_of_a_namespace_do_one_job() {
    let create = |object: &Value, other: &Value| {
        TestRequest::of(&webhooks()).cluster(Stored::new().with::<CronTab>(other)).create(object)
    };
    let other = with(tab(), "/metadata/name", "also-nightly");
    let findings = create(&tab(), &other);
    findings.only(&[&ONE_A_JOB]).by(&ONE_A_JOB).at("spec.schedule").saying("also-nightly");
    create(&old_tab(), &other).only(&[&ONE_A_JOB]).by(&ONE_A_JOB).at("spec.cronSpec");
    for different in
        [("/spec/schedule", "0 5 * * *"), ("/spec/timeZone", "Europe/Berlin"), ("/metadata/namespace", "team")]
    {
        assert_allowed(&create(&tab(), &with(other.clone(), different.0, different.1)));
    }
    assert_allowed(&create(&tab(), &tab()));
}

#[test]
fn scaling_is_judged_by_the_rules_on_updates() {
    let cluster = || Stored::new().with::<CronTab>(&limited()).with::<CronPolicy>(&policy());
    assert_allowed(&scale(3, cluster()));
    assert_denied(&scale(4, cluster()), &[("CRON-07", "spec.replicas")]);
    assert_denied(&scale(11, cluster()), &[("CRON-02", "spec.replicas"), ("CRON-07", "spec.replicas")]);
}

#[test]
fn scaling_what_is_gone_is_not_judged() {
    assert_allowed(&scale(11, Stored::new()));
}

#[test]
fn a_protected_policy_is_not_deleted() {
    assert_allowed(&delete_policy(&policy()));
    assert_denied(&delete_policy(&with(policy(), "/spec/protected", true)), &[("CRON-10", "spec.protected")]);
}
