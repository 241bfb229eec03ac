//! A webhook server in a cluster: its certificates, the `caBundle`s that API servers verify it with, leader election,
//! its CRDs, and what validators look up.

mod any_lease;
mod cert_controller;
mod config;
mod connection;
mod contexts;
pub mod crds;
pub mod dev;
mod fail_point;
mod failure;
mod foreign_object;
mod injected;
mod injection;
pub mod inspect;
mod lease;
mod namespace_lease;
#[cfg(test)]
mod pairs;
pub mod permissions;
pub mod preflight;
mod reader;
mod replicas;
mod request;
mod restart_on_panic;
mod review;
mod secrets;
mod send_if_changed;
mod status;
mod store_watch;
mod subject_access;
pub mod uninstall;
mod watch;
mod write_rate_limiter;

pub use cert_controller::{CertController, CertControllerError};
pub use config::{
    ClaimedNamespaces, ClaimsConfig, ControllerConfig, InjectionRules, IssuanceConfig, LeaseConfig, LeaseTimes,
    NamespaceLeaseConfig, NamespaceLeaseTimes, ReplicaConfig, SecretNames, ServedNamespaces, ServiceName,
};
pub use connection::{Connection, ConnectionError};
pub use contexts::{ContextConnection, Contexts};
pub use foreign_object::ForeignObject;
pub use injected::InjectedCaBundles;
pub use injection::{ConflictingWebhook, NotOurs, TargetState, TargetStatus, WebhookEndpoint};
pub use namespace_lease::{ClaimState, ClaimsStatus, HolderState, NamespaceClaims, NamespaceStatus};
pub use reader::{ApiReader, ObjectPages, ObjectPagesError};
pub use request::Backoff;
pub use restart_on_panic::restart_on_panic;
pub use review::{Access, AccessReview};
pub use send_if_changed::send_if_changed;
pub use status::{ControllerStatus, Leader, LeaderProgress};
pub use store_watch::{StoreState, keep_filled};

pub use kube::Client;
