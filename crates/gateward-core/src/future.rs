//! The shape of a future behind a trait object.

use std::future::Future;
use std::pin::Pin;

/// A future that a trait object returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
