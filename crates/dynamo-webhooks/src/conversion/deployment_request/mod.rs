//! Conversion of DynamoGraphDeploymentRequest.
//!
//! The fields that the other version lacks are preserved in the Go operator's annotations. A partial object without a spec
//! gets none, so that server-side apply doesn't make its manager own fields of an annotation.

mod annotations;
mod free_form;
mod generated_deployment;
mod profiling_config;
mod profiling_job;
mod provenance;
mod spec;
mod status;
#[cfg(test)]
mod tests;
mod versions;

use dynamo_api::Raw;
use dynamo_api::pod::JobSpec;
use gateward::conversion::equivalence::same;
use gateward::{Convert, Issues, Provenance, Resource, RoundTrip};

use super::preserved::REQUEST_KEYS;
use super::versions::Result;
use annotations::PreservedFields;
use versions::{HubObject, HubSpec, HubStatus, SpokeObject, SpokeSpec, SpokeStatus};

/// Converts DynamoGraphDeploymentRequest between the versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeploymentRequestConversion;

impl Convert<SpokeObject, HubObject> for DeploymentRequestConversion {
    fn to_hub(&self, spoke: &SpokeObject, provenance: &mut Provenance, issues: &mut Issues) -> Result<HubObject> {
        let mut metadata = spoke.metadata.clone();
        let preserved = PreservedFields::<HubSpec, HubStatus>::take(&mut metadata.annotations, issues);
        let hub = HubObject {
            api_version: HubObject::gvk().api_version(),
            kind: spoke.kind.clone(),
            metadata,
            spec: spec::to_hub(&spoke.spec, &preserved.spec),
            status: spoke.status.as_ref().map(|own| status::to_hub(own, &preserved.status)),
        };
        provenance::record(spoke, &hub, provenance);
        Ok(hub)
    }

    fn from_hub(&self, hub: &HubObject, issues: &mut Issues) -> Result<SpokeObject> {
        Ok(read_hub(hub, issues).0)
    }

    fn to_hub_with_round_trip(&self, spoke: &SpokeObject, issues: &mut Issues) -> Result<(HubObject, RoundTrip)> {
        let mut hub = self.to_hub(spoke, &mut Provenance::silent(), issues)?;
        let rest = spec::spoke_only(&spoke.spec);
        let comes_back = spec::with_image(spec::from_hub(&hub.spec, &rest).0) == spec::with_image(spoke.spec.clone());
        let rest_of_status = spoke.status.as_ref().map(status::spoke_only).unwrap_or_default();
        PreservedFields { spec: rest, status: rest_of_status }.put(&mut hub.metadata.annotations);
        Ok((hub, if comes_back { RoundTrip::Lossless } else { RoundTrip::Untried }))
    }

    fn from_hub_with_round_trip(&self, hub: &HubObject, issues: &mut Issues) -> Result<(SpokeObject, RoundTrip)> {
        let (mut spoke, job) = read_hub(hub, issues);
        let rest = spec::hub_only(&hub.spec, job);
        let comes_back = is_same(spec::to_hub(&spoke.spec, &rest), &hub.spec);
        let statuses = hub.status.as_ref().zip(spoke.status.as_ref());
        let rest_of_status = statuses.map(|(own, spoke)| status::hub_only(own, spoke)).unwrap_or_default();
        PreservedFields { spec: rest, status: rest_of_status }.put(&mut spoke.metadata.annotations);
        Ok((spoke, if comes_back { RoundTrip::Lossless } else { RoundTrip::Untried }))
    }

    fn annotations(&self) -> &'static [&'static str] {
        &REQUEST_KEYS
    }
}

/// The v1alpha1 object without the annotations that preserve fields, and the rest of its profiling job.
fn read_hub(hub: &HubObject, issues: &mut Issues) -> (SpokeObject, Option<spec::JobRest>) {
    let mut metadata = hub.metadata.clone();
    let preserved = PreservedFields::<SpokeSpec, SpokeStatus>::take(&mut metadata.annotations, issues);
    let (spec, job) = spec::from_hub(&hub.spec, &preserved.spec);
    let spoke = SpokeObject {
        api_version: SpokeObject::gvk().api_version(),
        kind: hub.kind.clone(),
        metadata,
        spec: spec::with_image(spec),
        status: hub.status.as_ref().map(|own| status::from_hub(own, &preserved.status, issues)),
    };
    (spoke, job)
}

/// Whether the spec survives. An empty block of a profiling job equals none: the Go operator drops it.
fn is_same(mut back: HubSpec, hub: &HubSpec) -> bool {
    if let (Some(back), Some(hub)) = (&mut back.overrides, &hub.overrides) {
        if !is_same_job(back.profiling_job.as_ref(), hub.profiling_job.as_ref()) {
            return false;
        }
        back.profiling_job.clone_from(&hub.profiling_job);
    }
    back == *hub
}

/// Most jobs come back letter by letter, which costs no tree.
fn is_same_job(back: Option<&Raw<JobSpec>>, hub: Option<&Raw<JobSpec>>) -> bool {
    if back.map(Raw::json) == hub.map(Raw::json) {
        return true;
    }
    let [back, hub] = [back, hub].map(|job| job.map(Raw::tree).unwrap_or_default());
    same(&back, &hub)
}
