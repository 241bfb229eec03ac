//! Who answers: the side of the listener that knows reviews.

use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use gateward_core::{Answer, Context, Facts, Notes, Registry, Review};

/// What the listener asks for every request. The bytes were received within all limits; the answer is sent as it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't answer reviews",
    note = "serve a `Registry` by wrapping it in `RegistryAnswerer`, or implement `Answerer`"
)]
pub trait Answerer: Send + Sync + 'static {
    /// What a path is served for, which decides how large a body may be; `None` is answered with 404.
    fn route(&self, path: &str) -> Option<Review>;

    /// Answers one request. The future is dropped when the deadline passes, and a panic in it costs this answer only.
    fn answer(&self, path: &str, body: &[u8], deadline: SystemTime) -> impl Future<Output = Answer> + Send;

    /// The served paths, for the log at the start.
    fn paths(&self) -> Vec<(String, Review)> {
        Vec::new()
    }
}

/// Answers from a [`Registry`], with the operator's facts of the moment.
pub struct RegistryAnswerer<F> {
    registry: Arc<Registry>,
    facts: F,
    notes: Notes,
}

impl<F: Fn() -> Arc<dyn Facts> + Send + Sync + 'static> RegistryAnswerer<F> {
    /// `facts` is asked anew for each request.
    pub fn new(registry: Arc<Registry>, facts: F) -> Self {
        Self { registry, facts, notes: Notes::default() }
    }

    /// What becomes of notes, such as "this rule was not evaluated".
    pub fn notes(mut self, notes: Notes) -> Self {
        self.notes = notes;
        self
    }
}

impl<F: Fn() -> Arc<dyn Facts> + Send + Sync + 'static> Answerer for RegistryAnswerer<F> {
    fn route(&self, path: &str) -> Option<Review> {
        self.registry.route(path)
    }

    async fn answer(&self, path: &str, body: &[u8], deadline: SystemTime) -> Answer {
        let context = Context::new(SystemTime::now(), (self.facts)()).until(deadline).notes(self.notes);
        self.registry.answer(path, body, &context).await
    }

    fn paths(&self) -> Vec<(String, Review)> {
        self.registry.paths().map(|(path, review)| (path.to_owned(), review)).collect()
    }
}
