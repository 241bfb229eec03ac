//! The Dynamo Operator: its webhooks, facts, configuration and names, joined for the command line.

mod config;

use std::sync::Arc;

use dynamo_webhooks::configuration::{API_VERSION, KIND, OperatorConfiguration};
use dynamo_webhooks::{ClusterFacts, in_cluster};
use gateward::config::{Config, ConfigError, ConfigSource, Discovered, DiscoveryError, Flag};
use gateward::prelude::*;
use gateward::{ClusterReader, FactsError, FactsSource, Installation, Names, Operator, Release};
use serde_json::{Value, json};

use config::{DEFAULT_IMAGE, FLAGS, OPERATOR_VERSION, service};

/// The Dynamo Operator's webhooks.
pub struct Dynamo {
    webhooks: Webhooks,
}

impl Dynamo {
    /// All kinds of the operator.
    pub fn new() -> Self {
        Self { webhooks: dynamo_webhooks::webhooks() }
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
            metrics: "dynamo_operator",
            release: "dynamo-platform",
            namespace: "dynamo-system",
            version_annotation: "dynamo.nvidia.com/operator-version",
            crd_manager: "dynamo-crd-apply",
        }
    }

    fn crds(&self) -> Vec<&'static str> {
        dynamo_webhooks::crds()
    }

    fn installation(&self, release: &Release) -> Installation {
        let installation = dynamo_webhooks::names::installation(&release.name, &release.namespace);
        let fullname = dynamo_webhooks::names::fullname(&release.name);
        Installation { service: service(&fullname).unwrap_or(installation.service), ..installation }
    }

    fn flags(&self) -> &'static [Flag] {
        FLAGS
    }

    fn config(&self, given: &ConfigSource) -> Result<Config, ConfigError> {
        config::config(given)
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
        let learned = in_cluster::learn(&read.configuration, &identity, cluster).await;
        match learned {
            Ok(in_cluster::Discovered { facts, notes }) => Ok(Discovered { facts: Arc::new(facts), notes }),
            Err(in_cluster::DiscoveryError::Contradiction(problem)) => {
                Err(DiscoveryError::Contradiction(config::problem(problem)))
            }
            Err(in_cluster::DiscoveryError::Unreadable(why)) => Err(DiscoveryError::Unreadable(why)),
        }
    }
}
