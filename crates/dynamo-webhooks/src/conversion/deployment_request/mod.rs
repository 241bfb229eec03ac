//! Conversion of DynamoGraphDeploymentRequest.
//!
//! The fields that the other version lacks are preserved in the Go operator's annotations. A partial object without a spec
//! gets none, so that server-side apply doesn't make its manager own fields of an annotation.

mod annotations;
mod free_form;
mod profiling_config;
mod profiling_job;
mod provenance;
mod spec;
mod status;
#[cfg(test)]
mod tests;

use dynamo_api::{Raw, v1alpha1, v1beta1};
use gateward_core::conversion::equivalence::same;
use gateward_core::{Convert, Issues, Provenance, Resource, RoundTrip};
use serde_json::Value;

use super::Result;
use annotations::PreservedFields;

type SpokeObject = v1alpha1::DynamoGraphDeploymentRequest;
type SpokeSpec = v1alpha1::DynamoGraphDeploymentRequestSpec;
type SpokeStatus = v1alpha1::DynamoGraphDeploymentRequestStatus;
type HubObject = v1beta1::DynamoGraphDeploymentRequest;
type HubSpec = v1beta1::DynamoGraphDeploymentRequestSpec;
type HubStatus = v1beta1::DynamoGraphDeploymentRequestStatus;

/// Converts DynamoGraphDeploymentRequest between the versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeploymentRequestConversion;

impl Convert<SpokeObject, HubObject> for DeploymentRequestConversion {
    fn to_hub(&self, spoke: &SpokeObject, provenance: &mut Provenance, issues: &mut Issues) -> Result<HubObject> {
        let (hub, _) = self.to_hub_with_round_trip(spoke, issues)?;
        provenance::record(spoke, &hub, provenance);
        Ok(hub)
    }

    fn from_hub(&self, hub: &HubObject, issues: &mut Issues) -> Result<SpokeObject> {
        Ok(self.from_hub_with_round_trip(hub, issues)?.0)
    }

    fn to_hub_with_round_trip(&self, spoke: &SpokeObject, issues: &mut Issues) -> Result<(HubObject, RoundTrip)> {
        let mut metadata = spoke.metadata.clone();
        let preserved = PreservedFields::<HubSpec, HubStatus>::take(&mut metadata.annotations, issues);
        let (spec, rest) = (spec::to_hub(&spoke.spec, &preserved.spec), spec::spoke_only(&spoke.spec));
        let comes_back = spec::with_image(spec::from_hub(&spec, &rest)) == spec::with_image(spoke.spec.clone());
        let status = spoke.status.as_ref().map(|own| status::to_hub(own, &preserved.status));
        let rest_of_status = spoke.status.as_ref().map(status::spoke_only).unwrap_or_default();
        PreservedFields { spec: rest, status: rest_of_status }.put(&mut metadata.annotations);
        let api_version = HubObject::gvk().api_version();
        let hub = HubObject { api_version, kind: spoke.kind.clone(), metadata, spec, status };
        Ok((hub, if comes_back { RoundTrip::Lossless } else { RoundTrip::Untried }))
    }

    fn from_hub_with_round_trip(&self, hub: &HubObject, issues: &mut Issues) -> Result<(SpokeObject, RoundTrip)> {
        let mut metadata = hub.metadata.clone();
        let preserved = PreservedFields::<SpokeSpec, SpokeStatus>::take(&mut metadata.annotations, issues);
        let (spec, rest) = (spec::from_hub(&hub.spec, &preserved.spec), spec::hub_only(&hub.spec));
        let spec = spec::with_image(spec);
        let comes_back = is_same(spec::to_hub(&spec, &rest), &hub.spec);
        let status = hub.status.as_ref().map(|own| status::from_hub(own, &preserved.status));
        let rest_of_status = hub.status.as_ref().zip(status.as_ref()).map(|(own, spoke)| status::hub_only(own, spoke));
        PreservedFields { spec: rest, status: rest_of_status.unwrap_or_default() }.put(&mut metadata.annotations);
        let api_version = SpokeObject::gvk().api_version();
        let spoke = SpokeObject { api_version, kind: hub.kind.clone(), metadata, spec, status };
        Ok((spoke, if comes_back { RoundTrip::Lossless } else { RoundTrip::Untried }))
    }

    fn annotations(&self) -> &'static [&'static str] {
        &annotations::KEYS
    }
}

/// Whether the spec survives. An empty block of a profiling job equals none: the Go operator drops it.
fn is_same(mut back: HubSpec, hub: &HubSpec) -> bool {
    fn job(spec: &HubSpec) -> Option<Value> {
        spec.overrides.as_ref()?.profiling_job.as_ref().map(Raw::to_value)
    }
    if same(&job(&back).unwrap_or_default(), &job(hub).unwrap_or_default())
        && let (Some(back), Some(hub)) = (&mut back.overrides, &hub.overrides)
    {
        back.profiling_job.clone_from(&hub.profiling_job);
    }
    back == *hub
}
