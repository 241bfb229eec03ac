//! Fields that are still accepted and no longer do anything: ALPHA-03 and ALPHA-04. They get a warning.

use dynamo_api::constants::GLOBAL_DYNAMO_NAMESPACE;
use dynamo_api::meta::ObjectMeta;
use dynamo_api::v1alpha1::ComponentSpec;
use gateward::{FieldPath, Issues, Rule};

use super::applies_to::ON_V1ALPHA1_FIELDS;

const DYNAMO_NAMESPACE: Rule = rule! {
    id: "ALPHA-03",
    summary: "the Dynamo namespace is computed; dynamoNamespace is ignored",
    help: "remove dynamoNamespace; whatever reads it finds the namespace in the environment of its pod",
    ..ON_V1ALPHA1_FIELDS
};

const AUTOSCALING: Rule = rule! {
    id: "ALPHA-04",
    summary: "a scaling adapter scales; autoscaling is ignored",
    help: "replace the block by scalingAdapter: {enabled: true}",
    ..ON_V1ALPHA1_FIELDS
};

pub(super) const RULES: &[&Rule] = &[&DYNAMO_NAMESPACE, &AUTOSCALING];

/// The parts of a service's Dynamo namespace.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamespaceContext<'a> {
    /// The Kubernetes namespace.
    pub namespace: &'a str,
    /// The name of the graph that the service belongs to; empty where there is none.
    pub graph: &'a str,
}

impl<'a> NamespaceContext<'a> {
    /// For the services of a graph.
    pub fn of_graph(metadata: &'a ObjectMeta) -> Self {
        Self { namespace: &metadata.namespace, graph: &metadata.name }
    }

    /// For a DynamoComponentDeployment, with or without a graph that owns it.
    pub fn of_component(metadata: &'a ObjectMeta) -> Self {
        let graph = metadata.owner_references.iter().find(|owner| owner.kind == "DynamoGraphDeployment");
        Self { namespace: &metadata.namespace, graph: graph.map_or("", |graph| &graph.name) }
    }

    /// A manifest may leave the Kubernetes namespace to the user who applies it.
    fn dynamo_namespace(self, service: &ComponentSpec) -> String {
        let graph = self.graph.replace('.', "-");
        match self.namespace {
            _ if service.global_dynamo_namespace => format!("{GLOBAL_DYNAMO_NAMESPACE:?}"),
            "" => format!("the Kubernetes namespace followed by {:?}", format!("-{graph}")),
            namespace => format!("{:?}", format!("{namespace}-{graph}")),
        }
    }
}

/// Warns of the ignored fields of `service`, which stands at `at`.
pub(super) fn check(service: &ComponentSpec, at: &FieldPath, context: NamespaceContext, issues: &mut Issues) {
    if let Some(namespace) = service.dynamo_namespace.as_deref().filter(|namespace| !namespace.is_empty()) {
        let (path, computed) = (at / "dynamoNamespace", context.dynamo_namespace(service));
        let text = format!("{path} {namespace:?} is ignored: the Dynamo namespace is {computed}");
        issues.add(DYNAMO_NAMESPACE.warning(path, text).as_written());
    }
    if service.autoscaling.is_some() {
        let path = at / "autoscaling";
        let text = format!("{path} is ignored: enable scalingAdapter and let an autoscaler scale the adapter");
        issues.add(AUTOSCALING.warning(path, text).as_written());
    }
}
