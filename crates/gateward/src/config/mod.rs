//! The configuration of a server in a cluster: from its file, its command line and its Pod.

mod chart_values;
mod document;
mod flags;
mod namespaces;
mod pod_environment;
mod problem;
mod webhook_values;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use gateward_certs::{DerivedNameError, Lifetimes, NameLimit, Provision};
use gateward_core::Facts;
use serde::Deserialize;
use serde_json::Value;

pub use chart_values::{ChartValues, CrdInstaller, RemovedValue};
pub use flags::{Flag, Flags};
pub use namespaces::{ClaimSettings, ClaimTreatment, NamespaceScope, RestrictedNamespace};
#[cfg(feature = "cli")]
pub(crate) use pod_environment::DOWNWARD;
pub use pod_environment::PodEnvironment;
pub use problem::{ConfigError, Problem, ProblemSource};
pub use webhook_values::WebhookValues;

use crate::release::Release;

/// All that an operator makes configuration and facts of.
#[derive(Debug, Clone)]
pub struct ConfigSource {
    /// The configuration file.
    pub document: Value,
    /// The Pod.
    pub pod_environment: PodEnvironment,
    /// What the command line says.
    pub flags: Flags,
}

/// How a server in a cluster is set up.
#[derive(Debug, Clone)]
pub struct Config {
    /// The three listeners.
    pub listeners: Listeners,
    /// The names of objects in the cluster.
    pub names: ObjectNames,
    /// The labels of objects in the cluster.
    pub labels: ObjectLabels,
    /// Who provides certificates and `caBundle`s.
    pub provision: Provision,
    /// How certificates are made.
    pub certificates: CertificateConfig,
    /// Which namespaces are served.
    pub namespaces: NamespaceScope,
    /// What is logged, and how.
    pub log: LogConfig,
    /// Warnings for the author of the configuration.
    pub warnings: Vec<Problem>,
}

/// Where a server listens, and what is spoken there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listeners {
    /// Reviews, over TLS.
    pub webhooks: ListenAddress,
    /// Probes, over plain HTTP.
    pub health: ListenAddress,
    /// Metrics.
    pub metrics: ListenAddress,
    /// Who may read the metrics.
    pub metrics_access: MetricsAccess,
    /// The versions of HTTP for reviews.
    pub http: HttpVersions,
}

impl Default for Listeners {
    fn default() -> Self {
        let everywhere = |port| ListenAddress { ip: None, port };
        Self {
            webhooks: everywhere(9443),
            health: everywhere(8081),
            metrics: everywhere(8080),
            metrics_access: MetricsAccess::Authorized,
            http: HttpVersions::Http1,
        }
    }
}

/// Where one listener listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenAddress {
    /// The address; none for all of them, IPv4 and IPv6.
    pub ip: Option<IpAddr>,
    /// The port.
    pub port: u16,
}

/// Who may read the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricsAccess {
    /// Clients that the API server authorizes, over HTTPS.
    Authorized,
    /// All clients, over HTTP.
    Open,
}

/// The versions of HTTP for reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpVersions {
    /// HTTP/1.1 alone.
    Http1,
    /// HTTP/1.1, and HTTP/2 where the peer asks for it.
    Http1AndHttp2,
}

/// The names of objects in the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectNames {
    /// The Secret of the server's certificate.
    pub secret: String,
    /// The Secret of the CA.
    pub ca_secret: String,
    /// The Secret with the bundle that cert-manager injects.
    pub bundle_secret: String,
    /// The Service that the API server calls.
    pub service: String,
    /// The lease that lets one replica write.
    pub lease: String,
}

/// The labels of objects in the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectLabels {
    /// Those that the Secrets are made with.
    pub secrets: BTreeMap<String, String>,
    /// Those by which webhook configurations are found.
    pub configurations: BTreeMap<String, String>,
    /// Those by which the Pods of all replicas are found.
    pub pods: BTreeMap<String, String>,
}

/// How certificates are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateConfig {
    /// The name that new CAs get: at most 64 characters.
    pub ca_name: String,
    /// How long certificates live.
    pub lifetimes: Lifetimes,
    /// What keys are made.
    pub keys: KeyAlgorithm,
    /// The names that a server certificate has beside those of the Service.
    pub dns_names: Vec<String>,
}

/// What keys are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum KeyAlgorithm {
    /// ECDSA on the curve P-256.
    #[default]
    Ecdsa,
    /// RSA of 3072 bits.
    Rsa,
}

/// What is logged, and how, unless the command line says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// A level, or a filter such as `gateward_server=debug`.
    pub filter: String,
    /// How a line looks.
    pub format: LogFormat,
}

/// How a log line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum LogFormat {
    /// One line of text.
    Text,
    /// One JSON object a line.
    Json,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { filter: "info".into(), format: LogFormat::Json }
    }
}

impl ObjectNames {
    /// The name of the CA's Secret, from that of the serving certificate.
    ///
    /// ```
    /// use gateward::config::ObjectNames;
    ///
    /// assert_eq!(ObjectNames::ca_secret_of("otter-cert")?, "otter-cert-ca");
    /// # Ok::<(), gateward::DerivedNameError>(())
    /// ```
    pub fn ca_secret_of(secret: &str) -> Result<String, DerivedNameError> {
        NameLimit::Object.derive(secret, "-ca")
    }

    /// The name of the Secret with the bundle that cert-manager injects, from that of the serving certificate.
    pub fn bundle_secret_of(secret: &str) -> Result<String, DerivedNameError> {
        NameLimit::Object.derive(secret, "-bundle")
    }
}

impl Config {
    /// The same, with what a configuration file says: how an operator without a configuration of its own is set up.
    /// `docs/sdk.md` lists its keys.
    ///
    /// ```
    /// use gateward::Release;
    /// use gateward::config::Config;
    /// use serde_json::json;
    ///
    /// let release = Release { name: "otter".into(), namespace: "zoo".into() };
    /// let file = json!({"listeners": {"webhooks": {"port": 10250}}, "certificates": {"lifetime": "720h"}});
    /// let config = Config::of(&release, "otter-operator", &file)?;
    /// assert_eq!(config.listeners.webhooks.port, 10250);
    /// # Ok::<(), gateward::config::ConfigError>(())
    /// ```
    pub fn of(release: &Release, command: &str, document: &Value) -> Result<Self, ConfigError> {
        Self::of_release(release, command)?.with(document)
    }

    /// The usual configuration of a release. `command` is what manages its objects: the label
    /// `app.kubernetes.io/managed-by`.
    ///
    /// ```
    /// use gateward::Release;
    /// use gateward::config::Config;
    ///
    /// let release = Release { name: "otter".into(), namespace: "zoo".into() };
    /// let config = Config::of_release(&release, "otter-operator")?;
    /// assert_eq!(config.names.service, "otter-webhook-service");
    /// # Ok::<(), gateward::config::ConfigError>(())
    /// ```
    pub fn of_release(release: &Release, command: &str) -> Result<Self, ConfigError> {
        let secret = "webhook-server-cert";
        let labels = BTreeMap::from([
            ("app.kubernetes.io/instance".to_owned(), release.name.clone()),
            ("app.kubernetes.io/managed-by".to_owned(), command.to_owned()),
        ]);
        Ok(Self {
            listeners: Listeners::default(),
            names: ObjectNames {
                secret: secret.into(),
                ca_secret: ObjectNames::ca_secret_of(secret)?,
                bundle_secret: ObjectNames::bundle_secret_of(secret)?,
                service: NameLimit::Service.derive(&release.name, "-webhook-service")?,
                lease: NameLimit::Object.derive(&release.name, "-webhook-writer")?,
            },
            labels: ObjectLabels { secrets: labels.clone(), configurations: labels.clone(), pods: labels },
            provision: Provision::Automatic,
            certificates: CertificateConfig {
                ca_name: "webhook CA".into(),
                lifetimes: Lifetimes::default(),
                keys: KeyAlgorithm::default(),
                dns_names: Vec::new(),
            },
            namespaces: NamespaceScope::default(),
            log: LogConfig::default(),
            warnings: Vec::new(),
        })
    }
}

/// The facts of a server in a cluster, as they are at the moment.
pub struct Discovered {
    /// The facts.
    pub facts: Arc<dyn Facts>,
    /// Warnings about them, each a sentence.
    pub notes: Vec<String>,
}

/// Why there are no facts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    /// The configuration asks for what the cluster doesn't have: at the start, the server ends with that.
    #[error("{0}")]
    Contradiction(Problem),
    /// What the cluster has can't be learned at the moment; the server tries again.
    #[error("{0}")]
    Unreadable(String),
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(release: &str, document: &Value) -> Config {
        let release = Release { name: release.into(), namespace: "zoo".into() };
        Config::of(&release, "otter", document).unwrap()
    }

    #[test]
    fn an_operator_that_reads_no_configuration_has_usual_settings() {
        let config = of("river", &json!({}));
        assert_eq!(config.names.service, "river-webhook-service");
        assert_eq!(config.listeners.webhooks, ListenAddress { ip: None, port: 9443 });
        assert_eq!(config.warnings, []);
    }

    #[test]
    fn unknown_keys_are_reported() {
        let warnings = of("river", &json!({"colour": 1, "kind": "Otter", "certificates": {"mode": "auto"}})).warnings;
        let texts: Vec<_> = warnings.iter().map(Problem::to_string).collect();
        assert_eq!(texts, ["colour: unknown key, ignored"]);
    }

    #[test]
    fn names_of_long_releases_fit() {
        let names = of(&"r".repeat(53), &json!({})).names;
        assert_eq!(names.service.len(), 63);
        assert!(names.service.ends_with("-webhook-service"));
    }
}
