//! The objects of a review, read as strictly as each deserves.
//!
//! The new object is the user's to mend, so whatever doesn't fit is a finding, but for a status, which is written by
//! itself. The stored one is not: it may have come
//! there before the schema or while no webhook was served, and a change that mends it must be possible. What can't be
//! read of it counts as absent, and what a rule finds only because of that is no finding.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::json::decode::{self, Lenient, Lists, Sent};
use crate::rule::field::FieldPath;
use crate::rule::into_handler::DynValidator;
use crate::rule::review_object::ReviewObject;
use crate::rule::verdict::Verdict;
use crate::webhooks::converter::{AnyConversion, ConversionSettings, HubReading};
use crate::webhooks::future::BoxFuture;
use crate::webhooks::metadata;
use crate::webhooks::read::{ReadError, missing, nests_too_deeply, read, too_large};
use crate::wire::operation::Operation;
use crate::wire::request::Request;
use crate::wire::review::AdmissionReview;

/// How the texts of objects become what handlers judge.
pub(super) trait ObjectReader {
    type Object;

    /// Reads a text; what doesn't fit is a finding.
    fn strictly(&self, json: &str) -> Result<Sent<Self::Object>, ReadError>;

    /// Reads as much of it as fits. Where something doesn't, the same of `instead` is read, or nothing.
    fn leniently(&self, json: &str, instead: Option<&str>, lists: Lists) -> Option<Lenient<Self::Object>>;
}

/// Objects of the version that is judged.
pub(super) struct AsItIs<K>(pub PhantomData<fn() -> K>);

impl<K: ReviewObject> ObjectReader for AsItIs<K> {
    type Object = K;

    fn strictly(&self, json: &str) -> Result<Sent<K>, ReadError> {
        read(json)
    }

    fn leniently(&self, json: &str, instead: Option<&str>, lists: Lists) -> Option<Lenient<K>> {
        // What is too deep for those who look into it is not read in part: they would take it for nothing.
        if nests_too_deeply::<K>(json) {
            return None;
        }
        decode::leniently(json, instead, lists)
    }
}

/// Objects of a spoke.
pub(super) struct AsHub<'a, H> {
    pub spoke: &'a dyn AnyConversion<H>,
    pub settings: ConversionSettings<'a>,
}

impl<H> ObjectReader for AsHub<'_, H> {
    type Object = HubReading<H>;

    fn strictly(&self, json: &str) -> Result<Sent<HubReading<H>>, ReadError> {
        self.spoke.read(json, self.settings)
    }

    fn leniently(&self, json: &str, instead: Option<&str>, lists: Lists) -> Option<Lenient<HubReading<H>>> {
        self.spoke.read_leniently(json, instead, lists)
    }
}

/// The objects of a review, as its operation has them.
pub(super) enum Objects<T> {
    Create {
        new: Sent<T>,
    },
    Update {
        old: Old<T>,
        new: Sent<T>,
    },
    Delete {
        old: Old<T>,
    },
    /// What is connected to has options.
    Connect {
        options: Sent<T>,
    },
    /// The operation isn't known, or they can't be read and pass nevertheless.
    Neither,
}

/// A stored object.
pub(super) enum Old<T> {
    Whole(T),
    Partly {
        /// Without what can't be read.
        absent: T,
        /// With what the new object has in its place.
        unchanged: Option<T>,
        unread: Vec<FieldPath>,
    },
    /// Not even in part.
    Unreadable,
}

impl<T> Old<T> {
    pub(super) fn read(
        reader: &impl ObjectReader<Object = T>,
        json: &str,
        new: Option<&str>,
    ) -> Result<Self, ReadError> {
        match reader.strictly(json) {
            Ok(old) => Ok(Self::Whole(old.value)),
            Err(undecided @ ReadError::Error(_)) => Err(undecided),
            Err(ReadError::Fields(_)) => Ok(match reader.leniently(json, None, Lists::Unbounded) {
                // Only lists are longer than a new object may have.
                Some(Lenient { value: old, unread, .. }) if unread.is_empty() => Self::Whole(old),
                Some(Lenient { value: absent, unread, .. }) => {
                    let unchanged = new.and_then(|new| reader.leniently(json, Some(new), Lists::Unbounded));
                    Self::Partly { absent, unchanged: unchanged.map(|old| old.value), unread }
                }
                None => Self::Unreadable,
            }),
        }
    }

    fn readable(&self) -> Option<&T> {
        match self {
            Self::Whole(old) | Self::Partly { absent: old, .. } => Some(old),
            Self::Unreadable => None,
        }
    }

    pub(super) fn into_readable(self) -> Option<T> {
        match self {
            Self::Whole(old) | Self::Partly { absent: old, .. } => Some(old),
            Self::Unreadable => None,
        }
    }

    /// Says what was not read.
    fn warn(&self, mut verdict: Verdict) -> Verdict {
        match self {
            Self::Whole(_) => {}
            Self::Partly { unread, .. } => verdict.warnings.extend(warnings(unread)),
            Self::Unreadable => {
                let text = "the stored object can't be read: rules that compare it with the new one are skipped";
                verdict.warnings.push(Cow::Borrowed(text));
            }
        }
        verdict
    }
}

/// How many members are named that can't be read.
const NAMED: usize = 8;

fn warnings(unread: &[FieldPath]) -> impl Iterator<Item = Cow<'static, str>> {
    let named = unread.iter().take(NAMED).map(|path| {
        Cow::Owned(format!(
            "{path} of the stored object can't be read and counts as absent: rules that need it are skipped"
        ))
    });
    let more = unread.len().saturating_sub(NAMED);
    named.chain((more > 0).then(|| Cow::Owned(format!("{more} further members of the stored object can't be read"))))
}

impl<T> Objects<T> {
    pub(super) fn read(
        review: &AdmissionReview<'_>,
        reader: &impl ObjectReader<Object = T>,
    ) -> Result<Self, ReadError> {
        let new = || review.object.map(RawValue::get).ok_or_else(|| missing("object"));
        let old = || review.old_object.map(RawValue::get).ok_or_else(|| missing("oldObject"));
        let Some(operation) = review.operation else { return Ok(Self::Neither) };
        Ok(match operation {
            Operation::Create => Self::Create { new: reader.strictly(new()?)? },
            Operation::Update => {
                let (new, old) = (new()?, old()?);
                let Some(read) = changed(review, reader, new)? else { return Ok(Self::Neither) };
                Self::Update { old: Old::read(reader, old, Some(new))?, new: read }
            }
            Operation::Delete => Self::Delete { old: Old::read(reader, old()?, None)? },
            Operation::Connect => Self::Connect { options: reader.strictly(new()?)? },
        })
    }

    /// The object whose paths findings have.
    pub(super) fn reported(&self) -> Option<&T> {
        match self {
            Self::Create { new } | Self::Update { new, .. } | Self::Connect { options: new } => Some(&new.value),
            Self::Delete { old } => old.readable(),
            Self::Neither => None,
        }
    }

    /// The verdict, unless rules could not see all of the new object. One that is being deleted passes nevertheless.
    pub(super) fn conclude(&self, mut verdict: Verdict, review: &AdmissionReview<'_>) -> Verdict {
        let exceeded = match self {
            Self::Create { new } | Self::Update { new, .. } | Self::Connect { options: new } => {
                new.allowance.is_exceeded()
            }
            Self::Delete { .. } | Self::Neither => false,
        };
        if exceeded && !metadata::is_terminating(review) {
            verdict.issues.add(too_large());
        }
        verdict
    }

    /// The verdict of all validators; `request` gives what they may know beside the new and the old object.
    pub(super) async fn judge<'a, K: 'a>(
        &'a self,
        validators: &'a [Arc<dyn DynValidator<K>>],
        judged: impl Fn(&'a T) -> &'a K,
        request: impl Fn(Option<&'a T>, Option<&'a T>) -> Cow<'a, Request>,
    ) -> Verdict {
        let update = async |old: &'a T, new: &'a T| {
            let request = request(Some(new), Some(old));
            verdict_of(validators, |validator| validator.update(judged(old), judged(new), &request)).await
        };
        match self {
            Self::Neither => Verdict::allow(),
            Self::Create { new } => {
                let request = request(Some(&new.value), None);
                verdict_of(validators, |validator| validator.create(judged(&new.value), &request)).await
            }
            Self::Connect { options } => {
                let request = request(Some(&options.value), None);
                verdict_of(validators, |validator| validator.connect(judged(&options.value), &request)).await
            }
            Self::Update { old, new: sent } => {
                let new = &sent.value;
                let verdict = match old {
                    Old::Whole(old) | Old::Partly { absent: old, unchanged: None, .. } => update(old, new).await,
                    Old::Partly { absent, unchanged: Some(unchanged), .. } => {
                        // What depends on the member that can't be read is found in one of the two only.
                        update(absent, new).await.agreeing_with(&update(unchanged, new).await)
                    }
                    Old::Unreadable => update(new, new).await,
                };
                old.warn(verdict)
            }
            Self::Delete { old } => {
                let Some(readable) = old.readable() else { return old.warn(Verdict::allow()) };
                let request = request(None, Some(readable));
                old.warn(verdict_of(validators, |validator| validator.delete(judged(readable), &request)).await)
            }
        }
    }
}

/// What all validators say.
pub(super) async fn verdict_of<'v, K: 'v>(
    validators: &'v [Arc<dyn DynValidator<K>>],
    ask: impl Fn(&'v dyn DynValidator<K>) -> BoxFuture<'v, Verdict>,
) -> Verdict {
    let mut verdict = Verdict::allow();
    for validator in validators {
        verdict.merge(ask(validator.as_ref()).await);
    }
    verdict
}

/// The new object of an update. One that is being deleted need not be readable: what fits of it is judged, by those
/// rules that judge such objects at all; `None` where nothing does.
fn changed<T>(
    review: &AdmissionReview<'_>,
    reader: &impl ObjectReader<Object = T>,
    json: &str,
) -> Result<Option<Sent<T>>, ReadError> {
    match reader.strictly(json) {
        Err(ReadError::Fields(_)) if metadata::is_terminating(review) => {
            let lenient = reader.leniently(json, None, Lists::Bounded);
            Ok(lenient.map(|Lenient { value, allowance, .. }| Sent { value, allowance }))
        }
        Err(ReadError::Fields(issues)) => {
            but_for_its_status(review, reader, json).map(Some).ok_or(ReadError::Fields(issues))
        }
        read => read.map(Some),
    }
}

/// The new object of an update, where nothing of it is unreadable but a status as it is stored. The API server has put
/// that there, so it is not the user's to mend.
pub(super) fn but_for_its_status<T>(
    review: &AdmissionReview<'_>,
    reader: &impl ObjectReader<Object = T>,
    json: &str,
) -> Option<Sent<T>> {
    if !metadata::keeps_status(review) {
        return None;
    }
    let Lenient { value, unread, allowance } = reader.leniently(json, None, Lists::Bounded)?;
    let is_of_status = |path: &FieldPath| path.top_member() == Some("status");
    unread.iter().all(is_of_status).then_some(Sent { value, allowance })
}
