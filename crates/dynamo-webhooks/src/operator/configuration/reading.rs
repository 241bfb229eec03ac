//! From the document to what it says.

use std::net::IpAddr;
use std::time::Duration;

use gateward::config::{
    ClaimTreatment, ConfigError, HttpVersions, KeyAlgorithm, ListenAddress, LogFormat, MetricsAccess,
};
use gateward::{CaBundle, CaInjection, Provision, dns, go_duration};
use serde_json::Value;

use super::keys::Key;
use super::problem::{Findings, shown};
use super::{API_VERSION, Certificates, KIND, OperatorConfiguration, Read, Restriction, WebhookServer, schema};
use crate::operator::facts::Gate;

const METRICS_PORT: u16 = 8080;
const HEALTH_PORT: u16 = 8081;
const WEBHOOK_PORT: u16 = 9443;

const SECRET_NAME: &str = "webhook-server-cert";

/// What is said to who restricts the operator to a namespace.
const DEPRECATED: &str = "an operator of one namespace is deprecated: one of the whole cluster serves every namespace, \
                          and converts, which this one doesn't";
/// The longest time for which a claim counts without a renewal.
const LONGEST_LEASE: Duration = Duration::from_hours(1);
/// The namespace that a cluster is mended from, whatever becomes of the webhooks.
const NEVER_JUDGED: &str = "kube-system";

impl OperatorConfiguration {
    /// Reads a document. The error lists all problems.
    pub fn read(document: &Value) -> Result<Read, ConfigError> {
        let mut findings = Findings::default();
        schema::compare(document, &mut findings);
        let mut reader = Reader { document, findings };
        reader.is_an_operator_configuration();
        let configuration = reader.configuration();
        let Findings { errors, warnings } = reader.findings;
        if errors.is_empty() { Ok(Read { configuration, warnings }) } else { Err(ConfigError(errors)) }
    }
}

/// A document that was compared with the schema before: values of a wrong type are errors already, and count as not set.
struct Reader<'a> {
    document: &'a Value,
    findings: Findings,
}

impl Reader<'_> {
    fn is_an_operator_configuration(&mut self) {
        for (key, wanted) in [(Key::API_VERSION, API_VERSION), (Key::KIND, KIND)] {
            match key.find(self.document) {
                None if self.document.is_object() => self.error(key, format!("is missing; write {wanted}")),
                Some(Value::String(written)) if written != wanted => {
                    self.error(key, format!("{} is not {wanted}", shown(&written.as_str().into())));
                }
                _ => {}
            }
        }
    }

    fn restricted(&mut self) -> Option<Restriction> {
        let label = "lower-case letters, digits and `-`, at most 63 characters";
        let name = self.name(Key::RESTRICTED, dns::is_label, label)?;
        if name == NEVER_JUDGED {
            self.error(Key::RESTRICTED, format!("nothing in {NEVER_JUDGED} is ever judged; take another namespace"));
        }
        if self.gate(Key::EXCLUDE_CLAIMED).is_some_and(Gate::is_on) {
            let text = "is for an operator of the whole cluster; leave it out beside namespace.restricted";
            self.error(Key::EXCLUDE_CLAIMED, text);
        }
        self.findings.warning(&Key::RESTRICTED.path(), DEPRECATED);
        let lease_duration = self.time(Key::LEASE_DURATION).unwrap_or(Duration::from_secs(30));
        let renew_interval = self.time(Key::LEASE_RENEWAL).unwrap_or(Duration::from_secs(10));
        self.lease_is_renewed_in_time(lease_duration, renew_interval);
        Some(Restriction { name, lease_duration, renew_interval })
    }

    fn lease_is_renewed_in_time(&mut self, duration: Duration, renewal: Duration) {
        for (key, time) in [(Key::LEASE_DURATION, duration), (Key::LEASE_RENEWAL, renewal)] {
            if time.is_zero() {
                self.error(key, "is zero; the lease needs a time longer than that");
            }
        }
        if duration > LONGEST_LEASE {
            let text = format!("{duration:?} is more than an hour, the longest that a claim counts");
            self.error(Key::LEASE_DURATION, text);
        }
        if renewal >= duration && !duration.is_zero() {
            let text = format!("{renewal:?} is not less than leaseDuration, {duration:?}: the lease would run out");
            self.error(Key::LEASE_RENEWAL, text);
        }
    }

    fn configuration(&mut self) -> OperatorConfiguration {
        let metrics = self.address(Key::METRICS_ADDRESS, Key::METRICS_PORT, METRICS_PORT);
        let health = self.address(Key::HEALTH_ADDRESS, Key::HEALTH_PORT, HEALTH_PORT);
        let webhook = self.webhook();
        self.ports_differ(&[
            (Key::HEALTH_PORT, health),
            (Key::METRICS_PORT, metrics),
            (Key::WEBHOOK_PORT, webhook.address),
        ]);
        let secure = Key::METRICS_SECURE.switch(self.document).unwrap_or(true);
        let format = Key::LOG_FORMAT.text(self.document);
        OperatorConfiguration {
            health,
            metrics,
            metrics_access: if secure { MetricsAccess::Authorized } else { MetricsAccess::Open },
            webhook,
            http: if self.gate(Key::HTTP2).is_some_and(Gate::is_on) {
                HttpVersions::Http1AndHttp2
            } else {
                HttpVersions::Http1
            },
            grove: self.gate(Key::GROVE),
            checkpoint: self.gate(Key::CHECKPOINT).unwrap_or(Gate::Off),
            gpu_discovery: self.gate(Key::GPU_DISCOVERY).unwrap_or(Gate::On),
            restricted: self.restricted(),
            log_level: Key::LOG_LEVEL.text(self.document).unwrap_or("info").to_owned(),
            log_format: if format == Some("text") { LogFormat::Text } else { LogFormat::Json },
        }
    }

    fn webhook(&mut self) -> WebhookServer {
        let subdomain = "lower-case letters, digits, `-` and `.`, at most 253 characters";
        let label = "lower-case letters, digits and `-`, at most 63 characters, beginning with a letter";
        let secret_name = self.name(Key::SECRET_NAME, dns::is_subdomain, subdomain);
        WebhookServer {
            address: self.address(Key::WEBHOOK_HOST, Key::WEBHOOK_PORT, WEBHOOK_PORT),
            secret_name: secret_name.unwrap_or_else(|| SECRET_NAME.to_owned()),
            service_name: self.name(Key::SERVICE_NAME, dns::is_service_name, label),
            fullname: self.name(Key::FULLNAME, dns::is_subdomain, subdomain),
            operator_principals: self.principals(),
            provision: self.provision(),
            certificates: self.certificates(),
            claimed: match self.gate(Key::EXCLUDE_CLAIMED) {
                Some(Gate::On) => ClaimTreatment::Excluded,
                _ => ClaimTreatment::Called,
            },
        }
    }

    /// `manual` is the word of the released operator for certificates that others write.
    fn provision(&mut self) -> Provision {
        let injection = match Key::INJECT_FROM.text(self.document) {
            Some("certificate") => CaInjection::Certificate,
            _ => CaInjection::Secret,
        };
        let ca_bundle = self.ca_bundle();
        match Key::PROVISION_MODE.text(self.document) {
            Some("cert-manager") => Provision::CertManager { injection, ca_bundle },
            Some("external" | "manual") => Provision::External { ca_bundle },
            _ => {
                if !ca_bundle.is_empty() {
                    let text = "has no effect: certProvisionMode is auto, and the caBundle is that of our own CA";
                    self.findings.warning(&Key::CA_BUNDLE.path(), text);
                }
                Provision::Automatic
            }
        }
    }

    fn ca_bundle(&mut self) -> CaBundle {
        let Some(text) = Key::CA_BUNDLE.text(self.document) else { return CaBundle::default() };
        CaBundle::from_base64(text).unwrap_or_else(|why| {
            self.error(Key::CA_BUNDLE, format!("{why}; give what `base64 -w0 < ca.crt` prints"));
            CaBundle::default()
        })
    }

    fn certificates(&mut self) -> Certificates {
        let certificates = Certificates {
            ca_lifetime: self.time(Key::CA_LIFETIME),
            lifetime: self.time(Key::LIFETIME),
            key_algorithm: match Key::KEY_ALGORITHM.text(self.document) {
                Some("RSA") => KeyAlgorithm::Rsa,
                _ => KeyAlgorithm::Ecdsa,
            },
            dns_names: self.texts(Key::DNS_NAMES),
        };
        if let (Some(ca), Some(server)) = (certificates.ca_lifetime, certificates.lifetime)
            && server > ca
        {
            let text = "is longer than caLifetime; a certificate ends with its CA at the latest";
            self.findings.warning(&Key::LIFETIME.path(), text);
        }
        certificates
    }

    /// An empty list means the default: charts render an empty list if it isn't set.
    fn principals(&self) -> Option<Vec<String>> {
        Some(self.texts(Key::PRINCIPALS)).filter(|names| !names.is_empty())
    }

    fn texts(&self, key: Key) -> Vec<String> {
        let listed = key.find(self.document).and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn address(&mut self, address: Key, port: Key, usual_port: u16) -> ListenAddress {
        ListenAddress { ip: self.ip(address), port: self.port(port, usual_port) }
    }

    fn ip(&mut self, key: Key) -> Option<IpAddr> {
        let text = key.text(self.document)?;
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let address = bare.parse().ok();
        if address.is_none() {
            let text = format!("{} is not an IP address such as 0.0.0.0 or ::", shown(&text.into()));
            self.error(key, text);
        }
        address
    }

    fn port(&mut self, key: Key, usual: u16) -> u16 {
        let Some(written) = key.find(self.document).filter(|value| value.is_i64() || value.is_u64()) else {
            return usual;
        };
        match written.as_u64().map(u16::try_from) {
            Some(Ok(0)) => usual,
            Some(Ok(port)) => port,
            _ => {
                self.error(key, format!("{written} is not a port: 1 to 65535, or 0 for the usual one, {usual}"));
                usual
            }
        }
    }

    fn ports_differ(&mut self, listeners: &[(Key, ListenAddress)]) {
        for (position, (key, address)) in listeners.iter().enumerate() {
            let other = listeners[..position].iter().find(|(_, other)| meet(*other, *address));
            if let Some((other, _)) = other {
                self.error(*key, format!("{} is the port of {} too", address.port, other.path()));
            }
        }
    }

    fn name(&mut self, key: Key, allowed: fn(&str) -> bool, rule: &str) -> Option<String> {
        let name = key.text(self.document)?;
        if !allowed(name) {
            let text = format!("{} is not a name that Kubernetes takes here: {rule}", shown(&name.into()));
            self.error(key, text);
        }
        Some(name.to_owned())
    }

    fn gate(&self, key: Key) -> Option<Gate> {
        key.switch(self.document).map(Gate::of)
    }

    fn time(&self, key: Key) -> Option<Duration> {
        key.find(self.document).and_then(Value::as_str).and_then(|text| go_duration::parse(text).ok())
    }

    fn error(&mut self, key: Key, text: impl Into<String>) {
        self.findings.error(&key.path(), text);
    }
}

/// Whether two listeners can't listen at a time.
fn meet(one: ListenAddress, other: ListenAddress) -> bool {
    let everywhere = |address: ListenAddress| address.ip.is_none_or(|ip| ip.is_unspecified());
    one.port == other.port && (one.ip == other.ip || everywhere(one) || everywhere(other))
}
