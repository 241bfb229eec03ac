//! How the Dynamo Operator's webhooks are set up in a cluster: its configuration, with names cut to what fits.

use std::time::Duration;

use gateward::config::{
    CertificateConfig, ClaimSettings, Config, ConfigError, ConfigSource, Flag, Listeners, LogConfig, NamespaceScope,
    ObjectLabels, ObjectNames, Problem, RestrictedNamespace,
};
use gateward::{Lifetime, Lifetimes, NameLimit};

use crate::operator::configuration::{Certificates, Key, OperatorConfiguration, Read};
use crate::operator::in_cluster::is_version;
use crate::operator::names;

/// Options of `serve` that only this operator has, beside its configuration.
pub(super) const FLAGS: &[Flag] = &[OPERATOR_VERSION, DEFAULT_IMAGE, OPERATOR_IMAGE, PULL_POLICY];

/// The version that is stamped on new graphs.
pub(super) const OPERATOR_VERSION: Flag = Flag {
    name: "operator-version",
    value_name: "VERSION",
    help: "The Dynamo Operator's version, which new graphs are stamped with and whose image requests get; 1.5.0, unless \
           given",
    values: &[],
};

/// The image that requests without one get.
pub(super) const DEFAULT_IMAGE: Flag = Flag {
    name: "dgdr-default-image",
    value_name: "IMAGE",
    help: "The image that a DynamoGraphDeploymentRequest without one gets",
    values: &[],
};

const OPERATOR_IMAGE: Flag = Flag {
    name: "operator-image",
    value_name: "IMAGE",
    help: "Accepted for the operator's sake: only its controllers need it",
    values: &[],
};

const PULL_POLICY: Flag = Flag {
    name: "operator-image-pull-policy",
    value_name: "POLICY",
    help: "Accepted for the operator's sake: only its controllers need it",
    values: &["Always", "IfNotPresent", "Never"],
};

/// The name of the Service.
pub(super) fn service(fullname: &str) -> Result<String, gateward::DerivedNameError> {
    NameLimit::Service.derive(fullname, names::SERVICE_SUFFIX)
}

/// The configuration of a server; the error lists all problems.
pub(super) fn config(given: &ConfigSource) -> Result<Config, ConfigError> {
    let mut problems: Vec<Problem> = version_problem(given).into_iter().collect();
    let read = OperatorConfiguration::read(&given.document).map_err(|ConfigError(found)| {
        problems.extend(found);
        ConfigError(std::mem::take(&mut problems))
    })?;
    let certificates = certificates(&read.configuration.webhook.certificates, &mut problems);
    let config = joined(given, read, certificates)?;
    if problems.is_empty() { Ok(config) } else { Err(ConfigError(problems)) }
}

fn version_problem(given: &ConfigSource) -> Option<Problem> {
    let version = given.flags.get(&OPERATOR_VERSION).filter(|version| !is_version(version))?;
    Some(Problem::of_flag(OPERATOR_VERSION.name, format!("{version:?} is not a semantic version such as 1.4.0")))
}

fn joined(given: &ConfigSource, read: Read, certificates: CertificateConfig) -> Result<Config, ConfigError> {
    let Read { configuration, warnings } = read;
    let release = given.pod_environment.release();
    Ok(Config {
        listeners: listeners(&configuration),
        names: object_names(&configuration, &release.name)?,
        labels: ObjectLabels {
            secrets: names::secret_labels(&release.name),
            configurations: names::configuration_labels(&release.name),
            pods: names::pod_labels(&release.name),
        },
        namespaces: namespaces(&configuration),
        provision: configuration.webhook.provision,
        certificates,
        log: LogConfig { format: configuration.log_format, filter: configuration.log_level },
        warnings,
    })
}

fn namespaces(configuration: &OperatorConfiguration) -> NamespaceScope {
    match &configuration.restricted {
        Some(one) => NamespaceScope::One(RestrictedNamespace {
            name: one.name.clone(),
            lease: names::NAMESPACE_LEASE.to_owned(),
            lease_duration: one.lease_duration,
            renew_interval: one.renew_interval,
        }),
        None => NamespaceScope::All(ClaimSettings {
            leases: names::CLAIMING_LEASES.map(str::to_owned).into(),
            claimed: configuration.webhook.claimed,
        }),
    }
}

fn object_names(configuration: &OperatorConfiguration, release: &str) -> Result<ObjectNames, ConfigError> {
    let webhook = &configuration.webhook;
    let fullname = webhook.fullname.clone().unwrap_or_else(|| names::fullname(release));
    let service = match &webhook.service_name {
        Some(service) => service.clone(),
        None => service(&fullname)?,
    };
    Ok(ObjectNames {
        secret: webhook.secret_name.clone(),
        ca_secret: ObjectNames::ca_secret_of(&webhook.secret_name)?,
        bundle_secret: ObjectNames::bundle_secret_of(&webhook.secret_name)?,
        service,
        lease: NameLimit::Object.derive(&fullname, names::LEASE_SUFFIX)?,
    })
}

fn listeners(configuration: &OperatorConfiguration) -> Listeners {
    Listeners {
        webhooks: configuration.webhook.address,
        health: configuration.health,
        metrics: configuration.metrics,
        metrics_access: configuration.metrics_access,
        http: configuration.http,
    }
}

fn certificates(configured: &Certificates, problems: &mut Vec<Problem>) -> CertificateConfig {
    let mut lifetime = |key: Key, configured: Option<Duration>| {
        let lifetime = configured.map(Lifetime::new).transpose();
        lifetime.map_err(|error| problems.push(Problem::of_key(key.path(), error.to_string()))).ok().flatten()
    };
    let lifetimes = Lifetimes {
        ca: lifetime(Key::CA_LIFETIME, configured.ca_lifetime).unwrap_or_default(),
        serving: lifetime(Key::LIFETIME, configured.lifetime).unwrap_or_default(),
    };
    CertificateConfig {
        ca_name: names::CA_NAME.to_owned(),
        lifetimes,
        keys: configured.key_algorithm,
        dns_names: configured.dns_names.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gateward::Operator as _;
    use gateward::config::{ClaimTreatment, Flags, KeyAlgorithm, PodEnvironment};
    use serde_json::{Value, json};

    use super::*;
    use crate::operator::Dynamo;
    use crate::operator::configuration::{API_VERSION, KIND};
    use crate::operator::version;

    fn given(webhook: &Value, flags: Flags, release: &str) -> ConfigSource {
        let variable = |name: &str| match name {
            "POD_INSTANCE" => Some(release.to_owned()),
            "POD_NAMESPACE" => Some("zoo".to_owned()),
            "POD_IP" => Some("10.1.2.3".to_owned()),
            _ => Some("otter".to_owned()),
        };
        let document = json!({
            "apiVersion": API_VERSION,
            "kind": KIND,
            "server": {"webhook": webhook},
        });
        ConfigSource { document, pod_environment: PodEnvironment::read(variable, None).unwrap(), flags }
    }

    fn of(webhook: &Value, release: &str) -> Config {
        Dynamo::new().config(&given(webhook, Flags::default(), release)).unwrap()
    }

    #[test]
    fn the_help_names_the_version_that_holds_unless_given() {
        assert!(OPERATOR_VERSION.help.contains(version::OPERATOR_VERSION), "{}", OPERATOR_VERSION.help);
    }

    #[test]
    fn names_are_made_of_the_release() {
        let config = of(&json!({}), "river");
        assert_eq!(config.names.secret, "webhook-server-cert");
        assert_eq!(config.names.ca_secret, "webhook-server-cert-ca");
        assert_eq!(config.names.service, "river-dynamo-operator-webhook-service");
        assert_eq!(config.names.lease, "river-dynamo-operator-webhook-writer");
        assert_eq!(config.labels.configurations["app.kubernetes.io/instance"], "river");
        assert_eq!(config.labels.pods["app.kubernetes.io/instance"], "river");
    }

    fn served(namespace: &Value, webhook: &Value) -> NamespaceScope {
        let mut given = given(webhook, Flags::default(), "river");
        given.document["namespace"] = namespace.clone();
        Dynamo::new().config(&given).unwrap().namespaces
    }

    #[test]
    fn an_operator_of_the_whole_cluster_heeds_the_leases_of_the_guide_and_of_released_operators() {
        let leases = ["dynamo-operator-ns-lock", "dynamo-operator-namespace-scope"].map(str::to_owned).into();
        let claims = |claimed| NamespaceScope::All(ClaimSettings { leases: Clone::clone(&leases), claimed });
        assert_eq!(served(&Value::Null, &json!({})), claims(ClaimTreatment::Called));
        let excluded = served(&Value::Null, &json!({"excludeClaimedNamespaces": true}));
        assert_eq!(excluded, claims(ClaimTreatment::Excluded));
    }

    #[test]
    fn an_operator_of_one_namespace_holds_the_lease_of_the_guide() {
        let one = |lease_duration, renew_interval| {
            let (name, lease) = ("team-a".to_owned(), "dynamo-operator-ns-lock".to_owned());
            let [lease_duration, renew_interval] = [lease_duration, renew_interval].map(Duration::from_secs);
            NamespaceScope::One(RestrictedNamespace { name, lease, lease_duration, renew_interval })
        };
        assert_eq!(served(&json!({"restricted": "team-a"}), &json!({})), one(30, 10));
        let scope = json!({"leaseDuration": "1m", "leaseRenewInterval": "20s"});
        assert_eq!(served(&json!({"restricted": "team-a", "scope": scope}), &json!({})), one(60, 20));
    }

    #[test]
    fn names_that_the_configuration_gives_win() {
        let config = of(&json!({"fullname": "lake", "secretName": "cert", "serviceName": "door"}), "river");
        let ObjectNames { secret, ca_secret, bundle_secret, service, lease } = config.names;
        assert_eq!([secret, ca_secret, bundle_secret], ["cert", "cert-ca", "cert-bundle"]);
        assert_eq!([service, lease], ["door", "lake-webhook-writer"]);
    }

    /// 53 characters are Helm's limit.
    #[test]
    fn the_service_of_the_longest_release_is_the_one_that_manifests_name() {
        let release = "r".repeat(53);
        let service = of(&json!({}), &release).names.service;
        assert_eq!(service.len(), 63);
        let installed = Dynamo::new().installation(&gateward::Release { name: release, namespace: "zoo".into() });
        assert_eq!(service, installed.service);
    }

    #[test]
    fn lifetimes_live_as_long_as_the_book_promises_unless_set() {
        assert_eq!(of(&json!({}), "river").certificates.lifetimes, Lifetimes::default());
        let certificates = json!({"caLifetime": "48h", "lifetime": "24h", "keyAlgorithm": "RSA"});
        let certificates = of(&json!({"certificates": certificates}), "river").certificates;
        assert_eq!(certificates.lifetimes.serving.duration(), Duration::from_hours(24));
        assert_eq!(certificates.keys, KeyAlgorithm::Rsa);
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let flags = Flags::from_iter([(OPERATOR_VERSION.name, "unknown".to_owned())]);
        let certificates = json!({"caLifetime": "1s", "lifetime": "2000000h"});
        let error = config(&given(&json!({"certificates": certificates}), flags.clone(), "river")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "--operator-version: \"unknown\" is not a semantic version such as 1.4.0\n\
             server.webhook.certificates.caLifetime: a certificate lives from one minute to 100 years, not 1 seconds\n\
             server.webhook.certificates.lifetime: a certificate lives from one minute to 100 years, not 7200000000 \
             seconds"
        );
        let error = config(&given(&json!({"port": "x", "secretName": 7}), flags, "river")).unwrap_err();
        assert_eq!(error.0.len(), 3);
    }
}
