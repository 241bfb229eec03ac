//! The vocabulary of tests: rules, arbitrary objects, and round trips between versions.
//!
//! The words of rule tests are those of [`gateward_core::testing`]. That no version of a kind loses a field on the way
//! through another is one line:
//!
//! ```no_run
//! # use gateward::prelude::*;
//! # fn webhooks() -> Webhooks { Webhooks::new() }
//! # const CRD: &str = "";
//! gateward::testing::round_trips(&webhooks(), CRD).hold();
//! gateward::testing::round_trips(&webhooks(), CRD).with_unknown_fields().hold();
//! ```
//!
//! That the examples of the rules do what they say is another: `gateward::testing::catalogue(&webhooks()).hold()`.

mod catalogue;
mod draw;
mod example;
mod meaning;
mod node;
mod object_schema;
mod objects;
mod round_trips;
#[cfg(feature = "cluster")]
mod server;
mod shrink;
mod unknown;
mod vocabulary;

pub use catalogue::{CatalogueTest, catalogue};
pub use gateward_core::testing::*;
pub use meaning::{JsonDifference, differences};
pub use objects::{Objects, objects};
pub use round_trips::{RoundTrips, round_trips};
#[cfg(feature = "cluster")]
pub use server::{TestServer, test_server};
pub use shrink::Shrinking;
