//! What a verdict depends on beside the request: time and the state of the cluster, handed in by the shell.

use std::any::Any;
use std::future::ready;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use crate::rule::cluster::ClusterReader;
use crate::rule::review_subject::ReviewSubject;
use crate::webhooks::future::BoxFuture;
use crate::wire::decision::Decision;

/// The operator's own view of the cluster; handlers read it with [`Request::facts`](crate::Request::facts).
pub trait Facts: Any + Send + Sync {
    /// Whether another operator has claimed what a review is about, so that it is not ours to judge.
    fn claims<'a>(&'a self, subject: &'a ReviewSubject<'a>) -> BoxFuture<'a, bool> {
        let _ = subject;
        Box::pin(ready(false))
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

/// Learns what a review is about before a handler runs: a shell names that in its log, and in the answer to a review that
/// it gives up. The answer is the same without one.
pub trait ReviewObserver: Send + Sync {
    /// The envelope was read, and nothing is decided yet: until it is, the outcome is a missed deadline.
    fn began(&self, about: Decision);
}

/// Keeps the first.
impl ReviewObserver for OnceLock<Decision> {
    fn began(&self, about: Decision) {
        // Another one would be of another review.
        let _ = self.set(about);
    }
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
    /// What learns early what the review is about.
    pub observer: Option<Arc<dyn ReviewObserver>>,
}

impl Context {
    /// A context without a deadline.
    pub fn new(now: SystemTime, facts: Arc<dyn Facts>) -> Self {
        let notes = Notes::InRecord;
        Self { now, deadline: None, facts, cluster: None, notes, spare_thread: None, observer: None }
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

    /// The same with something that learns early what the review is about.
    pub fn observer(mut self, observer: Arc<dyn ReviewObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    pub(crate) fn began(&self, about: impl FnOnce() -> Decision) {
        if let Some(observer) = &self.observer {
            observer.began(about());
        }
    }
}
