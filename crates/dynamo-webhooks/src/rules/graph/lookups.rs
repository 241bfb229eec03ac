//! Lookups in the cluster that the rules of a graph need, done before they run.

use dynamo_api::v1beta1::{ComponentType, DynamoGraphDeployment};
use gateward::{ClusterReader, GroupServed, Issues, Lookup, ObjectName, Verdict, WebhookError, dns};
use serde_json::Value;

use crate::operator::facts::{Cluster, ClusterFacts, GROVE_GROUP, INFERENCE_GROUP, TOPOLOGY_BINDINGS};
use crate::rules::component::InferencePool;
use crate::rules::grove::WorkloadBackend;

/// The result of looking up a topology object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum TopologyLookup {
    /// No rule needs it.
    #[default]
    NotNeeded,
    /// There is no cluster to look it up in.
    NotEvaluated,
    /// The cluster has none of this name.
    Absent,
    /// Its levels, the broadest first.
    Known(Vec<String>),
}

/// The lookups of one graph.
#[derive(Debug)]
pub(super) struct Lookups {
    /// The topology that pods are packed by.
    pub(super) packing: TopologyLookup,
    /// The topology that KV caches are transferred in.
    pub(super) transfer: TopologyLookup,
    /// Whether the cluster serves the API that endpoint pickers need.
    pub(super) inference_pool: InferencePool,
    failure: Option<WebhookError>,
}

impl Lookups {
    /// Looks up what the rules need to validate `graph`. For most graphs that is nothing.
    pub(super) async fn of(
        graph: &DynamoGraphDeployment,
        workload_backend: WorkloadBackend,
        facts: &ClusterFacts,
    ) -> Self {
        let (packing, transfer) = topologies(graph, workload_backend);
        let mut queries = ClusterQueries { cluster: &facts.cluster, failure: None };
        let inference_pool =
            if has_endpoint_picker(graph) { queries.inference_pool().await } else { InferencePool::NotNeeded };
        let known = queries.topology(packing).await;
        let transfer = if packing == transfer { known.clone() } else { queries.topology(transfer).await };
        Self { packing: known, transfer, inference_pool, failure: queries.failure }
    }

    /// The verdict: denied where the findings deny, undecided where they don't but something couldn't be read.
    pub(super) fn verdict(self, issues: Issues) -> Verdict {
        match self.failure {
            Some(why) if !issues.has_errors() => why.into(),
            _ => issues.into(),
        }
    }
}

/// The names of the topologies that packing and transfer refer to, as far as they matter: topologies are read only
/// for new graphs on Grove, because the fields that name them are immutable.
fn topologies(graph: &DynamoGraphDeployment, workload_backend: WorkloadBackend) -> (Option<&str>, Option<&str>) {
    if !workload_backend.is_grove() || graph.metadata.generation.is_some_and(|generation| generation > 1) {
        return (None, None);
    }
    let packing = graph.spec.topology_constraint.as_ref().map(|constraint| constraint.cluster_topology_name.as_str());
    let policy = graph.spec.experimental.as_ref().and_then(|experimental| experimental.kv_transfer_policy.as_ref());
    let transfer = policy.and_then(|policy| policy.cluster_topology_name.as_deref());
    let named = |name: &&str| !name.is_empty();
    (packing.filter(named), transfer.filter(named).filter(|name| dns::is_subdomain(name)))
}

fn has_endpoint_picker(graph: &DynamoGraphDeployment) -> bool {
    graph.spec.components.iter().any(|component| component.component_type == Some(ComponentType::Epp))
}

/// Reads from the cluster and keeps the first failure.
struct ClusterQueries<'a> {
    cluster: &'a Cluster,
    failure: Option<WebhookError>,
}

impl ClusterQueries<'_> {
    async fn inference_pool(&mut self) -> InferencePool {
        let Cluster::Read(reader) = self.cluster else { return InferencePool::NotEvaluated };
        match reader.group(INFERENCE_GROUP).await {
            GroupServed::Served => InferencePool::Served,
            GroupServed::Absent => InferencePool::Absent,
            GroupServed::Unreadable(why) => {
                self.fail(&format!("the API group {INFERENCE_GROUP}"), &why);
                InferencePool::NotNeeded
            }
        }
    }

    async fn topology(&mut self, name: Option<&str>) -> TopologyLookup {
        match (name, self.cluster) {
            (None, _) => TopologyLookup::NotNeeded,
            (Some(_), Cluster::NotEvaluated) => TopologyLookup::NotEvaluated,
            // No object has such a name, and a reader should not have to make an address of it.
            (Some(name), _) if !dns::is_subdomain(name) => TopologyLookup::Absent,
            (Some(name), Cluster::Read(reader)) => self.read_topology(name, reader.as_ref()).await,
        }
    }

    async fn read_topology(&mut self, name: &str, reader: &dyn ClusterReader) -> TopologyLookup {
        match reader.get(&topology_binding(name)).await {
            Lookup::Found(object) => TopologyLookup::Known(levels(&object)),
            Lookup::Absent => TopologyLookup::Absent,
            Lookup::Unreadable(why) => {
                self.fail(&format!("the cluster topology {name:?}"), &why);
                TopologyLookup::NotNeeded
            }
        }
    }

    fn fail(&mut self, what: &str, why: &str) {
        self.failure
            .get_or_insert_with(|| WebhookError::Unavailable(format!("{what} can't be read at the moment: {why}")));
    }
}

fn topology_binding(name: &str) -> ObjectName {
    ObjectName {
        group: GROVE_GROUP.into(),
        version: "v1alpha1".into(),
        plural: TOPOLOGY_BINDINGS.into(),
        namespace: None,
        name: name.into(),
    }
}

/// The domains of the topology's levels.
fn levels(object: &Value) -> Vec<String> {
    let levels = object.pointer("/spec/levels").and_then(Value::as_array);
    let domain = |level: &Value| level.get("domain").and_then(Value::as_str).map(str::to_owned);
    levels.into_iter().flatten().filter_map(domain).collect()
}
