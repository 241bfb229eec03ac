//! Objects that pass without being judged.

use std::future::ready;

use gateward_core::{
    BoxFuture, DeletingObjects, Facts, Outcome, Request, ReviewSubject, Skip, Verdict, Webhook, Webhooks,
};
use serde_json::{Value, json};

use crate::zoo::{Otter, Reply, VALIDATE, ask, ask_knowing, created, judged_by, otter, updated};

fn refuse(_: &Otter, _: &Request) -> Verdict {
    Verdict::deny("no otters here")
}

/// Another operator judges what lives in this namespace.
struct ClaimedBy(&'static str);

impl Facts for ClaimedBy {
    fn claims<'a>(&'a self, subject: &'a ReviewSubject<'a>) -> BoxFuture<'a, bool> {
        Box::pin(ready(subject.namespace == self.0))
    }
}

fn assert_skipped(reply: &Reply, why: Skip) {
    assert!(reply.is_allowed(), "{}", reply.body);
    assert_eq!(reply.record.outcome, Outcome::Skipped(why));
}

#[test]
fn what_another_operator_has_claimed_passes() {
    let (webhooks, body) = (judged_by(refuse), created(otter(json!({}))));
    assert_skipped(&ask_knowing(&webhooks, ClaimedBy("river"), VALIDATE, &body), Skip::ClaimedNamespace);
    assert!(!ask_knowing(&webhooks, ClaimedBy("lake"), VALIDATE, &body).is_allowed());
}

#[test]
fn the_object_says_where_it_lives_if_the_request_does_not() {
    let mut body = created(otter(json!({})));
    body["request"]["namespace"] = Value::Null;
    body["request"]["object"]["metadata"]["namespace"] = "lake".into();
    assert_skipped(&ask_knowing(&judged_by(refuse), ClaimedBy("lake"), VALIDATE, &body), Skip::ClaimedNamespace);
}

fn leaving() -> Value {
    let mut otter = otter(json!({}));
    otter["metadata"]["deletionTimestamp"] = "2026-11-21T10:00:00Z".into();
    otter
}

#[test]
fn an_update_of_an_object_that_is_being_deleted_passes_where_the_kind_says_so() {
    let skipping =
        Webhooks::new().register(Webhook::<Otter>::new().validator(refuse).deleting_objects(DeletingObjects::Skip));
    let update = updated(otter(json!({})), leaving());
    assert_skipped(&ask(&skipping, VALIDATE, &update), Skip::Terminating);
    assert!(!ask(&judged_by(refuse), VALIDATE, &update).is_allowed());
}

#[test]
fn a_deletion_timestamp_opens_no_door_for_new_objects() {
    let webhooks =
        Webhooks::new().register(Webhook::<Otter>::new().validator(refuse).deleting_objects(DeletingObjects::Skip));
    assert!(!ask(&webhooks, VALIDATE, &created(leaving())).is_allowed());
    assert!(!ask(&webhooks, VALIDATE, &updated(leaving(), otter(json!({})))).is_allowed());
    let mut null = otter(json!({}));
    null["metadata"]["deletionTimestamp"] = Value::Null;
    assert!(!ask(&webhooks, VALIDATE, &updated(otter(json!({})), null)).is_allowed());
}
