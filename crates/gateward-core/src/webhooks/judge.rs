//! From raw objects through typed handlers to a verdict.

use std::any::Any;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::json::decode::{Lists, Sent};
use crate::json::patch::{self, Patch};
use crate::rule::into_handler::{DynDefaulter, DynValidator};
use crate::rule::issue::Issues;
use crate::rule::review_object::ReviewObject;
use crate::rule::verdict::Verdict;
use crate::webhooks::completeness::InHub;
use crate::webhooks::converter::{AnyConversion, ConversionSettings, HubReading};
use crate::webhooks::future::BoxFuture;
use crate::webhooks::metadata;
use crate::webhooks::objects::{AsHub, AsItIs, ObjectReader, Objects, Old, but_for_its_status};
use crate::webhooks::read::{ReadError, missing, read, too_large};
use crate::webhooks::webhook_error::WebhookError;
use crate::wire::operation::Operation;
use crate::wire::request::{Request, SourceObjects};
use crate::wire::review::AdmissionReview;

/// The handlers of one version that get objects as the user wrote them, behind a trait object.
pub(crate) trait AsWritten<T>: Any + Send + Sync {
    fn call<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, T>;
}

/// The validators of version `S`.
pub(crate) struct Validating<S>(pub Vec<Arc<dyn DynValidator<S>>>);

impl<S: ReviewObject> AsWritten<Verdict> for Validating<S> {
    fn call<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(validate(&self.0, review))
    }
}

/// The defaulters of version `S`.
pub(crate) struct Defaulting<S>(pub Vec<Arc<dyn DynDefaulter<S>>>);

impl<S: ReviewObject> AsWritten<(Verdict, Patch)> for Defaulting<S> {
    fn call<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, (Verdict, Patch)> {
        Box::pin(default(&self.0, review))
    }
}

/// Judges the objects of a review as they are.
pub(crate) async fn validate<K: ReviewObject>(
    validators: &[Arc<dyn DynValidator<K>>],
    review: &AdmissionReview<'_>,
) -> Verdict {
    let objects = match Objects::read(review, &AsItIs::<K>(PhantomData)) {
        Ok(objects) => objects,
        Err(error) => return error.into(),
    };
    let verdict = objects.judge(validators, |object| object, |_, _| Cow::Borrowed(&review.request)).await;
    objects.conclude(verdict, review)
}

/// Judges the objects of a review in the hub's version and traces the findings back. Whether that version can say all
/// of the new object comes with it.
pub(crate) async fn validate_in_hub<H: ReviewObject>(
    spoke: &dyn AnyConversion<H>,
    settings: ConversionSettings<'_>,
    validators: &[Arc<dyn DynValidator<H>>],
    review: &AdmissionReview<'_>,
) -> (Verdict, InHub) {
    let objects = match Objects::read(review, &AsHub { spoke, settings }) {
        Ok(objects) => objects,
        Err(error) => return (error.into(), InHub::Untried),
    };
    let written = |reading: Option<&HubReading<H>>| reading.map(|reading| Arc::clone(&reading.written));
    let request = |new: Option<&HubReading<H>>, old: Option<&HubReading<H>>| {
        let written = SourceObjects { new: written(new), old: written(old) };
        Cow::Owned(Request { written, ..review.request.clone() })
    };
    let verdict = objects.judge(validators, |reading| &reading.hub, request).await;
    let verdict = objects.conclude(verdict, review);
    let Some(reported) = objects.reported() else { return (verdict, InHub::Untried) };
    let in_hub = reported.in_hub.clone();
    if verdict.issues.is_empty() {
        return (verdict, in_hub);
    }
    let provenance = spoke.provenance(reported);
    (verdict.trace(|path| provenance.trace(path)), in_hub)
}

/// The patch that the defaulters' work amounts to, with a verdict that may refuse.
pub(crate) async fn default<K: ReviewObject>(
    defaulters: &[Arc<dyn DynDefaulter<K>>],
    review: &AdmissionReview<'_>,
) -> (Verdict, Patch) {
    let mut verdict = Verdict::allow();
    match patch_by(defaulters, review, &mut verdict).await {
        Ok(patch) => (verdict, patch),
        Err(refusal) => {
            verdict.merge(refusal);
            (verdict, Patch::default())
        }
    }
}

async fn patch_by<K: ReviewObject>(
    defaulters: &[Arc<dyn DynDefaulter<K>>],
    review: &AdmissionReview<'_>,
    verdict: &mut Verdict,
) -> Result<Patch, Verdict> {
    let raw = review.object.ok_or_else(|| missing("object"))?.get();
    let Sent { value: mut object, allowance } = match read::<K>(raw) {
        // An object that is deleted need not be mended first.
        Err(ReadError::Fields(_)) if metadata::is_terminating(review) => return Ok(Patch::default()),
        Err(ReadError::Fields(issues)) => {
            but_for_its_status(review, &AsItIs(PhantomData), raw).ok_or(ReadError::Fields(issues))?
        }
        read => read?,
    };
    let before = written(&object)?;
    let old = compared(defaulters, review)?;
    for defaulter in defaulters {
        let defaulted = defaulter.default(old.as_ref(), object, &review.request).await;
        verdict.warnings.extend(defaulted.warnings.into_iter().map(Cow::Owned));
        object = defaulted.outcome?;
    }
    if allowance.is_exceeded() && !metadata::is_terminating(review) {
        return Err(Issues::from_iter([too_large()]).into());
    }
    Ok(difference(&before, &written(&object)?, raw)?)
}

/// The stored object, where a defaulter looks at it.
fn compared<K: ReviewObject>(
    defaulters: &[Arc<dyn DynDefaulter<K>>],
    review: &AdmissionReview<'_>,
) -> Result<Option<K>, ReadError> {
    let is_asked = review.operation == Some(Operation::Update) && defaulters.iter().any(|known| known.compares());
    let texts = review.object.zip(review.old_object).filter(|_| is_asked);
    let Some((new, old)) = texts.map(|(new, old)| (new.get(), old.get())) else { return Ok(None) };
    let reader = AsItIs::<K>(PhantomData);
    match Old::read(&reader, old, None)?.into_readable() {
        Some(old) => Ok(Some(old)),
        // Where nothing of it can be read, nothing has changed.
        None => Ok(reader.leniently(new, None, Lists::Bounded).map(|new| new.value)),
    }
}

fn difference(before: &str, after: &str, raw: &str) -> Result<Patch, ReadError> {
    patch::diff(before, after, raw).map_err(|error| no_tree(&error))
}

fn written<K: ReviewObject>(object: &K) -> Result<String, ReadError> {
    serde_json::to_string(object).map_err(|error| no_tree(&error))
}

/// A patch of what can't be seen whole would lose what can't be seen.
fn no_tree(error: &serde_json::Error) -> ReadError {
    ReadError::Error(WebhookError::Unreadable(format!("no patch can be made for the object: {error}")))
}
