//! Reading the objects of a review, strictly.

use crate::json::decode::{self, DECODE_LIMIT, Sent};
use crate::json::reading::depth;
use crate::rule::DECODE;
use crate::rule::field::FieldPath;
use crate::rule::issue::{Issue, Issues};
use crate::rule::review_object::ReviewObject;
use crate::rule::verdict::Verdict;
use crate::webhooks::webhook_error::WebhookError;

/// Reads an object; nodes of the wrong type are findings.
pub(crate) fn read<K: ReviewObject>(json: &str) -> Result<Sent<K>, ReadError> {
    if nests_too_deeply::<K>(json) {
        let issue = DECODE.forbidden(FieldPath::root()).message("nests too deeply to be judged").as_written();
        return Err(ReadError::Fields(Issues::from_iter([issue])));
    }
    decode::object(json, DECODE_LIMIT).map_err(|errors| {
        ReadError::Fields(errors.iter().map(|error| error.issue(&FieldPath::root()).as_written()).collect())
    })
}

/// Whether an object is deeper than those who judge it can see.
pub(super) fn nests_too_deeply<K: ReviewObject>(json: &str) -> bool {
    K::MOST_DEPTH.is_some_and(|most| depth(json) > most)
}

/// The finding on an object of which a rule could not see all, because its lists take too much memory.
pub(super) fn too_large() -> Issue {
    DECODE.forbidden(FieldPath::root()).message("the lists in its subtrees are too long to be judged").as_written()
}

pub(super) fn missing(what: &str) -> ReadError {
    ReadError::Error(WebhookError::Unreadable(format!("the request has no {what}")))
}

/// Why an object got to no handler.
pub(crate) enum ReadError {
    /// Fields of the user's object stand in the way.
    Fields(Issues),
    /// The request itself is at fault.
    Error(WebhookError),
}

impl From<ReadError> for Verdict {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Fields(issues) => Self::from(issues),
            ReadError::Error(why) => Self::error(why),
        }
    }
}
