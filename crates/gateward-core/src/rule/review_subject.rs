//! What a claim on a namespace is held against.

use crate::wire::operation::Operation;
use crate::wire::review_stage::Review;

/// What a review is about, as far as a claim on it depends on that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewSubject<'a> {
    /// The object's namespace.
    pub namespace: &'a str,
    /// The API group.
    pub group: &'a str,
    /// The plural.
    pub resource: &'a str,
    /// The version that the user wrote.
    pub version: &'a str,
    /// All versions of the kind, which API servers convert between.
    pub versions: &'a [&'a str],
    /// What is being done; `None` for an operation that isn't known.
    pub operation: Option<Operation>,
    /// Validation or defaulting.
    pub review: Review,
}
