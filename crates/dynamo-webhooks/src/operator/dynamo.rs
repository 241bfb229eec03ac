//! The Dynamo Operator as the facade knows it: its webhooks, facts, configuration and names.

use std::sync::Arc;

use gateward::config::{Config, ConfigError, ConfigSource, Discovered, DiscoveryError, Flag};
use gateward::prelude::*;
use gateward::{ClusterReader, FactsError, FactsSource, Installation, Names, Operator, Release};
use serde_json::{Value, json};

use super::configuration::{API_VERSION, KIND, OperatorConfiguration};
use super::facts::ClusterFacts;
use super::settings::{self, DEFAULT_IMAGE, FLAGS, OPERATOR_VERSION};
use super::{in_cluster, names};

/// The Dynamo Operator's webhooks.
pub struct Dynamo {
    webhooks: Webhooks,
}

impl Dynamo {
    pub(crate) fn new() -> Self {
        Self { webhooks: crate::webhooks() }
    }
}

impl Operator for Dynamo {
    fn webhooks(&self) -> &Webhooks {
        &self.webhooks
    }

    fn facts(&self, source: FactsSource<'_>) -> Result<Arc<dyn Facts>, FactsError> {
        let facts = match source {
            FactsSource::Nowhere => ClusterFacts::unknown(),
            FactsSource::Document(document) => {
                ClusterFacts::from_document(document).map_err(|error| FactsError(error.to_string()))?
            }
        };
        Ok(Arc::new(facts))
    }

    fn names(&self) -> Names {
        Names {
            command: "gateward",
            about: "The Dynamo Operator's admission webhooks: serve them, check manifests offline, print what installs them",
            metrics: names::METRICS_PREFIX,
            release: "dynamo-platform",
            namespace: "dynamo-system",
            version_annotation: "dynamo.nvidia.com/operator-version",
            crd_manager: "dynamo-crd-apply",
        }
    }

    fn crds(&self) -> Vec<&'static str> {
        crate::crds()
    }

    fn installation(&self, release: &Release) -> Installation {
        let installation = names::installation(&release.name, &release.namespace);
        let fullname = names::fullname(&release.name);
        Installation { service: settings::service(&fullname).unwrap_or(installation.service), ..installation }
    }

    fn flags(&self) -> &'static [Flag] {
        FLAGS
    }

    fn config(&self, given: &ConfigSource) -> Result<Config, ConfigError> {
        settings::config(given)
    }

    fn shortest_configuration(&self) -> Value {
        json!({"apiVersion": API_VERSION, "kind": KIND})
    }

    async fn cluster_facts(
        &self,
        given: &ConfigSource,
        cluster: Arc<dyn ClusterReader>,
    ) -> Result<Discovered, DiscoveryError> {
        let read = OperatorConfiguration::read(&given.document);
        // It was read without a fault before.
        let read = read.map_err(|error| DiscoveryError::Unreadable(error.to_string()))?;
        let pod_environment = &given.pod_environment;
        let identity = in_cluster::Identity {
            namespace: pod_environment.namespace.clone(),
            service_account: pod_environment.service_account.clone(),
            release: pod_environment.instance.clone(),
            version: given.flags.get(&OPERATOR_VERSION).map(str::to_owned),
            default_image: given.flags.get(&DEFAULT_IMAGE).map(str::to_owned),
        };
        let (facts, notes) = in_cluster::learn(&read.configuration, &identity, cluster).await?;
        Ok(Discovered { facts: Arc::new(facts), notes })
    }
}
