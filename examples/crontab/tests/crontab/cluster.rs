//! What is looked up: policies, and CronTabs that `kubectl scale` changes. And what no object comes with: deletions.

use std::sync::Arc;
use std::time::SystemTime;

use crate::objects::{policy, tab, with};
use crontab::webhooks;
use gateward::prelude::*;
use gateward::testing::block_on;
use gateward::{BoxFuture, ClusterReader, Context, GroupServed, Lookup, ObjectName, Outcome, Review, ReviewResponse};
use serde_json::{Value, json};

/// A cluster in which these objects are stored.
#[derive(Debug)]
struct Stored(Vec<Value>);

impl ClusterReader for Stored {
    fn group<'a>(&'a self, _: &'a str) -> BoxFuture<'a, GroupServed> {
        Box::pin(std::future::ready(GroupServed::Served))
    }

    fn resource<'a>(&'a self, _: &'a str, _: &'a str, _: &'a str) -> BoxFuture<'a, GroupServed> {
        Box::pin(std::future::ready(GroupServed::Served))
    }

    fn get<'a>(&'a self, wanted: &'a ObjectName) -> BoxFuture<'a, Lookup> {
        let is_wanted = |object: &&Value| {
            let plural = if object["kind"] == "CronPolicy" { "cronpolicies" } else { "crontabs" };
            plural == wanted.plural
                && object["apiVersion"] == format!("{}/{}", wanted.group, wanted.version)
                && object["metadata"]["name"] == wanted.name
                && object["metadata"]["namespace"].as_str() == wanted.namespace.as_deref()
        };
        let found = self.0.iter().find(is_wanted);
        Box::pin(std::future::ready(found.map_or(Lookup::Absent, |object| Lookup::Found(object.clone()))))
    }
}

/// What the validating webhook of `kind` says to a request, in a cluster of these objects.
fn judge(kind: &str, version: &str, mut request: Value, stored: Vec<Value>) -> ReviewResponse {
    request["uid"] = "7".into();
    let gvk = GroupVersionKind::of(&format!("stable.example.com/{version}"), kind);
    let path = webhooks().path_of(Review::Validate, &gvk).expect("the kind is judged");
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request});
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(())).cluster(Arc::new(Stored(stored)));
    block_on(webhooks().handle(&path, review.to_string().as_bytes(), &context))
}

fn create(object: &Value, stored: Vec<Value>) -> ReviewResponse {
    let request = json!({
        "kind": {"group": "stable.example.com", "version": "v2", "kind": "CronTab"},
        "resource": {"group": "stable.example.com", "version": "v2", "resource": "crontabs"},
        "operation": "CREATE", "name": "nightly", "namespace": "default", "object": object,
    });
    judge("CronTab", "v2", request, stored)
}

/// What `kubectl scale` sends.
fn scale(replicas: i32, stored: Vec<Value>) -> ReviewResponse {
    let scale = |replicas: i32| {
        json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": {"name": "nightly", "namespace": "default"}, "spec": {"replicas": replicas},
        })
    };
    let request = json!({
        "kind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
        "resource": {"group": "stable.example.com", "version": "v2", "resource": "crontabs"},
        "subResource": "scale",
        "operation": "UPDATE", "name": "nightly", "namespace": "default",
        "object": scale(replicas), "oldObject": scale(2),
    });
    judge("CronTab", "v2", request, stored)
}

fn delete_policy(policy: &Value) -> ReviewResponse {
    let request = json!({
        "kind": {"group": "stable.example.com", "version": "v1", "kind": "CronPolicy"},
        "resource": {"group": "stable.example.com", "version": "v1", "resource": "cronpolicies"},
        "operation": "DELETE", "name": "small", "oldObject": policy,
    });
    judge("CronPolicy", "v1", request, Vec::new())
}

#[track_caller]
fn assert_denied(response: &ReviewResponse, findings: &[(&str, &str)]) {
    let decision = &response.decision;
    assert!(matches!(decision.outcome, Outcome::Denied { .. }), "{:?}", decision.outcome);
    let found: Vec<_> = decision.issues.iter().map(|issue| (issue.rule, issue.path.to_string())).collect();
    let found: Vec<_> = found.iter().map(|(rule, path)| (*rule, path.as_str())).collect();
    assert_eq!(found, findings);
}

#[track_caller]
fn assert_allowed(response: &ReviewResponse) {
    assert_eq!(response.decision.outcome, Outcome::Allowed);
}

fn limited() -> Value {
    with(tab(), "/spec/policy", "small")
}

#[test]
fn a_cron_tab_keeps_within_its_policy() {
    assert_allowed(&create(&with(limited(), "/spec/replicas", 3), vec![policy()]));
    assert_denied(&create(&with(limited(), "/spec/replicas", 4), vec![policy()]), &[("CRON-07", "spec.replicas")]);
    assert_denied(
        &create(&with(limited(), "/spec/image", "registry.example.com/other"), vec![policy()]),
        &[("CRON-08", "spec.image")],
    );
}

#[test]
fn a_policy_without_images_allows_all() {
    let any = with(policy(), "/spec/allowedImages", json!([]));
    assert_allowed(&create(&with(limited(), "/spec/image", "registry.example.com/other"), vec![any]));
}

#[test]
fn a_policy_that_there_is_not_is_a_finding() {
    assert_denied(&create(&limited(), Vec::new()), &[("CRON-06", "spec.policy")]);
}

#[test]
fn a_cron_tab_without_a_policy_is_not_limited() {
    assert_allowed(&create(&with(tab(), "/spec/replicas", 10), vec![policy()]));
}

#[test]
fn what_cannot_be_looked_up_is_no_denial() {
    let damaged = with(policy(), "/spec/maxReplicas", "three");
    assert_eq!(create(&limited(), vec![damaged]).status, 503);
}

#[test]
fn scaling_is_judged_by_the_rules_on_updates() {
    let cluster = || vec![limited(), policy()];
    assert_allowed(&scale(3, cluster()));
    assert_denied(&scale(4, cluster()), &[("CRON-07", "spec.replicas")]);
    assert_denied(&scale(11, cluster()), &[("CRON-02", "spec.replicas"), ("CRON-07", "spec.replicas")]);
}

#[test]
fn scaling_what_is_gone_is_not_judged() {
    assert_allowed(&scale(11, Vec::new()));
}

#[test]
fn a_protected_policy_is_not_deleted() {
    assert_allowed(&delete_policy(&policy()));
    assert_denied(&delete_policy(&with(policy(), "/spec/protected", true)), &[("CRON-10", "spec.protected")]);
}
