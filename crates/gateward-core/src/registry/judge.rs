//! From raw objects through typed handlers to a verdict.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::decode;
use crate::field::FieldPath;
use crate::future::BoxFuture;
use crate::handler::{DynDefaulter, DynValidator};
use crate::issue::Issues;
use crate::operation::Operation;
use crate::patch::{self, Patch};
use crate::registry::spoke::{Lift, Lifted};
use crate::request::{Request, Written};
use crate::resource::Resource;
use crate::review::AdmissionReview;
use crate::undecided::Undecided;
use crate::verdict::Verdict;

/// How many nodes of the wrong type are named at most.
const DECODE_LIMIT: usize = 32;

/// The handlers of one version that get objects as the user wrote them, behind a trait object.
pub(crate) trait AsWritten<T>: Any + Send + Sync {
    fn call<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, T>;
}

/// The validators of version `S`.
pub(crate) struct Validating<S>(pub Vec<Arc<dyn DynValidator<S>>>);

impl<S: Resource> AsWritten<Verdict> for Validating<S> {
    fn call<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(validate(&self.0, review))
    }
}

/// The defaulters of version `S`.
pub(crate) struct Defaulting<S>(pub Vec<Arc<dyn DynDefaulter<S>>>);

impl<S: Resource> AsWritten<(Verdict, Patch)> for Defaulting<S> {
    fn call<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, (Verdict, Patch)> {
        Box::pin(default(&self.0, review))
    }
}

/// Judges the objects of a review as they are.
pub(crate) async fn validate<K: Resource>(
    validators: &[Arc<dyn DynValidator<K>>],
    review: &AdmissionReview<'_>,
) -> Verdict {
    let objects = match Objects::read(review, read::<K>) {
        Ok(objects) => objects,
        Err(error) => return error.into(),
    };
    objects.judge(validators, |object| object, &review.request).await
}

/// Judges the objects of a review in the hub's version and traces the findings back.
pub(crate) async fn validate_lifted<H: Resource>(
    spoke: &dyn Lift<H>,
    validators: &[Arc<dyn DynValidator<H>>],
    review: &AdmissionReview<'_>,
) -> Verdict {
    let objects = match Objects::read(review, |json| spoke.lift(json)) {
        Ok(objects) => objects,
        Err(error) => return error.into(),
    };
    let written = |lifted: Option<&Lifted<H>>| lifted.map(|lifted| Arc::clone(&lifted.written));
    let mut request = review.request.clone();
    request.written = Written { new: written(objects.newer()), old: written(objects.older()) };
    let verdict = objects.judge(validators, |lifted| &lifted.hub, &request).await;
    match objects.newer().or(objects.older()) {
        Some(reported) if !verdict.issues.is_empty() => {
            let provenance = spoke.provenance(reported.written.as_ref());
            verdict.trace(|path| provenance.trace(path))
        }
        _ => verdict,
    }
}

/// The patch that the defaulters' work amounts to, with a verdict that may refuse.
pub(crate) async fn default<K: Resource>(
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

async fn patch_by<K: Resource>(
    defaulters: &[Arc<dyn DynDefaulter<K>>],
    review: &AdmissionReview<'_>,
    verdict: &mut Verdict,
) -> Result<Patch, Verdict> {
    let raw = review.object.ok_or_else(|| missing("object"))?.get();
    let mut object: K = read(raw)?;
    let before = written(&object)?;
    for defaulter in defaulters {
        let defaulted = defaulter.default(object, &review.request).await;
        verdict.warnings.extend(defaulted.warnings.into_iter().map(Cow::Owned));
        object = defaulted.outcome?;
    }
    Ok(difference(&before, &written(&object)?, raw)?)
}

/// Texts are made trees only where something changed: most of an object is never looked at.
fn difference(before: &str, after: &str, raw: &str) -> Result<Patch, ReadError> {
    if before == after {
        return Ok(Patch::default());
    }
    Ok(patch::diff(&tree(before)?, &tree(after)?, &tree(raw)?))
}

fn written<K: Resource>(object: &K) -> Result<String, ReadError> {
    serde_json::to_string(object).map_err(|error| no_tree(&error))
}

fn tree(json: &str) -> Result<Value, ReadError> {
    serde_json::from_str(json).map_err(|error| no_tree(&error))
}

/// A patch of what can't be seen whole would lose what can't be seen.
fn no_tree(error: &serde_json::Error) -> ReadError {
    ReadError::Undecided(Undecided::Unreadable(format!("no patch can be made for the object: {error}")))
}

/// Reads an object; nodes of the wrong type are findings.
pub(crate) fn read<K: Resource>(json: &str) -> Result<K, ReadError> {
    decode::quickly(json).map_err(|_| {
        let errors = decode::errors::<K>(json, DECODE_LIMIT);
        ReadError::Fields(errors.iter().map(|error| error.issue(&FieldPath::root()).as_written()).collect())
    })
}

fn missing(what: &str) -> ReadError {
    ReadError::Undecided(Undecided::Unreadable(format!("the request has no {what}")))
}

/// Why an object got to no handler.
pub(crate) enum ReadError {
    /// Fields of the user's object stand in the way.
    Fields(Issues),
    /// The request itself is at fault.
    Undecided(Undecided),
}

impl From<ReadError> for Verdict {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Fields(issues) => Self::from(issues),
            ReadError::Undecided(why) => Self::undecided(why),
        }
    }
}

/// The objects of a review, as its operation has them.
enum Objects<T> {
    Create {
        new: T,
    },
    Update {
        old: T,
        new: T,
    },
    Delete {
        old: T,
    },
    /// The operation has none.
    Neither,
}

impl<T> Objects<T> {
    fn read(review: &AdmissionReview<'_>, read: impl Fn(&str) -> Result<T, ReadError>) -> Result<Self, ReadError> {
        let new = || read(review.object.ok_or_else(|| missing("object"))?.get());
        let old = || {
            let raw = review.old_object.ok_or_else(|| missing("oldObject"))?;
            // The stored object is not the user's to mend: a denial would blame the wrong one.
            read(raw.get()).map_err(|_| unreadable_old())
        };
        let Some(operation) = review.operation else { return Ok(Self::Neither) };
        Ok(match operation {
            Operation::Create => Self::Create { new: new()? },
            Operation::Update => {
                let new = new()?;
                Self::Update { old: old()?, new }
            }
            Operation::Delete => Self::Delete { old: old()? },
            Operation::Connect => Self::Neither,
        })
    }

    fn newer(&self) -> Option<&T> {
        match self {
            Self::Create { new } | Self::Update { new, .. } => Some(new),
            Self::Delete { .. } | Self::Neither => None,
        }
    }

    fn older(&self) -> Option<&T> {
        match self {
            Self::Update { old, .. } | Self::Delete { old } => Some(old),
            Self::Create { .. } | Self::Neither => None,
        }
    }

    async fn judge<'a, K: 'a>(
        &'a self,
        validators: &'a [Arc<dyn DynValidator<K>>],
        judged: impl Fn(&'a T) -> &'a K,
        request: &'a Request,
    ) -> Verdict {
        let mut verdict = Verdict::allow();
        for validator in validators {
            verdict.merge(match self {
                Self::Create { new } => validator.create(judged(new), request).await,
                Self::Update { old, new } => validator.update(judged(old), judged(new), request).await,
                Self::Delete { old } => validator.delete(judged(old), request).await,
                Self::Neither => Verdict::allow(),
            });
        }
        verdict
    }
}

fn unreadable_old() -> ReadError {
    ReadError::Undecided(Undecided::Unreadable("the request's oldObject has a field of the wrong JSON type".into()))
}
