//! What a webhook server does in a cluster: its Secrets, its bundles, its lease, and what it reads.

mod connection;
pub mod crds;
mod failure;
mod keeper;
mod lease;
pub mod permissions;
mod reader;
mod report;
mod review;
pub mod rivals;
mod setup;
mod trust;

pub use connection::{Connection, ConnectionError};
pub use keeper::Keeper;
pub use lease::LeaseTimes;
pub use reader::ApiReader;
pub use report::{ConsumerReport, ConsumerState, NotOurs, ProgressReport, Report, Writer};
pub use review::{Access, AccessReview};
pub use setup::{Certificates, ConsumerRules, LeaseSetup, ReplicaRules, Secrets, ServiceName, Setup};
pub use trust::Trust;
