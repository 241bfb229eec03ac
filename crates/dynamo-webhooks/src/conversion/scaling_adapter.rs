//! Scaling adapters: one field has another name in each version.

use dynamo_api::{v1alpha1, v1beta1};
use gateward_core::{FieldPath, Provenance, Resource};

/// Converts a v1alpha1 adapter to v1beta1.
pub(super) fn to_hub(
    spoke: &v1alpha1::DynamoGraphDeploymentScalingAdapter,
    provenance: &mut Provenance,
) -> v1beta1::DynamoGraphDeploymentScalingAdapter {
    let reference = || FieldPath::field("spec") / "dgdRef";
    provenance.moved(|| (reference() / "componentName", reference() / "serviceName"));
    v1beta1::DynamoGraphDeploymentScalingAdapter {
        api_version: v1beta1::DynamoGraphDeploymentScalingAdapter::gvk().api_version(),
        kind: spoke.kind.clone(),
        metadata: spoke.metadata.clone(),
        spec: v1beta1::DynamoGraphDeploymentScalingAdapterSpec {
            replicas: spoke.spec.replicas,
            dgd_ref: v1beta1::ComponentReference {
                name: spoke.spec.dgd_ref.name.clone(),
                component_name: spoke.spec.dgd_ref.service_name.clone(),
            },
        },
        status: spoke.status.as_ref().map(|status| v1beta1::DynamoGraphDeploymentScalingAdapterStatus {
            // v1alpha1 omits a zero, v1beta1 requires it.
            replicas: Some(status.replicas.unwrap_or_default()),
            selector: status.selector.clone(),
            last_scale_time: status.last_scale_time.clone(),
        }),
    }
}

/// Converts a v1beta1 adapter to v1alpha1.
pub(super) fn from_hub(
    adapter: &v1beta1::DynamoGraphDeploymentScalingAdapter,
) -> v1alpha1::DynamoGraphDeploymentScalingAdapter {
    v1alpha1::DynamoGraphDeploymentScalingAdapter {
        api_version: v1alpha1::DynamoGraphDeploymentScalingAdapter::gvk().api_version(),
        kind: adapter.kind.clone(),
        metadata: adapter.metadata.clone(),
        spec: v1alpha1::DynamoGraphDeploymentScalingAdapterSpec {
            replicas: adapter.spec.replicas,
            dgd_ref: v1alpha1::ServiceReference {
                name: adapter.spec.dgd_ref.name.clone(),
                service_name: adapter.spec.dgd_ref.component_name.clone(),
            },
        },
        status: adapter.status.as_ref().map(|status| v1alpha1::DynamoGraphDeploymentScalingAdapterStatus {
            replicas: status.replicas,
            selector: status.selector.clone(),
            last_scale_time: status.last_scale_time.clone(),
        }),
    }
}
