//! What a verdict depends on beside the request: time and the state of the cluster, handed in by the shell.

use std::any::Any;
use std::sync::Arc;
use std::time::SystemTime;

use crate::rule::cluster::ClusterReader;
use crate::rule::review_subject::ReviewSubject;

/// The operator's own view of the cluster; handlers read it with [`Request::facts`](crate::Request::facts).
pub trait Facts: Any + Send + Sync {
    /// Whether another operator has claimed what a review is about, so that it is not ours to judge.
    fn claims(&self, subject: &ReviewSubject<'_>) -> bool {
        let _ = subject;
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

/// Another thread, for a long list of objects.
pub trait SpareThread: Send + Sync {
    /// Runs both to their ends: `other` on the other thread if it is free, else one after the other on this one.
    fn join(&self, own: &mut dyn FnMut(), other: &mut (dyn FnMut() + Send));
}

/// Everything that the answer to a request is made of beside the request.
#[derive(Clone)]
pub struct Context {
    /// The present time.
    pub now: SystemTime,
    /// When the caller stops waiting.
    pub deadline: Option<SystemTime>,
    /// The operator's facts; the only source of claimed namespaces.
    pub facts: Arc<dyn Facts>,
    /// What handlers look things up with; `None` where there is no cluster to ask.
    pub cluster: Option<Arc<dyn ClusterReader>>,
    /// What becomes of notes.
    pub notes: Notes,
    /// What helps with a long list; the answer is the same without it.
    pub spare_thread: Option<Arc<dyn SpareThread>>,
}

impl Context {
    /// A context without a deadline.
    pub fn new(now: SystemTime, facts: Arc<dyn Facts>) -> Self {
        Self { now, deadline: None, facts, cluster: None, notes: Notes::InRecord, spare_thread: None }
    }

    /// The same with a deadline.
    pub fn until(mut self, deadline: SystemTime) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// The same with a cluster in which handlers look things up.
    pub fn cluster(mut self, cluster: Arc<dyn ClusterReader>) -> Self {
        self.cluster = Some(cluster);
        self
    }

    /// The same with another treatment of notes.
    pub fn notes(mut self, notes: Notes) -> Self {
        self.notes = notes;
        self
    }

    /// The same with another thread for a long list.
    pub fn spare_thread(mut self, spare_thread: Arc<dyn SpareThread>) -> Self {
        self.spare_thread = Some(spare_thread);
        self
    }
}
