//! The offline check: what the API server and the webhooks would say about a manifest.
//!
//! The order is the API server's: defaults of the schema, the defaulting handlers, the schema, the validating handlers.
//! Everything is reported at once, at the node of the file that it is about.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::SystemTime;
//!
//! use gateward::check::{Checker, Report, Schemas};
//! use gateward::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (webhooks, schemas) = (Webhooks::new(), Schemas::read(&[])?);
//! let checker = Checker::new(&webhooks, &schemas, Arc::new(()), SystemTime::now());
//! let mut report = Report::new();
//! checker.check("pod.yaml", b"apiVersion: v1\nkind: Pod\n", &mut report).await?;
//! assert_eq!(report.counts().skipped, 1);
//! # Ok(())
//! # }
//! ```

mod checked_object;
mod checker;
mod finding;
mod judge;
pub(crate) mod report;
mod schemas;
mod stored;
mod stores;
pub(crate) mod subject;
#[cfg(test)]
mod tests;

pub use gateward_lint::bundle;
pub use gateward_lint::diagnostic::{Colour, Diagnostic, ObjectRef, RefusedBy, Related};

pub use checker::{Checker, Defaults};
pub use report::{Counts, Report};
pub use schemas::{CrdError, Schemas};
pub use stored::StoredError;
