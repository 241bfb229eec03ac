//! Who answers reviews: a product, with its facts of the moment.

use std::sync::Arc;
use std::time::SystemTime;

use gateward_core::{Answer, Context, Facts, Notes, Review};
use gateward_server::Answerer;

use crate::product::Product;

/// Answers by a product's registry. The facts are asked for anew for each request.
pub(crate) struct ProductAnswerer<P, F> {
    pub(crate) product: Arc<P>,
    pub(crate) facts: F,
    /// What becomes of notes, such as "this rule was not evaluated".
    pub(crate) notes: Notes,
}

impl<P: Product, F: Fn() -> Arc<dyn Facts> + Send + Sync + 'static> Answerer for ProductAnswerer<P, F> {
    fn route(&self, path: &str) -> Option<Review> {
        self.product.registry().route(path)
    }

    async fn answer(&self, path: &str, body: &[u8], deadline: SystemTime) -> Answer {
        let context = Context::new(SystemTime::now(), (self.facts)()).until(deadline).notes(self.notes);
        self.product.registry().answer(path, body, &context).await
    }

    fn paths(&self) -> Vec<(String, Review)> {
        self.product.registry().paths().map(|(path, review)| (path.to_owned(), review)).collect()
    }
}
