//! Requests, in both directions.
//!
//! What the other version can't say goes to the operator's own annotations. Both directions then look at what would
//! come back, and keep in an annotation of ours what would not. A partial object without a spec gets none, so that who
//! applies it doesn't come to own fields of one.

mod annotations;
mod free_form;
mod losses;
mod origins;
mod profiling_config;
mod profiling_job;
mod spec;
mod status;
#[cfg(test)]
mod tests;

use dynamo_api::{v1alpha1, v1beta1};
use gateward_core::{ConversionError, Convert, Issues, Provenance, Resource};

use annotations::Kept;
use losses::{between, make_good};

type SpokeObject = v1alpha1::DynamoGraphDeploymentRequest;
type SpokeSpec = v1alpha1::DynamoGraphDeploymentRequestSpec;
type SpokeStatus = v1alpha1::DynamoGraphDeploymentRequestStatus;
type HubObject = v1beta1::DynamoGraphDeploymentRequest;
type HubSpec = v1beta1::DynamoGraphDeploymentRequestSpec;
type HubStatus = v1beta1::DynamoGraphDeploymentRequestStatus;

const SPOKE: &str = SpokeObject::VERSION;
const HUB: &str = HubObject::VERSION;

/// Reads a DynamoGraphDeploymentRequest of one version as the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestConversion;

impl Convert<SpokeObject, HubObject> for RequestConversion {
    fn lift(
        &self,
        spoke: &SpokeObject,
        provenance: &mut Provenance,
        issues: &mut Issues,
    ) -> Result<HubObject, ConversionError> {
        let mut metadata = spoke.metadata.clone();
        let kept: Kept<HubSpec, HubStatus> = Kept::take(&mut metadata.annotations, HUB, issues);
        let mut left = Kept::<SpokeSpec, SpokeStatus>::default();
        let spec = lift_spec(&spoke.spec, &kept, &mut left);
        let status = spoke.status.as_ref().map(|status| lift_status(status, &kept, &mut left));
        left.put(&mut metadata.annotations, SPOKE, issues);
        let api_version = HubObject::gvk().api_version();
        let hub = HubObject { api_version, kind: spoke.kind.clone(), metadata, spec, status };
        origins::record(spoke, &hub, provenance);
        Ok(hub)
    }

    fn lower(&self, hub: &HubObject, issues: &mut Issues) -> Result<SpokeObject, ConversionError> {
        let mut metadata = hub.metadata.clone();
        let kept: Kept<SpokeSpec, SpokeStatus> = Kept::take(&mut metadata.annotations, SPOKE, issues);
        let mut left = Kept::<HubSpec, HubStatus>::default();
        let spec = lower_spec(&hub.spec, &kept, &mut left);
        let status = hub.status.as_ref().map(|status| lower_status(status, &kept, &mut left));
        left.put(&mut metadata.annotations, HUB, issues);
        let api_version = SpokeObject::gvk().api_version();
        Ok(SpokeObject { api_version, kind: hub.kind.clone(), metadata, spec, status })
    }

    fn annotations(&self) -> &'static [&'static str] {
        &annotations::KEYS
    }
}

fn lift_spec(spoke: &SpokeSpec, kept: &Kept<HubSpec, HubStatus>, left: &mut Kept<SpokeSpec, SpokeStatus>) -> HubSpec {
    let rest = spec::remainder_of_spoke(spoke);
    let back = |hub: &HubSpec| spec::lower(hub, &rest);
    let hub = make_good(spec::lift(spoke, &kept.spec), &kept.losses.spec, back);
    left.losses.spec = between(&spec::with_image(back(&hub)), &spec::with_image(spoke.clone()));
    left.spec = rest;
    hub
}

fn lower_spec(hub: &HubSpec, kept: &Kept<SpokeSpec, SpokeStatus>, left: &mut Kept<HubSpec, HubStatus>) -> SpokeSpec {
    let rest = spec::remainder_of_hub(hub);
    let back = |spoke: &SpokeSpec| spec::lift(spoke, &rest);
    // Without a spec it isn't said, though it is the same.
    let seen = |spoke: &SpokeSpec| HubSpec { auto_apply: Some(spoke.auto_apply), ..back(spoke) };
    let spoke = make_good(spec::lower(hub, &kept.spec), &kept.losses.spec, seen);
    left.losses.spec = between(&back(&spoke), hub);
    left.spec = rest;
    spec::with_image(spoke)
}

fn lift_status(
    spoke: &SpokeStatus,
    kept: &Kept<HubSpec, HubStatus>,
    left: &mut Kept<SpokeSpec, SpokeStatus>,
) -> HubStatus {
    left.status = status::remainder_of_spoke(spoke);
    status::lift(spoke, &kept.status)
}

fn lower_status(
    hub: &HubStatus,
    kept: &Kept<SpokeSpec, SpokeStatus>,
    left: &mut Kept<HubSpec, HubStatus>,
) -> SpokeStatus {
    let spoke = status::lower(hub, &kept.status);
    left.status = status::remainder_of_hub(hub, &spoke);
    spoke
}
