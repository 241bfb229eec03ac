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
//! # Ok::<(), dynamo_webhooks::configuration::ConfigurationError>(())
//! ```

mod duration;
mod keys;
mod problem;
mod reading;
mod schema;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::time::Duration;

use serde_json::Value;

use crate::operator::facts::Gate;

pub use keys::Key;
pub use problem::{ConfigurationError, Problem};

/// The API group and version of the file.
pub const API_VERSION: &str = "operator.config.dynamo.nvidia.com/v1alpha1";
/// The kind of the file.
pub const KIND: &str = "OperatorConfiguration";

/// What the file says, as far as webhooks depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorConfiguration {
    /// Where probes are answered.
    pub health: Address,
    /// Where metrics are.
    pub metrics: Address,
    /// Who may read the metrics.
    pub metrics_access: MetricsAccess,
    /// The webhook server.
    pub webhook: Webhook,
    /// Whether HTTP/2 is spoken too.
    pub http2: Gate,
    /// Whether graphs are laid out by Grove; unset: where the cluster has it.
    pub grove: Option<Gate>,
    /// Whether checkpoints may be used, where the cluster has what they need.
    pub checkpoint: Gate,
    /// Whether a restricted operator discovers GPUs.
    pub gpu_discovery: Gate,
    /// What is logged: `error`, `warn`, `info`, `debug` or `trace`.
    pub log_level: String,
    /// How a log line looks.
    pub log_format: LogFormat,
}

/// Where a listener listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The address; none for all of them, IPv4 and IPv6.
    pub ip: Option<IpAddr>,
    /// The port.
    pub port: u16,
}

/// Who may read the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsAccess {
    /// Whoever the API server lets, over HTTPS.
    Authorized,
    /// Everybody, over HTTP.
    Open,
}

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// One line of text.
    Text,
}

/// The webhook server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Where reviews are answered.
    pub address: Address,
    /// The Secret of the server's certificate.
    pub secret_name: String,
    /// The Service that leads to the server, if it isn't the usual one.
    pub service_name: Option<String>,
    /// What names are made of, if it isn't the usual one.
    pub fullname: Option<String>,
    /// Users that may change what the operator owns, if they aren't the usual ones.
    pub operator_principals: Option<Vec<String>>,
    /// How certificates are made.
    pub certificates: Certificates,
}

/// How certificates are made; what is not set is left to those who make them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Certificates {
    /// How long an authority lives.
    pub authority_lifetime: Option<Duration>,
    /// How long a server certificate lives.
    pub lifetime: Option<Duration>,
    /// What keys are made.
    pub key_algorithm: Option<KeyAlgorithm>,
}

/// What keys are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAlgorithm {
    /// ECDSA on the curve P-256.
    Ecdsa,
    /// RSA.
    Rsa,
}

/// A file that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// What it says.
    pub configuration: OperatorConfiguration,
    /// What its author should know.
    pub warnings: Vec<Problem>,
}

impl OperatorConfiguration {
    /// Reads a document. The error lists all problems.
    pub fn read(document: &Value) -> Result<Read, ConfigurationError> {
        reading::read(document)
    }
}
