//! The handler behind the listener: it maps a path and a body to an answer.

use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use gateward_core::{Answer, Context, Facts, Notes, Registry, Review};

/// Handles the reviews that the listener received. The body is within all limits; the answer is sent as it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't handle reviews",
    note = "serve a `Registry` by wrapping it in `WebhooksHandler`, or implement `ReviewHandler`"
)]
pub trait ReviewHandler: Send + Sync + 'static {
    /// The review that a path serves, which decides how large a body may be; `None` is answered with 404.
    fn route(&self, path: &str) -> Option<Review>;

    /// Handles one review. The future is dropped at the deadline, and a panic in it costs this answer only.
    fn handle(&self, path: &str, body: &[u8], deadline: SystemTime) -> impl Future<Output = Answer> + Send;

    /// The served paths, for the log at startup.
    fn paths(&self) -> Vec<(String, Review)> {
        Vec::new()
    }
}

/// Handles reviews by a [`Registry`], with the operator's current facts.
pub struct WebhooksHandler<F> {
    registry: Arc<Registry>,
    facts: F,
    notes: Notes,
}

impl<F: Fn() -> Arc<dyn Facts> + Send + Sync + 'static> WebhooksHandler<F> {
    /// Calls `facts` for each request.
    pub fn new(registry: Arc<Registry>, facts: F) -> Self {
        Self { registry, facts, notes: Notes::default() }
    }

    /// Where notes go, such as "this rule was not evaluated".
    pub fn notes(mut self, notes: Notes) -> Self {
        self.notes = notes;
        self
    }
}

impl<F: Fn() -> Arc<dyn Facts> + Send + Sync + 'static> ReviewHandler for WebhooksHandler<F> {
    fn route(&self, path: &str) -> Option<Review> {
        self.registry.route(path)
    }

    async fn handle(&self, path: &str, body: &[u8], deadline: SystemTime) -> Answer {
        let context = Context::new(SystemTime::now(), (self.facts)()).until(deadline).notes(self.notes);
        self.registry.answer(path, body, &context).await
    }

    fn paths(&self) -> Vec<(String, Review)> {
        self.registry.paths().map(|(path, review)| (path.to_owned(), review)).collect()
    }
}
