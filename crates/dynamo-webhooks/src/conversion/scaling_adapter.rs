//! Scaling adapters: one field has another name in each version.

use dynamo_api::{v1alpha1, v1beta1};
use gateward::{FieldPath, Provenance, Resource};
use v1alpha1::{DynamoGraphDeploymentScalingAdapter as SpokeAdapter, ServiceReference};
use v1beta1::{ComponentReference, DynamoGraphDeploymentScalingAdapter as HubAdapter};

use super::copy_fields::copy_fields;

/// Converts a v1alpha1 adapter to v1beta1.
pub(super) fn to_hub(spoke: &SpokeAdapter, provenance: &mut Provenance) -> HubAdapter {
    let at = || FieldPath::field("spec") / "dgdRef";
    provenance.moved(|| (at() / "componentName", at() / "serviceName"));
    let reference = &spoke.spec.dgd_ref;
    let dgd_ref = ComponentReference { name: reference.name.clone(), component_name: reference.service_name.clone() };
    let status = |status: &v1alpha1::DynamoGraphDeploymentScalingAdapterStatus| {
        copy_fields!(status => v1beta1::DynamoGraphDeploymentScalingAdapterStatus {
            selector, last_scale_time;
            // v1alpha1 omits a zero, v1beta1 requires it.
            replicas: Some(status.replicas.unwrap_or_default()),
        })
    };
    copy_fields!(spoke => HubAdapter {
        kind, metadata;
        api_version: HubAdapter::gvk().api_version(),
        spec: v1beta1::DynamoGraphDeploymentScalingAdapterSpec { replicas: spoke.spec.replicas, dgd_ref },
        status: spoke.status.as_ref().map(status),
    })
}

/// Converts a v1beta1 adapter to v1alpha1.
pub(super) fn from_hub(hub: &HubAdapter) -> SpokeAdapter {
    let reference = &hub.spec.dgd_ref;
    let dgd_ref = ServiceReference { name: reference.name.clone(), service_name: reference.component_name.clone() };
    let status = |status: &v1beta1::DynamoGraphDeploymentScalingAdapterStatus| {
        copy_fields!(status => v1alpha1::DynamoGraphDeploymentScalingAdapterStatus {
            replicas, selector, last_scale_time
        })
    };
    copy_fields!(hub => SpokeAdapter {
        kind, metadata;
        api_version: SpokeAdapter::gvk().api_version(),
        spec: v1alpha1::DynamoGraphDeploymentScalingAdapterSpec { replicas: hub.spec.replicas, dgd_ref },
        status: hub.status.as_ref().map(status),
    })
}
