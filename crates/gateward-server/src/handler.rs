//! The handler behind the listener: it maps a path and a body to an answer.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use gateward_core::{
    ClusterReader, Context, Facts, Notes, Review, ReviewObserver, ReviewResponse, SpareThread, WebhookRoute, Webhooks,
};

/// Handles the reviews that the listener received. The body is within all limits; the answer is sent as it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't handle reviews",
    note = "serve a `Webhooks` by wrapping it in `WebhooksHandler`, or implement `ReviewHandler`"
)]
pub trait ReviewHandler: Send + Sync + 'static {
    /// What a path is resolved to, once a request; [`Review`] itself where nothing else is needed.
    type Route: Copy + Into<Review> + Send + 'static;

    /// What serves a path. Its review decides how large a body may be; `None` is answered with 404.
    fn route(&self, path: &str) -> Option<Self::Route>;

    /// Handles one review. The future is dropped at the deadline, and a panic in it costs this answer only.
    fn handle(
        &self,
        route: Self::Route,
        body: &[u8],
        terms: ReviewTerms,
    ) -> impl Future<Output = ReviewResponse> + Send;

    /// The served paths, for the log at startup.
    fn paths(&self) -> Vec<(String, Review)> {
        Vec::new()
    }
}

/// What the listener grants a review.
#[derive(Clone)]
pub struct ReviewTerms {
    /// When the caller stops waiting.
    pub deadline: SystemTime,
    /// Another thread, as long as no other review wants it.
    pub spare_thread: Arc<dyn SpareThread>,
    /// What wants to learn, before a handler runs, what the review is about.
    pub observer: Arc<dyn ReviewObserver>,
}

/// Handles reviews by a [`Webhooks`], or by what holds one, with the operator's current facts.
pub struct WebhooksHandler<W, F> {
    webhooks: W,
    facts: F,
    cluster: Arc<OnceLock<Arc<dyn ClusterReader>>>,
    notes: Notes,
}

impl<W, F> WebhooksHandler<W, F>
where
    W: AsRef<Webhooks> + Send + Sync + 'static,
    F: Fn() -> Arc<dyn Facts> + Send + Sync + 'static,
{
    /// Calls `facts` for each request.
    pub fn new(webhooks: W, facts: F) -> Self {
        Self { webhooks, facts, cluster: Arc::default(), notes: Notes::default() }
    }

    /// What handlers look things up with, from the moment on that it is set.
    pub fn cluster(mut self, cluster: Arc<OnceLock<Arc<dyn ClusterReader>>>) -> Self {
        self.cluster = cluster;
        self
    }

    /// Where notes go, such as "this rule was not evaluated".
    pub fn notes(mut self, notes: Notes) -> Self {
        self.notes = notes;
        self
    }
}

impl<W, F> ReviewHandler for WebhooksHandler<W, F>
where
    W: AsRef<Webhooks> + Send + Sync + 'static,
    F: Fn() -> Arc<dyn Facts> + Send + Sync + 'static,
{
    type Route = WebhookRoute;

    fn route(&self, path: &str) -> Option<WebhookRoute> {
        self.webhooks.as_ref().route(path)
    }

    async fn handle(&self, route: WebhookRoute, body: &[u8], terms: ReviewTerms) -> ReviewResponse {
        let cluster = self.cluster.get().cloned();
        let context = Context { cluster, ..Context::new(SystemTime::now(), (self.facts)()) };
        let context = context.until(terms.deadline).notes(self.notes);
        let context = context.spare_thread(terms.spare_thread).observer(terms.observer);
        self.webhooks.as_ref().handle_route(route, body, &context).await
    }

    fn paths(&self) -> Vec<(String, Review)> {
        self.webhooks.as_ref().paths().map(|(path, review)| (path.to_owned(), review)).collect()
    }
}
