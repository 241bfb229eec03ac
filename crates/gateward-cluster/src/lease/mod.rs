//! Leader election by a Lease: the leader writes Secrets and `caBundle`s, the other replicas only read.
//!
//! [`record`] decides, [`elector`] reads and writes the Lease, and [`leadership`] says whether this replica leads.

mod elector;
mod leadership;
mod record;

pub(crate) use elector::{LOG_TARGET, LeaderElector, LeaseStatus, lease_status};
pub(crate) use leadership::Leadership;
