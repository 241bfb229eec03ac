//! The Dynamo Operator as the facade knows it: its webhooks, facts, configuration and names.

use std::sync::Arc;

use gateward::config::{ChartValues, Config, ConfigError, ConfigSource, Discovered, DiscoveryError, Flag};
use gateward::prelude::*;
use gateward::{ClusterReader, Crd, FactsError, FactsSource, Installation, Names, Operator, Predecessor, Release};
use serde_json::{Value, json};

use super::configuration::{API_VERSION, KIND, OperatorConfiguration};
use super::facts::ClusterFacts;
use super::settings::{self, DEFAULT_IMAGE, FLAGS, OPERATOR_VERSION};
use super::version::CRDS_VERSION;
use super::{chart, in_cluster, names};

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
                ClusterFacts::from_document(document).map_err(|error| FactsError(format!("facts: {error}")))?
            }
        };
        Ok(Arc::new(facts))
    }

    fn names(&self) -> Names {
        Names {
            about: "The Dynamo Operator's admission webhooks: serve them, check manifests offline, print what installs them",
            metrics: names::METRICS_PREFIX.into(),
            cluster_metrics: names::CLUSTER_METRICS_PREFIX.into(),
            release: "dynamo-platform".into(),
            namespace: "dynamo-system",
            version_annotation: "dynamo.nvidia.com/operator-version".into(),
            crds_version: CRDS_VERSION,
            crd_manager: "dynamo-crd-apply",
            log_variable: "GATEWARD_LOG",
            facts_example: Some("groveEnabled: false"),
            predecessor: Some(Predecessor { namespace_label: names::GO_OPERATOR_LABEL, guide: "docs/migration.md" }),
            ..Names::new("gateward", env!("CARGO_PKG_VERSION"))
        }
    }

    fn crds(&self) -> Vec<Crd> {
        crate::crds().into_iter().map(Crd::from).collect()
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

    fn chart_values(&self, release: &Release, values: &Value) -> ChartValues {
        chart::chart_values(release, values)
    }

    fn chart_schema(&self) -> Option<Value> {
        Some(chart::schema())
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
        let identity = in_cluster::OperatorIdentity {
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

#[cfg(test)]
mod tests {
    use std::task::{Context as Task, Poll, Waker};
    use std::time::SystemTime;

    use gateward::{Context, Outcome, Review, ReviewResponse, Skip};

    use super::*;

    /// What is answered by an operator of the whole cluster, where everything in `team-a` is claimed.
    fn answered(path: &str, body: &Value) -> ReviewResponse {
        let dynamo = Dynamo::new();
        let facts = dynamo.facts(FactsSource::Document(&json!({
            "clusterWide": true, "excludedNamespaces": ["team-a"],
        })));
        let context = Context::new(SystemTime::UNIX_EPOCH, facts.unwrap());
        let body = body.to_string();
        let answering = std::pin::pin!(dynamo.webhooks.handle(path, body.as_bytes(), &context));
        match answering.poll(&mut Task::from_waker(Waker::noop())) {
            Poll::Ready(answer) => answer,
            Poll::Pending => panic!("nothing here waits"),
        }
    }

    fn review(kind: &GroupVersionKind, operation: &str) -> Value {
        let group = format!("{}/{}", kind.group, kind.version);
        let object = json!({"apiVersion": group, "kind": kind.kind, "metadata": {"name": "a", "namespace": "team-a"}});
        json!({
            "apiVersion": "admission.k8s.io/v1",
            "kind": "AdmissionReview",
            "request": {
                "uid": "1",
                "kind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
                "operation": operation,
                "namespace": "team-a",
                "name": "a",
                "object": if operation == "DELETE" { Value::Null } else { object.clone() },
                "oldObject": if operation == "CREATE" { Value::Null } else { object },
            },
        })
    }

    /// Every path of every validator and defaulter, in every version and for every operation.
    #[test]
    fn nothing_in_a_claimed_namespace_is_judged_or_defaulted_by_any_path() {
        let webhooks = crate::webhooks();
        let mut asked = 0;
        for declared in webhooks.declarations() {
            for review_kind in [Review::Validate, Review::Mutate] {
                for path in declared.paths(review_kind) {
                    for version in &declared.versions {
                        for operation in ["CREATE", "UPDATE", "DELETE", "CONNECT"] {
                            let kind = GroupVersionKind { version: version.to_string(), ..declared.hub.clone() };
                            let answer = answered(&path, &review(&kind, operation));
                            let skipped = Outcome::Skipped(Skip::ClaimedNamespace);
                            assert_eq!(answer.decision.outcome, skipped, "{operation} {kind} at {path}");
                            asked += 1;
                        }
                    }
                }
            }
        }
        let judging = webhooks.paths().filter(|(_, review)| *review != Review::Convert).count();
        assert!(asked >= 4 * judging, "{asked} reviews for {judging} paths");
    }

    #[test]
    fn a_conversion_is_never_skipped() {
        let object = json!({
            "apiVersion": "nvidia.com/v1alpha1",
            "kind": "DynamoGraphDeployment",
            "metadata": {"name": "a", "namespace": "team-a"},
            "spec": {},
        });
        let review = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "ConversionReview",
            "request": {"uid": "1", "desiredAPIVersion": "nvidia.com/v1beta1", "objects": [object]},
        });
        assert_eq!(answered("/convert", &review).decision.outcome, Outcome::Converted { objects: 1, incomplete: 0 });
    }
}
