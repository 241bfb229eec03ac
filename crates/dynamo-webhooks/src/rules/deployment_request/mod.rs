//! Admission of DynamoGraphDeploymentRequest.
//!
//! v1beta1 objects are validated by DGDR-B1 to DGDR-B10 and defaulted by DGDR-D2. v1alpha1 objects are validated as they
//! were sent: by DGDR-A1 to DGDR-A8, and by those of the others whose fields exist there.

mod applies_to;
mod defaults;
mod deprecated_names;
mod embedded;
mod freeze;
mod kept_status;
mod profiling_config;
mod release;
mod spec_change;
mod stash;
#[cfg(test)]
mod testing;
mod v1alpha1;
mod v1beta1;

use dynamo_api::crds;
use dynamo_api::v1beta1::DynamoGraphDeploymentRequest;
use gateward::{DeletingObjects, Endpoint, Rule, Webhook};

use crate::conversion::DeploymentRequestConversion;
use crate::conversion::schemas::CrdSchemas;

pub(crate) const RULES: &[&Rule] = &[
    &v1alpha1::GPU_DISCOVERY_FIELD,
    &v1alpha1::PROFILER_IMAGE,
    &profiling_config::GIVEN,
    &profiling_config::MAP,
    &profiling_config::SAME_BACKEND,
    &profiling_config::SAME_MODEL,
    &profiling_config::GPU_RANGE,
    &profiling_config::GPUS_KNOWN,
    &v1beta1::GPUS_KNOWN,
    &v1beta1::BACKEND_CHOSEN,
    &freeze::WHILE_IN_USE,
    &release::ON_CREATE,
    &release::ON_UPDATE,
    &freeze::WHILE_READY,
    &deprecated_names::CURRENT_NAMES,
    &v1beta1::CURRENT_GPU_NAME,
];

/// The declaration of DynamoGraphDeploymentRequest.
pub(crate) fn kind() -> Webhook<DynamoGraphDeploymentRequest> {
    let validating = Endpoint::new()
        .name("vdynamographdeploymentrequest.kb.io")
        .path("/validate-nvidia-com-v1beta1-dynamographdeploymentrequest")
        .alias("/validate-nvidia-com-v1alpha1-dynamographdeploymentrequest");
    let mutating = Endpoint::new()
        .name("mdynamographdeploymentrequestv1beta1.kb.io")
        .path("/mutate-nvidia-com-v1beta1-dynamographdeploymentrequest");
    Webhook::new()
        .spoke::<dynamo_api::v1alpha1::DynamoGraphDeploymentRequest>(DeploymentRequestConversion)
        .schemas(CrdSchemas::DeploymentRequest)
        .defaulter(defaults::apply)
        .defaulter(kept_status::KeptStatus)
        .defaulter_for::<dynamo_api::v1alpha1::DynamoGraphDeploymentRequest, _>(kept_status::KeptStatus)
        .validator(v1beta1::V1beta1Validator)
        .validator_for(v1alpha1::V1alpha1Validator)
        .validating_at(validating)
        .mutating_at(mutating)
        .crd(crds::GRAPH_DEPLOYMENT_REQUEST.json)
        .deleting_objects(DeletingObjects::Skip)
        .rules(RULES.iter().copied())
}
