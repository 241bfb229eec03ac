//! The Dynamo Operator as a product: its registry, facts, settings and names, joined for the command line.

mod settings;

use std::sync::Arc;

use dynamo_webhooks::configuration::{API_VERSION, KIND, OperatorConfiguration};
use dynamo_webhooks::{ClusterFacts, in_cluster};
use gateward::prelude::*;
use gateward::settings::{Flag, Given, LearnError, Learned, Settings, SettingsError};
use gateward::{ClusterReader, FactsError, FactsSource, Installation, Names, Product, Release};
use serde_json::{Value, json};

use settings::{DEFAULT_IMAGE, FLAGS, OPERATOR_VERSION, service};

/// The Dynamo Operator's webhooks.
pub struct Dynamo {
    registry: Registry,
}

impl Dynamo {
    /// All kinds of the operator.
    pub fn new() -> Self {
        Self { registry: dynamo_webhooks::registry() }
    }
}

impl Product for Dynamo {
    fn registry(&self) -> &Registry {
        &self.registry
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

    fn settings(&self, given: &Given) -> Result<Settings, SettingsError> {
        settings::settings(given)
    }

    fn shortest_configuration(&self) -> Value {
        json!({"apiVersion": API_VERSION, "kind": KIND})
    }

    async fn cluster_facts(&self, given: &Given, cluster: Arc<dyn ClusterReader>) -> Result<Learned, LearnError> {
        let read = OperatorConfiguration::read(&given.document);
        // It was read without a fault before.
        let read = read.map_err(|error| LearnError::Unreadable(error.to_string()))?;
        let surroundings = &given.surroundings;
        let identity = in_cluster::Identity {
            namespace: surroundings.namespace.clone(),
            service_account: surroundings.service_account.clone(),
            release: surroundings.instance.clone(),
            version: given.flags.get(&OPERATOR_VERSION).map(str::to_owned),
            default_image: given.flags.get(&DEFAULT_IMAGE).map(str::to_owned),
        };
        let learned = in_cluster::learn(&read.configuration, &identity, cluster).await;
        match learned {
            Ok(in_cluster::Learned { facts, notes }) => Ok(Learned { facts: Arc::new(facts), notes }),
            Err(in_cluster::LearnError::Contradiction(problem)) => {
                Err(LearnError::Contradiction(settings::problem(problem)))
            }
            Err(in_cluster::LearnError::Unreadable(why)) => Err(LearnError::Unreadable(why)),
        }
    }
}
