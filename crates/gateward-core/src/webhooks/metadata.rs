//! What is known of an object before it is read: the few members of `metadata` that routing needs.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::decode;
use crate::json::meaning::{Apart, same_apart_from};
use crate::json::members::member_at;
use crate::json::reading::Allowance;
use crate::wire::operation::Operation;
use crate::wire::request::Request;
use crate::wire::review::AdmissionReview;

/// Members of `metadata`, as they came: one of the wrong type hides none of the others.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Members<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    generate_name: Option<&'a RawValue>,
    #[serde(borrow)]
    namespace: Option<&'a RawValue>,
    #[serde(borrow)]
    deletion_timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    finalizers: Option<&'a RawValue>,
}

impl<'a> Members<'a> {
    fn of(json: &'a str) -> Self {
        // Metadata of the wrong type is a finding later, when the whole object is read.
        member_at(json, "metadata").and_then(|metadata| serde_json::from_str(metadata).ok()).unwrap_or_default()
    }
}

/// Fills in what the envelope lacks. A well-formed update from the API server costs nothing here.
pub(super) fn complete(review: &mut AdmissionReview<'_>) {
    if review.request.name.is_some() && review.request.namespace.is_some() {
        return;
    }
    let members = review.object.or(review.old_object).map(|raw| Members::of(raw.get())).unwrap_or_default();
    let text = |raw: Option<&RawValue>| {
        raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok()).filter(|text| !text.is_empty())
    };
    let Request { name, namespace, generate_name, .. } = &mut review.request;
    *name = name.take().or_else(|| text(members.name));
    *namespace = namespace.take().or_else(|| text(members.namespace));
    *generate_name = text(members.generate_name);
}

/// Whether the review is about a change of an object that is being deleted.
pub(super) fn is_terminating(review: &AdmissionReview<'_>) -> bool {
    let object = review.object.filter(|_| review.operation == Some(Operation::Update));
    object.is_some_and(|raw| is_deleted(raw.get()))
}

/// Whether an object is being deleted.
pub(super) fn is_deleted(json: &str) -> bool {
    Members::of(json).deletion_timestamp.is_some()
}

/// Whether the change leaves the status as it is stored.
pub(super) fn keeps_status(review: &AdmissionReview<'_>) -> bool {
    let (Some(Operation::Update), Some(old), Some(new)) = (review.operation, review.old_object, review.object) else {
        return false;
    };
    member_at(old.get(), "status") == member_at(new.get(), "status")
}

/// What the API server itself writes when finalizers are removed.
const BESIDE_FINALIZERS: Apart =
    &[&["metadata", "finalizers"], &["metadata", "managedFields"], &["metadata", "resourceVersion"]];

/// Whether the change removes finalizers and does nothing else.
pub(super) fn removes_finalizers_alone(review: &AdmissionReview<'_>) -> bool {
    let (Some(Operation::Update), Some(old), Some(new)) = (review.operation, review.old_object, review.object) else {
        return false;
    };
    let (old, new) = (old.get(), new.get());
    if !old.contains("\"finalizers\"") {
        return false;
    }
    let (Some(before), Some(after)) = (finalizers(old), finalizers(new)) else { return false };
    let (fewer, before) = (after.len() < before.len(), before.iter().collect::<BTreeSet<_>>());
    let removed = fewer && after.iter().all(|finalizer| before.contains(finalizer));
    removed && same_apart_from(BESIDE_FINALIZERS, old, new)
}

fn finalizers(json: &str) -> Option<Vec<String>> {
    let Some(raw) = Members::of(json).finalizers else { return Some(Vec::new()) };
    decode::part(raw.get(), &Allowance::of(raw.get().len())).ok()
}
