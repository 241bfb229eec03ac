//! A release that the tests of all checks plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use gateward_certs::rotation::CertificateSpec;
use gateward_certs::{CommonName, Lifetimes, Provision, ServerNames, SystemKeys};

use super::planned_release::{HandOver, PlannedRelease};
use crate::config::{
    ClaimsConfig, ControllerConfig, InjectionRules, IssuanceConfig, LeaseConfig, LeaseTimes, ReplicaConfig,
    SecretNames, ServedNamespaces,
};
use crate::permissions::{Need, ResourceName};

pub(super) fn planned() -> PlannedRelease {
    planned_by(Provision::Automatic)
}

pub(super) fn planned_by(provision: Provision) -> PlannedRelease {
    PlannedRelease {
        name: "river".into(),
        config: config(provision),
        service_account: "river".into(),
        needs: vec![Need::Always, Need::ClusterWide, Need::ToInstallCrds],
        crds: vec!["otters.zoo.org".into()],
        lookups: vec![ResourceName { group: "maps.org".into(), plural: "rivers".into() }],
        lists: Vec::new(),
        watches: Vec::new(),
        controllers: Vec::new(),
        issuer: None,
        hand_over: Some(HandOver { namespace_label: "zoo.org/keeper".into(), guide: "the keepers' book".into() }),
    }
}

fn config(provision: Provision) -> ControllerConfig {
    ControllerConfig {
        namespace: "zoo".into(),
        provision,
        secrets: SecretNames {
            serving: "webhook-server-cert".into(),
            ca: "webhook-server-cert-ca".into(),
            bundle: "webhook-server-cert-bundle".into(),
            labels: BTreeMap::new(),
        },
        lease: LeaseConfig { name: "writer".into(), holder: "otter".into(), times: LeaseTimes::default() },
        targets: InjectionRules {
            validating: "river-validating".into(),
            mutating: "river-mutating".into(),
            crds: vec!["otters.zoo.org".into()],
            kinds: vec![ResourceName { group: "zoo.org".into(), plural: "otters".into() }],
            ..InjectionRules::of_zoo()
        },
        replicas: ReplicaConfig { labels: BTreeMap::new(), port: 9443 },
        certificates: IssuanceConfig {
            names: ServerNames::of_service("otter", "zoo", "cluster.local").unwrap(),
            ca_name: CommonName::new("otter CA").unwrap(),
            lifetimes: Lifetimes::default(),
            keys: Arc::new(SystemKeys),
            settle: CertificateSpec::SETTLE,
        },
        namespaces: ServedNamespaces::All(ClaimsConfig { leases: vec!["lock".into()], ..ClaimsConfig::default() }),
        field_manager: "gateward".into(),
        annotation_prefix: "otter.zoo.org".into(),
    }
}
