//! A release as its values have it, before it is installed.

use std::collections::BTreeSet;

use gateward_certs::{CaInjection, Provision};
use gateward_cluster::permissions::{Need, ResourceName};
use gateward_cluster::preflight::{HandOver, PlannedRelease};
use gateward_cluster::{ClaimedNamespaces, ControllerConfig, ServedNamespaces};
use gateward_core::manifest::Installation;
use serde_json::json;

use crate::cli::webhook_values::with_values;
use crate::config::{ChartValues, ConfigError, ConfigSource, CrdInstaller, Flags, PodEnvironment, WebhookValues};
use crate::crds;
use crate::operator::{Operator, Release};
use crate::runtime::setup;

/// The release as the server itself would see it.
pub(crate) fn planned<P: Operator>(
    operator: &P,
    release: &Release,
    values: ChartValues,
) -> anyhow::Result<PlannedRelease> {
    let source = source(release, &values);
    let ChartValues { service_account, crd_installer, issuer, lookups, .. } = values;
    let config = setup(operator, &operator.config(&source)?, &source.pod_environment)?;
    let declared = operator.webhooks().declarations().flat_map(|declared| declared.lookups.iter().cloned());
    let watched = operator.webhooks().stores().into_iter().map(|store| store.query());
    Ok(PlannedRelease {
        name: release.name.clone(),
        needs: needs(&config, crd_installer),
        config,
        service_account,
        crds: crd_names(operator),
        lookups: lookups.into_iter().map(resource).collect(),
        lists: declared.map(resource).collect::<BTreeSet<_>>().into_iter().collect(),
        watches: watched.map(|of| resource((of.group, of.plural))).collect::<BTreeSet<_>>().into_iter().collect(),
        controllers: operator.controller_permissions(),
        issuer,
        hand_over: operator
            .names()
            .predecessor
            .map(|it| HandOver { namespace_label: it.namespace_label.to_owned(), guide: it.guide.to_owned() }),
    })
}

/// What the API server is to call, under the names that the Pods of the release know.
pub(crate) fn installation<P: Operator>(
    operator: &P,
    release: &Release,
    values: &WebhookValues,
    config: &ControllerConfig,
) -> Result<Installation, ConfigError> {
    let usual = with_values(operator.installation(release), values)?;
    let targets = &config.targets;
    let namespace_selector = match &config.namespaces {
        ServedNamespaces::One(one) => Some(json!({"matchLabels": {"kubernetes.io/metadata.name": one.namespace}})),
        ServedNamespaces::All(_) => usual.namespace_selector,
    };
    Ok(Installation {
        validating_name: targets.validating.clone(),
        mutating_name: targets.mutating.clone(),
        service: targets.service.name.clone(),
        namespace_selector,
        ..usual
    })
}

fn crd_names(operator: &impl Operator) -> Vec<String> {
    let names = crds::definitions(operator).map(|crd| crd.metadata.name);
    names.filter(|name| !name.is_empty()).collect()
}

/// What a Pod of the release would read.
pub(crate) fn source(release: &Release, values: &ChartValues) -> ConfigSource {
    let pod_environment = PodEnvironment {
        namespace: release.namespace.clone(),
        instance: release.name.clone(),
        service_account: values.service_account.clone(),
        ..PodEnvironment::nowhere()
    };
    ConfigSource { document: values.document.clone(), pod_environment, flags: Flags::default() }
}

fn resource((group, plural): (String, String)) -> ResourceName {
    ResourceName { group, plural }
}

fn needs(config: &ControllerConfig, crd_installer: CrdInstaller) -> Vec<Need> {
    let keeps = matches!(config.provision, Provision::CertManager { injection: CaInjection::Secret, .. });
    let keeps = keeps.then_some(Need::ToKeepBundle);
    let ServedNamespaces::All(claims) = &config.namespaces else {
        return [Need::Always, Need::OneNamespace].into_iter().chain(keeps).collect();
    };
    let installs = (crd_installer == CrdInstaller::Pods).then_some(Need::ToInstallCrds);
    let excludes = (claims.claimed == ClaimedNamespaces::Excluded).then_some(Need::ToExcludeClaims);
    [Need::Always, Need::ClusterWide].into_iter().chain(installs).chain(excludes).chain(keeps).collect()
}
