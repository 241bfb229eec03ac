//! What was decided about a review, for logs and metrics.

use std::borrow::Cow;

use crate::json::patch::Patch;
use crate::rule::field::FieldPath;
use crate::rule::issue::Issues;
use crate::rule::resource::GroupVersionKind;
use crate::webhooks::webhook_error::WebhookError;
use crate::wire::operation::Operation;
use crate::wire::review_stage::Review;
use crate::wire::review_version::ReviewVersion;

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Allowed as it is.
    Allowed,
    /// Allowed with a patch of so many operations.
    Patched {
        /// How many operations the patch has.
        operations: usize,
    },
    /// Denied.
    Denied {
        /// The code of the status.
        code: u16,
        /// The reason of the status.
        reason: String,
    },
    /// Allowed without being judged.
    Skipped(Skip),
    /// All objects of a review were converted.
    Converted {
        /// How many.
        objects: usize,
        /// How many of them lack something and are marked.
        incomplete: usize,
    },
    /// An object could not be converted, so none was.
    NotConverted {
        /// Its position in the review.
        index: usize,
        /// The field that stands in the way.
        path: FieldPath,
    },
    /// No verdict: an HTTP error.
    Error(WebhookError),
}

/// Why an object was let through without being judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// Another operator has claimed the namespace.
    ClaimedNamespace,
    /// The object is being deleted.
    Terminating,
    /// Nothing changes but that finalizers go.
    FinalizersRemoved,
    /// No handler is registered for the operation.
    NoHandler,
}

impl Skip {
    /// The word that metrics use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ClaimedNamespace => "claimed_namespace",
            Self::Terminating => "terminating",
            Self::FinalizersRemoved => "finalizers_removed",
            Self::NoHandler => "no_handler",
        }
    }
}

/// What was decided about what. Holds no object contents but the findings.
#[derive(Debug, Clone)]
pub struct Decision {
    /// What the path was asked for; `None` where the path is unknown.
    pub review: Option<Review>,
    /// The caller's id of the review.
    pub uid: String,
    /// Group, version and kind of the object.
    pub kind: GroupVersionKind,
    /// The plural of the resource.
    pub resource: String,
    /// What was being done.
    pub operation: Option<Operation>,
    /// The object's namespace; empty where it has none.
    pub namespace: String,
    /// The object's name, or `generateName` and an asterisk; empty where neither is known.
    pub name: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The version of the review, in which it is answered.
    pub review_version: ReviewVersion,
    /// The findings, in order, with the paths that the user wrote.
    pub issues: Issues,
    /// The patch of a mutating review.
    pub patch: Patch,
    /// The text of a plain denial, or of a failed conversion.
    pub denial: Option<Cow<'static, str>>,
    /// Warnings that no finding stands behind.
    pub warnings: Vec<Cow<'static, str>>,
}

impl Decision {
    /// A decision of a request about which nothing is known but how it ended.
    pub fn error(why: WebhookError) -> Self {
        Self::of(Outcome::Error(why))
    }

    pub(crate) fn of(outcome: Outcome) -> Self {
        Self {
            review: None,
            uid: String::new(),
            kind: GroupVersionKind::default(),
            resource: String::new(),
            operation: None,
            namespace: String::new(),
            name: String::new(),
            outcome,
            review_version: ReviewVersion::default(),
            issues: Issues::new(),
            patch: Patch::default(),
            denial: None,
            warnings: Vec::new(),
        }
    }

    /// The ids of the rules that found something, each once, in order.
    pub fn rules(&self) -> Vec<&'static str> {
        distinct(self.issues.iter().map(|issue| issue.rule))
    }
}

/// Each item once, in order.
pub(crate) fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for item in items {
        if !distinct.contains(&item) {
            distinct.push(item);
        }
    }
    distinct
}
