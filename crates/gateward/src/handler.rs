//! The handler of reviews: a product with its current facts.

use std::sync::Arc;
use std::time::SystemTime;

use gateward_core::{Answer, Context, Facts, Notes, Review};
use gateward_server::ReviewHandler;

use crate::product::Product;

/// Handles reviews by a product's registry. `facts` is called for each request.
pub(crate) struct ProductHandler<P, F> {
    pub(crate) product: Arc<P>,
    pub(crate) facts: F,
    /// Where notes go, such as "this rule was not evaluated".
    pub(crate) notes: Notes,
}

impl<P: Product, F: Fn() -> Arc<dyn Facts> + Send + Sync + 'static> ReviewHandler for ProductHandler<P, F> {
    fn route(&self, path: &str) -> Option<Review> {
        self.product.registry().route(path)
    }

    async fn handle(&self, path: &str, body: &[u8], deadline: SystemTime) -> Answer {
        let context = Context::new(SystemTime::now(), (self.facts)()).until(deadline).notes(self.notes);
        self.product.registry().answer(path, body, &context).await
    }

    fn paths(&self) -> Vec<(String, Review)> {
        self.product.registry().paths().map(|(path, review)| (path.to_owned(), review)).collect()
    }
}
