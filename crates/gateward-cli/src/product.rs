//! The Dynamo Operator as a product: its registry, facts and names, joined for the command line.

use std::sync::Arc;

use dynamo_webhooks::ClusterFacts;
use gateward::prelude::*;
use gateward::{FactsError, FactsSource, Installation, Names, Product, Release};

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
        dynamo_webhooks::names::installation(&release.name, &release.namespace)
    }
}
