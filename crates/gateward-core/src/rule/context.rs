//! What a verdict depends on beside the request: time and the state of the cluster, handed in by the shell.

use std::any::Any;
use std::sync::Arc;
use std::time::SystemTime;

use crate::wire::operation::Operation;
use crate::wire::review_stage::Review;

/// The operator's own view of the cluster; handlers read it with [`Request::facts`](crate::Request::facts).
pub trait Facts: Any + Send + Sync {
    /// Whether another operator has claimed what a review is about, so that it is not ours to judge.
    fn claims(&self, subject: &ReviewSubject<'_>) -> bool {
        let _ = subject;
        false
    }
}

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

/// No facts.
impl Facts for () {}

/// What becomes of notes, such as "this rule was not evaluated".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Notes {
    /// They stay in the record.
    #[default]
    InRecord,
    /// They are sent to the user as warnings too.
    AsWarnings,
}

/// Everything a verdict depends on beside the request.
#[derive(Clone)]
pub struct Context {
    /// The present time.
    pub now: SystemTime,
    /// When the caller stops waiting.
    pub deadline: Option<SystemTime>,
    /// The operator's facts; the only source of claimed namespaces.
    pub facts: Arc<dyn Facts>,
    /// What becomes of notes.
    pub notes: Notes,
}

impl Context {
    /// A context without a deadline.
    pub fn new(now: SystemTime, facts: Arc<dyn Facts>) -> Self {
        Self { now, deadline: None, facts, notes: Notes::InRecord }
    }

    /// The same with a deadline.
    pub fn until(mut self, deadline: SystemTime) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// The same with another treatment of notes.
    pub fn notes(mut self, notes: Notes) -> Self {
        self.notes = notes;
        self
    }
}
