//! The configuration file of an operator without a configuration of its own.
//!
//! ```yaml
//! certificates: {mode: auto, caLifetime: 87600h, lifetime: 8760h, keyAlgorithm: ECDSA, dnsNames: [], caBundle: ""}
//! listeners:
//!   webhooks: {address: "::", port: 9443, http2: false}
//!   health: {port: 8081}
//!   metrics: {port: 8080, secure: true}
//! log: {filter: info, format: json}
//! ```

use std::net::IpAddr;
use std::num::NonZero;
use std::time::Duration;

use gateward_certs::{CaBundle, CaInjection, Lifetime, Provision, ProvisionMode};
use gateward_core::{FieldPath, go_duration};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::problem::{ConfigError, Problem};
use super::{
    CertificateConfig, Config, HttpVersions, KeyAlgorithm, ListenAddress, Listeners, LogFormat, MetricsAccess,
};

/// The sections, beside what says what the file is.
const KEYS: [&str; 5] = ["apiVersion", "kind", "certificates", "listeners", "log"];

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Certificates {
    mode: Option<String>,
    ca_bundle: Option<String>,
    ca_lifetime: Option<GoDuration>,
    lifetime: Option<GoDuration>,
    key_algorithm: Option<KeyAlgorithm>,
    dns_names: Option<Vec<String>>,
}

/// A time as Go writes it, `8760h`.
#[derive(Debug)]
struct GoDuration(Duration);

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ListenersSection {
    webhooks: WebhooksListener,
    health: HealthListener,
    metrics: MetricsListener,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct WebhooksListener {
    address: Option<IpAddr>,
    port: Option<NonZero<u16>>,
    http2: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct HealthListener {
    address: Option<IpAddr>,
    port: Option<NonZero<u16>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct MetricsListener {
    address: Option<IpAddr>,
    port: Option<NonZero<u16>>,
    secure: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Log {
    filter: Option<String>,
    format: Option<LogFormat>,
}

impl<'de> Deserialize<'de> for GoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        go_duration::parse(&text).map(Self).map_err(|why| D::Error::custom(format!("{text:?}: {why}")))
    }
}

impl Config {
    /// The same with what a document says.
    pub(super) fn with(mut self, document: &Value) -> Result<Self, ConfigError> {
        let certificates: Certificates = section(document, "certificates", "{mode: cert-manager}")?;
        let listeners: ListenersSection = section(document, "listeners", "{webhooks: {port: 9443}}")?;
        let log: Log = section(document, "log", "{filter: info}")?;
        self.provision = provision(&certificates)?;
        set_certificates(&mut self.certificates, certificates)?;
        set_listeners(&mut self.listeners, &listeners);
        self.log.filter = log.filter.unwrap_or(self.log.filter);
        self.log.format = log.format.unwrap_or(self.log.format);
        self.warnings = unknown_keys(document);
        Ok(self)
    }
}

/// A section; `null` is none.
fn section<T: DeserializeOwned + Default>(document: &Value, name: &str, example: &str) -> Result<T, ConfigError> {
    let Some(given) = document.get(name).filter(|given| !given.is_null()) else { return Ok(T::default()) };
    let here = FieldPath::field(name.to_owned());
    if !given.is_object() {
        return Err(wrong(here, format!("has to be an object, such as {example}")));
    }
    T::deserialize(given).map_err(|error| wrong(here, error.to_string()))
}

/// The leader makes certificates where the document doesn't say who does.
fn provision(given: &Certificates) -> Result<Provision, ConfigError> {
    let here = || FieldPath::field("certificates");
    let mode = given.mode.as_deref().unwrap_or(ProvisionMode::Automatic.name());
    let known = ProvisionMode::ALL.into_iter().find(|known| known.name() == mode);
    let known = known.ok_or_else(|| {
        let names = ProvisionMode::ALL.map(ProvisionMode::name).join(", ");
        wrong(here() / "mode", format!("{mode:?} is no mode; it has to be one of {names}"))
    })?;
    let at_bundle = || here() / "caBundle";
    let given_bundle = given.ca_bundle.as_deref().filter(|text| !text.is_empty());
    if given_bundle.is_some() && known != ProvisionMode::External {
        return Err(wrong(at_bundle(), "is for the mode external alone; leave it out"));
    }
    Ok(match known {
        ProvisionMode::Automatic => Provision::Automatic,
        ProvisionMode::CertManager => {
            Provision::CertManager { injection: CaInjection::Secret, ca_bundle: CaBundle::default() }
        }
        ProvisionMode::External => {
            let bundle = given_bundle.map(CaBundle::from_base64).transpose();
            let bundle =
                bundle.map_err(|why| wrong(at_bundle(), format!("{why}; give what `base64 -w0 < ca.crt` prints")))?;
            Provision::External { ca_bundle: bundle.unwrap_or_default() }
        }
    })
}

fn set_certificates(config: &mut CertificateConfig, given: Certificates) -> Result<(), ConfigError> {
    let lifetimes = &mut config.lifetimes;
    for (name, lifetime, given) in
        [("caLifetime", &mut lifetimes.ca, given.ca_lifetime), ("lifetime", &mut lifetimes.serving, given.lifetime)]
    {
        let Some(GoDuration(duration)) = given else { continue };
        let at = FieldPath::field("certificates") / name;
        *lifetime = Lifetime::new(duration).map_err(|error| wrong(at, error.to_string()))?;
    }
    config.keys = given.key_algorithm.unwrap_or(config.keys);
    config.dns_names = given.dns_names.unwrap_or_default();
    Ok(())
}

fn set_listeners(config: &mut Listeners, given: &ListenersSection) {
    let ListenersSection { webhooks, health, metrics } = given;
    let set = |listener: &mut ListenAddress, address: Option<IpAddr>, port: Option<NonZero<u16>>| {
        *listener = ListenAddress { ip: address, port: port.map_or(listener.port, NonZero::get) };
    };
    set(&mut config.webhooks, webhooks.address, webhooks.port);
    set(&mut config.health, health.address, health.port);
    set(&mut config.metrics, metrics.address, metrics.port);
    if webhooks.http2 {
        config.http = HttpVersions::Http1AndHttp2;
    }
    if metrics.secure == Some(false) {
        config.metrics_access = MetricsAccess::Open;
    }
}

/// Members that aren't read.
fn unknown_keys(document: &Value) -> Vec<Problem> {
    let keys = document.as_object().into_iter().flat_map(serde_json::Map::keys);
    let unknown = keys.filter(|key| !KEYS.contains(&key.as_str()));
    unknown.map(|key| Problem::of_key(FieldPath::field(key.clone()), "unknown key, ignored")).collect()
}

fn wrong(key: FieldPath, text: impl Into<String>) -> ConfigError {
    ConfigError(vec![Problem::of_key(key, text)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::release::Release;

    fn config(document: &Value) -> Result<Config, String> {
        let release = Release { name: "otter".into(), namespace: "zoo".into() };
        let usual = Config::of_release(&release, "otter-operator").unwrap();
        usual.with(document).map_err(|error| error.to_string())
    }

    #[test]
    fn the_mode_is_automatic_unless_the_document_says_otherwise() {
        let mode_of = |document: &Value| config(document).map(|config| config.provision.mode());
        for document in [json!({}), json!({"certificates": null}), json!({"certificates": {}})] {
            assert_eq!(mode_of(&document), Ok(ProvisionMode::Automatic), "{document}");
        }
        for mode in ProvisionMode::ALL {
            assert_eq!(mode_of(&json!({"certificates": {"mode": mode.name()}})), Ok(mode));
        }
    }

    #[cfg(feature = "check")]
    #[test]
    fn the_examples_of_the_documentation_are_the_usual_configuration() {
        let guide = include_str!("../../docs/sdk.md").split("### The configuration file").nth(1).unwrap();
        let guide = guide.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
        let module = include_str!("document.rs").split("//! ```").nth(1).unwrap().replace("//! ", "");
        for text in [guide, module.trim_start_matches("yaml\n")] {
            let documents = crate::yaml::read(text.as_bytes()).documents;
            assert_eq!(documents.len(), 1);
            let (example, usual) = (config(&documents[0].value).unwrap(), config(&json!({})).unwrap());
            let ports =
                |listeners: Listeners| [listeners.webhooks, listeners.health, listeners.metrics].map(|it| it.port);
            assert_eq!(ports(example.listeners), ports(usual.listeners));
            assert!(example.warnings.is_empty());
        }
    }

    #[test]
    fn ports_lifetimes_and_the_log_are_those_of_the_document() {
        let config = config(&json!({
            "certificates": {
                "caLifetime": "48h", "lifetime": "90m", "keyAlgorithm": "RSA", "dnsNames": ["otter.example.org"],
            },
            "listeners": {
                "webhooks": {"address": "127.0.0.1", "port": 10250, "http2": true},
                "health": {"port": 9081},
                "metrics": {"secure": false},
            },
            "log": {"filter": "debug", "format": "text"},
        }))
        .unwrap();
        let CertificateConfig { lifetimes, keys, dns_names, .. } = config.certificates;
        let times = [lifetimes.ca, lifetimes.serving].map(Lifetime::duration);
        assert_eq!(times, [Duration::from_hours(48), Duration::from_mins(90)]);
        assert_eq!((keys, dns_names), (KeyAlgorithm::Rsa, vec!["otter.example.org".to_owned()]));
        let Listeners { webhooks, health, metrics, metrics_access, http } = config.listeners;
        assert_eq!(webhooks, ListenAddress { ip: Some([127, 0, 0, 1].into()), port: 10250 });
        assert_eq!((health.port, metrics.port), (9081, 8080));
        assert_eq!((metrics_access, http), (MetricsAccess::Open, HttpVersions::Http1AndHttp2));
        assert_eq!((config.log.filter.as_str(), config.log.format), ("debug", LogFormat::Text));
        assert_eq!(config.warnings, []);
    }

    #[test]
    fn what_is_wrong_is_said_at_its_key() {
        for (document, said) in [
            (
                json!({"certificates": {"mode": "magic"}}),
                "certificates.mode: \"magic\" is no mode; it has to be one of auto, cert-manager, external",
            ),
            (
                json!({"certificates": {"caBundle": "eA=="}}),
                "certificates.caBundle: is for the mode external alone; leave it out",
            ),
            (json!({"certificates": {"mode": "external", "caBundle": "?"}}), "certificates.caBundle: "),
            (json!({"certificates": {"mode": "external", "caBundle": "eA=="}}), "certificates.caBundle: "),
            (json!({"certificates": {"colour": 1}}), "certificates: unknown field `colour`"),
            (json!({"certificates": ["auto"]}), "certificates: has to be an object"),
            (json!({"certificates": {"lifetime": "1s"}}), "certificates.lifetime: a certificate lives from one minute"),
            (json!({"certificates": {"caLifetime": "a year"}}), "certificates: \"a year\": "),
            (json!({"certificates": {"keyAlgorithm": "DSA"}}), "certificates: unknown variant `DSA`"),
            (json!({"listeners": {"webhooks": {"port": 0}}}), "listeners: invalid value: integer `0`"),
            (json!({"listeners": {"health": {"http2": true}}}), "listeners: unknown field `http2`"),
            (json!({"listeners": {"metrics": {"address": "here"}}}), "listeners: invalid IP address"),
            (json!({"log": {"format": "xml"}}), "log: unknown variant `xml`"),
        ] {
            let error = config(&document).map(|_| ()).unwrap_err();
            assert!(error.starts_with(said), "{error}");
        }
    }
}
