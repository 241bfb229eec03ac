//! The leader's lease: one replica writes Secrets and bundles, the others follow.
//!
//! What is decided is in [`record`], what the rest of this crate asks is in [`leadership`], and [`hold`] does the work.

mod elector;
mod leadership;
mod record;

pub(crate) use elector::{LeaderElector, LeaseStatus, lease_status};
pub(crate) use leadership::{LeaderState, Leadership};
