//! What a webhook server does in a cluster: its Secrets, its bundles, its lease, and what it reads.

mod changes;
mod connection;
mod consumers;
pub mod crds;
mod fail_point;
mod failure;
mod fights;
pub mod inspect;
mod keeper;
mod lease;
mod news;
mod patience;
pub mod permissions;
mod reader;
mod replicas;
mod report;
mod review;
mod secrets;
mod setup;
mod trust;
pub mod uninstall;

pub use changes::send_change;
pub use connection::{Connection, ConnectionError};
pub use consumers::{Called, Rival};
pub use keeper::{Keeper, KeeperError};
pub use lease::LeaseTimes;
pub use reader::ApiReader;
pub use report::{ConsumerReport, ConsumerState, NotOurs, ProgressReport, Report, Writer};
pub use review::{Access, AccessReview};
pub use setup::{Certificates, ConsumerRules, LeaseSetup, ReplicaRules, Secrets, ServiceName, Setup};
pub use trust::Trust;
