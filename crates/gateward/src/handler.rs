//! The handler of reviews: an operator with its current facts.

use std::sync::Arc;
use std::time::SystemTime;

use gateward_core::{Context, Facts, Notes, Review, ReviewResponse};
use gateward_server::ReviewHandler;

use crate::operator::Operator;

/// Handles reviews by an operator's webhooks. `facts` is called for each request.
pub(crate) struct OperatorHandler<P, F> {
    pub(crate) operator: Arc<P>,
    pub(crate) facts: F,
    /// Where notes go, such as "this rule was not evaluated".
    pub(crate) notes: Notes,
}

impl<P: Operator, F: Fn() -> Arc<dyn Facts> + Send + Sync + 'static> ReviewHandler for OperatorHandler<P, F> {
    fn route(&self, path: &str) -> Option<Review> {
        self.operator.webhooks().route(path)
    }

    async fn handle(&self, path: &str, body: &[u8], deadline: SystemTime) -> ReviewResponse {
        let context = Context::new(SystemTime::now(), (self.facts)()).until(deadline).notes(self.notes);
        self.operator.webhooks().handle(path, body, &context).await
    }

    fn paths(&self) -> Vec<(String, Review)> {
        self.operator.webhooks().paths().map(|(path, review)| (path.to_owned(), review)).collect()
    }
}
