//! Configuration of the certificate controller, from the configuration and the environment of the Pod.

use std::collections::BTreeMap;
use std::sync::Arc;

use gateward_certs::rotation::CertificateSpec;
use gateward_certs::{CommonName, KeySource, RsaKeys, ServerNames, SystemKeys};
use gateward_cluster::crds::converted_by;
use gateward_cluster::permissions::ResourceName;
use gateward_cluster::{
    ClaimedNamespaces, ClaimsConfig, ControllerConfig, InjectionRules, IssuanceConfig, LeaseConfig, LeaseTimes,
    NamespaceLeaseConfig, NamespaceLeaseTimes, ReplicaConfig, SecretNames, ServedNamespaces, ServiceName,
};
use gateward_core::Declaration;
use gateward_core::manifest::{self, Installation};
use serde_json::Value;

use crate::config::{self, Config, ConfigError, KeyAlgorithm, PodEnvironment, Problem, ProblemSource};
use crate::crds;
use crate::operator::{Operator, annotation_prefix};

/// The set-up of an installation.
pub(crate) fn setup<P: Operator>(
    operator: &P,
    config: &Config,
    pod_environment: &PodEnvironment,
) -> Result<ControllerConfig, ConfigError> {
    let namespace = pod_environment.namespace.clone();
    let installation = operator.installation(&pod_environment.release());
    Ok(ControllerConfig {
        provision: config.provision.clone(),
        secrets: SecretNames {
            serving: config.names.secret.clone(),
            ca: config.names.ca_secret.clone(),
            bundle: config.names.bundle_secret.clone(),
            labels: config.labels.secrets.clone(),
        },
        lease: LeaseConfig {
            name: config.names.lease.clone(),
            holder: pod_environment.pod.clone(),
            times: LeaseTimes::default(),
        },
        targets: targets(operator, config, &installation),
        replicas: ReplicaConfig { labels: config.labels.pods.clone(), port: config.listeners.webhooks.port },
        certificates: certificates(config, pod_environment)?,
        namespaces: namespaces(&config.namespaces, &pod_environment.instance),
        field_manager: operator.names().command.to_owned(),
        annotation_prefix: annotation_prefix(operator),
        namespace,
    })
}

/// An operator of one namespace has configurations of its own name, and leaves the CRDs to the one of the whole cluster.
fn targets<P: Operator>(operator: &P, config: &Config, installation: &Installation) -> InjectionRules {
    let service = config.names.service.clone();
    let called = Installation { service: service.clone(), ..installation.clone() };
    let whole = InjectionRules {
        validating: installation.validating_name.clone(),
        mutating: installation.mutating_name.clone(),
        labels: config.labels.configurations.clone(),
        crds: crds::converted(operator),
        kinds: kinds(operator),
        converted_by: converted_by(&annotation_prefix(operator)),
        conversion: conversion(operator, &called),
        service: ServiceName { namespace: installation.namespace.clone(), name: service },
    };
    match &config.namespaces {
        config::NamespaceScope::All(_) => whole,
        // The webhooks of the whole cluster are no conflict: they leave to it what it claims.
        config::NamespaceScope::One(one) => InjectionRules {
            validating: format!("{}-{}", whole.validating, one.name),
            mutating: format!("{}-{}", whole.mutating, one.name),
            crds: Vec::new(),
            kinds: Vec::new(),
            conversion: BTreeMap::new(),
            ..whole
        },
    }
}

fn namespaces(served: &config::NamespaceScope, release: &str) -> ServedNamespaces {
    match served {
        config::NamespaceScope::All(config::ClaimSettings { leases, claimed }) => {
            let claimed = match claimed {
                config::ClaimTreatment::Called => ClaimedNamespaces::Called,
                config::ClaimTreatment::Excluded => ClaimedNamespaces::Excluded,
            };
            ServedNamespaces::All(ClaimsConfig { leases: leases.clone(), claimed })
        }
        config::NamespaceScope::One(one) => ServedNamespaces::One(NamespaceLeaseConfig {
            namespace: one.name.clone(),
            name: one.lease.clone(),
            release: release.to_owned(),
            times: NamespaceLeaseTimes { duration: one.lease_duration, renew_interval: one.renew_interval },
        }),
    }
}

fn certificates(config: &Config, pod_environment: &PodEnvironment) -> Result<IssuanceConfig, ConfigError> {
    let PodEnvironment { namespace, cluster_domain, .. } = pod_environment;
    let names = ServerNames::of_service(&config.names.service, namespace, cluster_domain)
        .and_then(|names| names.with(&config.certificates.dns_names));
    let ca_name = CommonName::new(config.certificates.ca_name.as_str());
    let wrong = |error: gateward_certs::NameError| {
        ConfigError(vec![Problem {
            source: ProblemSource::Other,
            text: format!("no certificate can be made: {error}"),
        }])
    };
    let keys: Arc<dyn KeySource + Send + Sync> = match config.certificates.keys {
        KeyAlgorithm::Ecdsa => Arc::new(SystemKeys),
        KeyAlgorithm::Rsa => Arc::new(RsaKeys),
    };
    Ok(IssuanceConfig {
        names: names.map_err(wrong)?,
        ca_name: ca_name.map_err(wrong)?,
        lifetimes: config.certificates.lifetimes,
        keys,
        settle: CertificateSpec::SETTLE,
    })
}

/// The stanzas of the CRDs whose objects are converted, by the names of the CRDs.
fn conversion<P: Operator>(operator: &P, installation: &Installation) -> BTreeMap<String, Value> {
    let stanza = |kind: &Declaration| {
        let stanza = manifest::conversion(kind, installation)?;
        Some((format!("{}.{}", kind.plural, kind.hub.group), serde_json::to_value(stanza).ok()?))
    };
    operator.webhooks().declarations().filter_map(stanza).collect()
}

/// The kinds by which conflicting webhook configurations are found.
fn kinds<P: Operator>(operator: &P) -> Vec<ResourceName> {
    let kinds = operator.webhooks().declarations();
    let name = |kind: &Declaration| ResourceName {
        group: kind.resource_group().to_owned(),
        plural: kind.resource_name().into_owned(),
    };
    // Whatever webhook there is would conflict with one for all kinds.
    let mut kinds: Vec<ResourceName> = kinds.filter(|kind| !kind.is_of_any_kind()).map(name).collect();
    // A kind with several entries is there as often.
    kinds.dedup();
    kinds
}

#[cfg(test)]
mod tests {
    use gateward_certs::rotation::RotationAnnotations;
    use gateward_core::{Webhook, Webhooks};
    use serde_json::json;

    use super::*;
    use crate::cli::convert::converter::tests::{Losing, v1, v2};
    use crate::config::{ConfigSource, Flags};

    const CRD: &str = "{metadata: {name: otters.example.org}, spec: {group: example.org, names: {kind: Otter}, versions: \
                       [{name: v1, served: true}, {name: v2, served: true}]}}";

    fn otters() -> Webhooks {
        Webhooks::new().register(Webhook::<v1::Otter>::new().spoke::<v2::Otter>(Losing).crd(CRD))
    }

    fn pod_environment(domain: &str) -> PodEnvironment {
        let variable = |name: &str| match name {
            "KUBERNETES_CLUSTER_DOMAIN" => Some(domain.to_owned()),
            "POD_IP" => Some("10.1.2.3".to_owned()),
            "POD_INSTANCE" => Some("river".to_owned()),
            "POD_NAMESPACE" => Some("zoo".to_owned()),
            _ => Some("otter-1".to_owned()),
        };
        PodEnvironment::read(variable, None).unwrap()
    }

    fn setup_in(domain: &str) -> Result<ControllerConfig, ConfigError> {
        let given =
            ConfigSource { document: json!({}), pod_environment: pod_environment(domain), flags: Flags::default() };
        let config = otters().config(&given).unwrap();
        setup(&otters(), &config, &given.pod_environment)
    }

    #[test]
    fn the_controller_gets_the_names_of_its_release() {
        let setup = setup_in("zoo.example").unwrap();
        assert_eq!(setup.targets.validating, "river-validating");
        assert_eq!(setup.targets.crds, ["otters.example.org"]);
        assert_eq!(setup.targets.service.to_string(), "zoo/river-webhook-service");
        let called = &setup.targets.conversion["otters.example.org"]["webhook"]["clientConfig"]["service"];
        assert_eq!(
            called,
            &json!({"name": "river-webhook-service", "namespace": "zoo", "path": "/convert", "port": 443})
        );
        assert_eq!((setup.lease.name.as_str(), setup.lease.holder.as_str()), ("river-webhook-writer", "otter-1"));
        let names: Vec<_> = setup.certificates.names.iter().map(|name| name.to_str().into_owned()).collect();
        assert_eq!(names[0], "river-webhook-service.zoo.svc");
        assert_eq!(names[3], "river-webhook-service.zoo.svc.zoo.example");
    }

    /// The keys and names that the controller writes into a cluster.
    fn written(config: &ControllerConfig) -> Vec<String> {
        let RotationAnnotations { progress, request } = config.spec().annotations;
        let SecretNames { serving, ca, bundle, labels } = config.secrets.clone();
        let mut written = vec![progress, request, serving, ca, bundle, config.lease.name.clone()];
        written.extend([config.field_manager.clone(), config.annotation_prefix.clone()]);
        written.extend([config.targets.converted_by.clone(), json!(config.targets.conversion).to_string()]);
        written.extend(config.certificates.names.iter().map(|name| name.to_str().into_owned()));
        written
            .extend([config.certificates.ca_name.as_str().to_owned(), format!("{:?} {labels:?}", config.namespaces)]);
        written
    }

    #[test]
    fn what_the_controller_writes_is_called_by_the_operator_s_own_name() {
        let config = setup_in("cluster.local").unwrap();
        assert_eq!(config.spec().annotations, RotationAnnotations::of("example.org"));
        assert_eq!(config.targets.converted_by, "example.org/converted-by");
        let foreign: Vec<String> = written(&config).into_iter().filter(|text| text.contains("gateward")).collect();
        assert_eq!(foreign, [""; 0]);
    }

    #[test]
    fn an_operator_without_a_group_of_its_own_has_the_name_of_its_command_before_its_annotations() {
        let pods = || crate::Names::new("Pod_Police", "1.0.0").of(Webhooks::new());
        assert_eq!(annotation_prefix(&pods()), "pod-police");
        let said =
            crate::Names::new("police", "1.0.0").of(Webhooks::new().with_annotation_prefix("police.example.org"));
        assert_eq!(annotation_prefix(&said), "police.example.org");
    }

    #[test]
    fn an_operator_of_one_namespace_has_names_of_its_own_and_leaves_the_crds_alone() {
        let given =
            ConfigSource { document: json!({}), pod_environment: pod_environment("a"), flags: Flags::default() };
        let one = config::RestrictedNamespace {
            name: "team-a".into(),
            lease: "lock".into(),
            lease_duration: std::time::Duration::from_secs(30),
            renew_interval: std::time::Duration::from_secs(10),
        };
        let namespaces = config::NamespaceScope::One(one);
        let config = Config { namespaces, ..otters().config(&given).unwrap() };
        let setup = setup(&otters(), &config, &given.pod_environment).unwrap();
        assert_eq!(setup.targets.validating, "river-validating-team-a");
        assert_eq!(setup.targets.mutating, "river-mutating-team-a");
        assert!(setup.targets.crds.is_empty() && setup.targets.conversion.is_empty());
        assert!(setup.targets.kinds.is_empty(), "the webhooks of the whole cluster are no conflict");
        let ServedNamespaces::One(lease) = setup.namespaces else { panic!("{:?}", setup.namespaces) };
        assert_eq!((lease.namespace.as_str(), lease.release.as_str()), ("team-a", "river"));
    }

    #[test]
    fn a_certificate_has_further_names_after_those_of_the_service() {
        let given =
            ConfigSource { document: json!({}), pod_environment: pod_environment("a"), flags: Flags::default() };
        let mut config = otters().config(&given).unwrap();
        config.certificates.dns_names = vec!["lake.zoo.svc".into()];
        let names = setup(&otters(), &config, &given.pod_environment).unwrap().certificates.names;
        let names: Vec<_> = names.iter().map(|name| name.to_str().into_owned()).collect();
        assert_eq!(
            (names.len(), names[0].as_str(), names[4].as_str()),
            (5, "river-webhook-service.zoo.svc", "lake.zoo.svc")
        );
        config.certificates.dns_names = vec!["lake/zoo".into()];
        assert!(setup(&otters(), &config, &given.pod_environment).is_err());
    }

    #[test]
    fn a_domain_that_no_certificate_can_carry_is_reported() {
        let error = setup_in("zoo/example").err().unwrap().to_string();
        assert!(error.contains("zoo/example"), "{error}");
    }

    #[test]
    fn conflicting_configurations_are_found_by_our_kinds() {
        let setup = setup_in("cluster.local").unwrap();
        let otters = ResourceName { group: "example.org".into(), plural: "otters".into() };
        assert_eq!(setup.targets.kinds, [otters]);
    }
}
