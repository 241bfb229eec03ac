//! What a verdict depends on beside the request: time and the state of the cluster, handed in by the shell.

use std::any::Any;
use std::sync::Arc;
use std::time::SystemTime;

/// The operator's own view of the cluster; handlers read it with [`Request::facts`](crate::Request::facts).
pub trait Facts: Any + Send + Sync {
    /// Whether another operator has claimed the namespace, so that nothing in it is ours to judge.
    fn claims(&self, namespace: &str) -> bool {
        let _ = namespace;
        false
    }
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
