//! DynamoGraphDeploymentScalingAdapter: converted, and admitted by its schema alone.

use dynamo_api::{crds, v1alpha1, v1beta1};
use gateward::Webhook;

use crate::conversion::ScalingAdapterConversion;
use crate::conversion::schemas::CrdSchemas;

/// The kind with its versions.
pub(crate) fn kind() -> Webhook<v1beta1::DynamoGraphDeploymentScalingAdapter> {
    Webhook::new()
        .spoke::<v1alpha1::DynamoGraphDeploymentScalingAdapter>(ScalingAdapterConversion)
        .schemas(CrdSchemas::ScalingAdapter)
        .crd(crds::GRAPH_DEPLOYMENT_SCALING_ADAPTER.json)
}
