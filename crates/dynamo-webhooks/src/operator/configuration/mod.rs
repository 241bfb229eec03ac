//! `OperatorConfiguration`: the file that configures the operator, as the released operator writes it.
//!
//! ```
//! use dynamo_webhooks::configuration::OperatorConfiguration;
//! use serde_json::json;
//!
//! let document = json!({
//!     "apiVersion": "operator.config.dynamo.nvidia.com/v1alpha1",
//!     "kind": "OperatorConfiguration",
//!     "server": {"webhook": {"secretName": "otter-cert", "colour": "green"}},
//! });
//! let read = OperatorConfiguration::read(&document)?;
//! assert_eq!(read.configuration.webhook.secret_name, "otter-cert");
//! assert_eq!(read.warnings[0].to_string(), "server.webhook.colour: unknown key, ignored");
//! # Ok::<(), gateward::config::ConfigError>(())
//! ```

mod keys;
mod problem;
mod reading;
mod schema;
#[cfg(test)]
mod tests;

use std::time::Duration;

use gateward::Provision;
use gateward::config::{ClaimTreatment, HttpVersions, KeyAlgorithm, ListenAddress, LogFormat, MetricsAccess, Problem};

use crate::operator::facts::Gate;

pub use keys::Key;

/// The API group and version of the file.
pub const API_VERSION: &str = "operator.config.dynamo.nvidia.com/v1alpha1";
/// The kind of the file.
pub const KIND: &str = "OperatorConfiguration";

/// What the file says, as far as webhooks depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorConfiguration {
    /// Where probes are answered.
    pub health: ListenAddress,
    /// Where metrics are.
    pub metrics: ListenAddress,
    /// Who may read the metrics.
    pub metrics_access: MetricsAccess,
    /// The webhook server.
    pub webhook: WebhookServer,
    /// The versions of HTTP for reviews.
    pub http: HttpVersions,
    /// Whether graphs are laid out by Grove; unset: where the cluster has it.
    pub grove: Option<Gate>,
    /// Whether checkpoints may be used, where the cluster has what they need.
    pub checkpoint: Gate,
    /// Whether a restricted operator discovers GPUs.
    pub gpu_discovery: Gate,
    /// The one namespace that is served; none for the whole cluster.
    pub restricted: Option<Restriction>,
    /// What is logged: `error`, `warn`, `info`, `debug` or `trace`.
    pub log_level: String,
    /// How a log line looks.
    pub log_format: LogFormat,
}

/// The webhook server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookServer {
    /// Where reviews are answered.
    pub address: ListenAddress,
    /// The Secret of the server's certificate.
    pub secret_name: String,
    /// The Service that leads to the server, if it isn't the usual one.
    pub service_name: Option<String>,
    /// What names are made of, if it isn't the usual one.
    pub fullname: Option<String>,
    /// Users that may change what the operator owns, if they aren't the usual ones.
    pub operator_principals: Option<Vec<String>>,
    /// Who provides certificates and `caBundle`s.
    pub provision: Provision,
    /// How certificates are made.
    pub certificates: Certificates,
    /// Whether the webhooks of an operator of the whole cluster leave claimed namespaces out.
    pub claimed: ClaimTreatment,
}

/// The one namespace that an operator serves, and the times of the Lease that claims it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restriction {
    /// Its name.
    pub name: String,
    /// For how long the claim counts after each renewal.
    pub lease_duration: Duration,
    /// How often it is renewed.
    pub renew_interval: Duration,
}

/// How certificates are made; lifetimes that are not set are left to those who make them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Certificates {
    /// How long a CA lives.
    pub ca_lifetime: Option<Duration>,
    /// How long a server certificate lives.
    pub lifetime: Option<Duration>,
    /// What keys are made.
    pub key_algorithm: KeyAlgorithm,
    /// The names that a server certificate has beside those of the Service.
    pub dns_names: Vec<String>,
}

/// A file that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// What it says.
    pub configuration: OperatorConfiguration,
    /// What its author should know.
    pub warnings: Vec<Problem>,
}
