//! The keys that are read here.

use gateward::{FieldPath, Segment};
use serde_json::Value;

/// A key, with the sections that lead to it, joined by dots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key(&'static str);

impl Key {
    pub(super) const API_VERSION: Self = Self("apiVersion");
    pub(super) const KIND: Self = Self("kind");
    pub(super) const METRICS_ADDRESS: Self = Self("server.metrics.bindAddress");
    pub(super) const METRICS_PORT: Self = Self("server.metrics.port");
    pub(super) const METRICS_SECURE: Self = Self("server.metrics.secure");
    pub(super) const HEALTH_ADDRESS: Self = Self("server.healthProbe.bindAddress");
    pub(super) const HEALTH_PORT: Self = Self("server.healthProbe.port");
    pub(super) const WEBHOOK_HOST: Self = Self("server.webhook.host");
    pub(super) const WEBHOOK_PORT: Self = Self("server.webhook.port");
    pub(super) const PROVISION_MODE: Self = Self("server.webhook.certProvisionMode");
    pub(super) const CA_BUNDLE: Self = Self("server.webhook.caBundle");
    pub(super) const INJECT_FROM: Self = Self("server.webhook.certManager.injectFrom");
    pub(super) const PRINCIPALS: Self = Self("server.webhook.operatorPrincipals");
    pub(super) const EXCLUDE_CLAIMED: Self = Self("server.webhook.excludeClaimedNamespaces");
    pub(super) const RESTRICTED: Self = Self("namespace.restricted");
    pub(super) const LEASE_DURATION: Self = Self("namespace.scope.leaseDuration");
    pub(super) const LEASE_RENEWAL: Self = Self("namespace.scope.leaseRenewInterval");
    pub(super) const CHECKPOINT: Self = Self("checkpoint.enabled");
    pub(super) const GPU_DISCOVERY: Self = Self("gpu.discoveryEnabled");
    pub(super) const LOG_LEVEL: Self = Self("logging.level");
    pub(super) const LOG_FORMAT: Self = Self("logging.format");
    pub(super) const HTTP2: Self = Self("security.enableHTTP2");

    /// The Secret of the server's certificate.
    pub const SECRET_NAME: Self = Self("server.webhook.secretName");
    /// The Service that leads to the server.
    pub const SERVICE_NAME: Self = Self("server.webhook.serviceName");
    /// What the names of a release are made of.
    pub const FULLNAME: Self = Self("server.webhook.fullname");
    /// How long a CA lives.
    pub const CA_LIFETIME: Self = Self("server.webhook.certificates.caLifetime");
    /// How long a server certificate lives.
    pub const LIFETIME: Self = Self("server.webhook.certificates.lifetime");
    /// What keys are made.
    pub const KEY_ALGORITHM: Self = Self("server.webhook.certificates.keyAlgorithm");
    /// The names that a server certificate has beside those of the Service.
    pub const DNS_NAMES: Self = Self("server.webhook.certificates.dnsNames");
    /// Whether graphs are laid out by Grove.
    pub const GROVE: Self = Self("orchestrators.grove.enabled");

    /// Where it stands.
    pub fn path(self) -> FieldPath {
        self.0.split('.').map(|name| Segment::Field(name.into())).collect()
    }

    /// Its value; `null` is none.
    pub(super) fn find(self, document: &Value) -> Option<&Value> {
        self.path().find(document).filter(|value| !value.is_null())
    }

    /// Its value, if it is a string that isn't empty.
    pub(super) fn text(self, document: &Value) -> Option<&str> {
        self.find(document).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// Its value, if it is a switch.
    pub(super) fn switch(self, document: &Value) -> Option<bool> {
        self.find(document).and_then(Value::as_bool)
    }
}
