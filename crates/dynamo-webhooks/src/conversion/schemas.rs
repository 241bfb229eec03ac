//! The structural schemas of the CRDs, compiled on first use by conversion.

use std::sync::LazyLock;

use dynamo_api::crds::{self, CrdFile};
use gateward::FieldPath;
use gateward::conversion::{Strictness, StructuralSchemas};
use gateward::schema::{SchemaFault, SchemaFinding, VersionSchema, from_crd};
use serde_json::Value;

type Schemas = LazyLock<Vec<VersionSchema>>;

static GRAPH: Schemas = LazyLock::new(|| compiled(crds::GRAPH_DEPLOYMENT));
static COMPONENT: Schemas = LazyLock::new(|| compiled(crds::COMPONENT_DEPLOYMENT));
static DEPLOYMENT_REQUEST: Schemas = LazyLock::new(|| compiled(crds::GRAPH_DEPLOYMENT_REQUEST));
static SCALING_ADAPTER: Schemas = LazyLock::new(|| compiled(crds::GRAPH_DEPLOYMENT_SCALING_ADAPTER));

/// The schemas in the CRD of a kind.
#[derive(Debug, Clone, Copy)]
pub(crate) enum CrdSchemas {
    /// DynamoGraphDeployment.
    Graph,
    /// DynamoComponentDeployment.
    Component,
    /// DynamoGraphDeploymentRequest.
    DeploymentRequest,
    /// DynamoGraphDeploymentScalingAdapter.
    ScalingAdapter,
}

impl CrdSchemas {
    fn of_version(self, version: &str) -> Option<&'static VersionSchema> {
        let schemas = match self {
            Self::Graph => &GRAPH,
            Self::Component => &COMPONENT,
            Self::DeploymentRequest => &DEPLOYMENT_REQUEST,
            Self::ScalingAdapter => &SCALING_ADAPTER,
        };
        schemas.iter().find(|schema| schema.version == version)
    }
}

impl StructuralSchemas for CrdSchemas {
    /// Without a schema every object violates it.
    fn violations(&self, version: &str, object: &Value, strictness: Strictness) -> Vec<FieldPath> {
        let Some(VersionSchema { schema, .. }) = self.of_version(version) else { return vec![FieldPath::root()] };
        let mut found = schema.validate(object);
        // A null that goes has a finding; few objects have any.
        if !found.is_empty() && has_null(object) {
            let mut object = object.clone();
            schema.drop_nulls(&mut object);
            found = schema.validate(&object);
        }
        let is_whole = strictness == Strictness::Whole;
        let counts = |finding: &SchemaFinding| match finding.fault {
            SchemaFault::UnknownField => false,
            SchemaFault::Required | SchemaFault::Duplicate { .. } => is_whole,
            _ => is_whole || finding.path.top_member() != Some("status"),
        };
        found.into_iter().filter(counts).map(|finding| finding.path).collect()
    }
}

fn has_null(node: &Value) -> bool {
    match node {
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => node.is_null(),
    }
}

fn compiled(crd: CrdFile) -> Vec<VersionSchema> {
    let definition = serde_json::from_str(crd.json).ok();
    definition.and_then(|definition| from_crd(&definition).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_converted_kind_has_a_schema_of_both_versions() {
        let kinds =
            [CrdSchemas::Graph, CrdSchemas::Component, CrdSchemas::DeploymentRequest, CrdSchemas::ScalingAdapter];
        for (kind, version) in kinds.into_iter().flat_map(|kind| ["v1alpha1", "v1beta1"].map(|version| (kind, version)))
        {
            let found = kind.violations(version, &json!({"spec": 5}), Strictness::Values);
            assert!(found.contains(&FieldPath::field("spec")), "{kind:?} {version}");
        }
    }

    #[test]
    fn an_unknown_field_breaks_nothing() {
        let known = json!({"spec": {"components": [{"name": "a", "type": "worker"}]}});
        let unknown = json!({"spec": {"components": [{"name": "a", "type": "worker", "novel": 1}], "novel": 1}});
        let found = |object| CrdSchemas::Graph.violations("v1beta1", object, Strictness::Whole);
        assert_eq!(found(&unknown), found(&known));
    }
}
