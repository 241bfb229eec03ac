//! What OLM v0 makes of a bundle: pure functions from a `ClusterServiceVersion` (CSV) to the objects that OLM writes, for
//! tests that judge bundles.
//!
//! The functions do what OLM v0.46 does, its mistakes included. What OLM v1 does otherwise is in [`v1`].

mod accounts;
mod bundle;
mod configuration;
mod conversion;
mod crds;
mod csv;
mod deployment;
mod description;
mod hash;
mod lifecycle;
mod names;
mod namespaces;
mod rotation;
mod service;
pub mod v1;

pub use accounts::{accounts, serving_roles};
pub use bundle::{Bundle, BundleError};
pub use configuration::configuration;
pub use conversion::converted;
pub use crds::{CrdRefusal, replaces};
pub use csv::{AccountPermissions, Csv, CsvError, CsvIdentity};
pub use deployment::{Mount, SERVER_MOUNTS, deployment, mounted};
pub use description::{WebhookDescription, WebhookType};
pub use hash::ca_hash;
pub use lifecycle::{ConfigurationChange, Removal, is_healthy, reconciled, removal};
pub use names::{ServiceNames, dns_names};
pub use namespaces::{OperatorGroup, namespace_selector};
pub use rotation::{RotationCause, ServingLeaf, ServingSecret, rotation_cause};
pub use service::{ServingPair, secret, service, service_ports};
