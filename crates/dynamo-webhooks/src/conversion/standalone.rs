//! DynamoComponentDeployment: the shared fields, with a name that may be that of the object.

use dynamo_api::{v1alpha1, v1beta1};
use gateward::{FieldPath, Issues, Provenance, Resource, RoundTrip};
use serde_json::Value;

use super::component::{self, Lowered};
use super::path_mapper::{ComponentLocation, PathMapper};
use super::pod_template::OriginalVersion;
use super::preserved::{COMPONENT_ANNOTATIONS, Envelope, PreservedSpec};
use super::{HubComponent, SpokeComponent, status};

type HubSpec = v1beta1::DynamoComponentDeploymentSpec;
type SpokeSpec = v1alpha1::DynamoComponentDeploymentSpec;

/// The path that is recorded as nil if v1alpha1 gives no name.
const UNNAMED: &str = "serviceName";

/// Converts a v1alpha1 component to v1beta1.
pub(super) fn to_hub(spoke: &SpokeComponent, issues: &mut Issues) -> (HubComponent, RoundTrip) {
    let (mut hub, original_version) = read(spoke, &mut Provenance::silent(), issues);
    let annotations = &mut hub.metadata.annotations;
    let (service, lifted) = (&spoke.spec.component, &hub.spec.component);
    let (fields, round_trip) = component::spoke_only_fields(service, &lifted.name, original_version);
    let fell_back = service.service_name.is_empty() && !lifted.name.is_empty();
    let pod_was_made = original_version == OriginalVersion::Spoke && lifted.pod_template.is_some();
    if pod_was_made || fell_back || !fields.is_empty() {
        let envelope = Envelope::of(fields);
        let envelope = if fell_back { envelope.with_nil(UNNAMED) } else { envelope };
        envelope.put(COMPONENT_ANNOTATIONS.spec, annotations);
    }
    if let Some(status) = &spoke.status {
        COMPONENT_ANNOTATIONS.status.put(annotations, &status::spoke_only_component(status));
    }
    (hub, round_trip)
}

/// The v1beta1 component without the annotations that preserve fields, and the version of the first write. Its name is
/// `serviceName`, or the object's if that is empty.
pub(super) fn read(
    spoke: &SpokeComponent,
    provenance: &mut Provenance,
    issues: &mut Issues,
) -> (HubComponent, OriginalVersion) {
    let mut metadata = spoke.metadata.clone();
    let annotations = &mut metadata.annotations;
    let preserved = PreservedSpec::<HubSpec>::take(COMPONENT_ANNOTATIONS.spec, annotations, issues);
    annotations.remove(COMPONENT_ANNOTATIONS.status.annotation());
    let component = HubComponent {
        api_version: HubComponent::gvk().api_version(),
        kind: spoke.kind.clone(),
        metadata,
        spec: spec_to_hub(spoke, preserved.as_ref(), provenance),
        status: spoke.status.as_ref().map(status::component_to_hub),
    };
    status::record_component(provenance);
    (component, if preserved.is_some() { OriginalVersion::Hub } else { OriginalVersion::Spoke })
}

/// Converts a v1beta1 component to v1alpha1. The fields that v1alpha1 lacks are preserved, always with the name; the pod
/// template of an object that was never converted is marked, as the Go operator does.
pub(super) fn from_hub(hub: &HubComponent, issues: &mut Issues) -> (SpokeComponent, RoundTrip) {
    let Lowered { object: mut spoke, original_version, templates } = read_hub(hub, issues);
    let component = &hub.spec.component;
    let template = templates.first().copied().unwrap_or(RoundTrip::Untried);
    let (mut fields, round_trip) = component::hub_only_fields(component, &spoke.spec.component, template);
    let is_unnamed = component.name.is_empty() && !hub.metadata.name.is_empty();
    let is_marked = original_version == OriginalVersion::Hub && component.pod_template.is_some();
    if is_unnamed || is_marked || !fields.is_empty() {
        fields.insert("name".into(), component.name.as_str().into());
        Envelope::of(fields).put(COMPONENT_ANNOTATIONS.spec, &mut spoke.metadata.annotations);
    }
    (spoke, round_trip)
}

/// The v1alpha1 component.
pub(super) fn read_hub(hub: &HubComponent, issues: &mut Issues) -> Lowered<SpokeComponent> {
    let mut metadata = hub.metadata.clone();
    let annotations = &mut metadata.annotations;
    let original_version =
        if COMPONENT_ANNOTATIONS.any_present(annotations) { OriginalVersion::Spoke } else { OriginalVersion::Hub };
    let preserved = PreservedSpec::<SpokeSpec>::take(COMPONENT_ANNOTATIONS.spec, annotations, issues);
    let preserved_status = COMPONENT_ANNOTATIONS.status.take(annotations, issues);
    let (spec, template) = spec_from_hub(hub, preserved.as_ref());
    let object = SpokeComponent {
        api_version: SpokeComponent::gvk().api_version(),
        kind: hub.kind.clone(),
        metadata,
        spec,
        status: status::component_from_hub(hub.status.as_ref(), preserved_status.unwrap_or_default()),
    };
    Lowered { object, original_version, templates: vec![template] }
}

fn spec_to_hub(
    spoke: &SpokeComponent,
    preserved: Option<&PreservedSpec<HubSpec>>,
    provenance: &mut Provenance,
) -> HubSpec {
    let service = &spoke.spec.component;
    let (name, origin) = if service.service_name.is_empty() {
        (fallback(spoke, preserved), FieldPath::field("metadata") / "name")
    } else {
        (service.service_name.as_str(), FieldPath::field("spec") / UNNAMED)
    };
    provenance.made(|| (FieldPath::field("spec") / "name", origin));
    let mut mapper = PathMapper::new(ComponentLocation::Standalone, provenance);
    HubSpec {
        backend_framework: spoke.spec.backend_framework.clone(),
        component: component::to_hub(name, service, preserved.map(|preserved| &preserved.sparse), &mut mapper),
    }
}

/// The object's name, unless the v1beta1 name is preserved as empty.
fn fallback<'a>(spoke: &'a SpokeComponent, preserved: Option<&PreservedSpec<HubSpec>>) -> &'a str {
    let was_unnamed = preserved.and_then(|preserved| preserved.sparse.get("name")) == Some(&Value::from(""));
    if was_unnamed { "" } else { &spoke.metadata.name }
}

fn spec_from_hub(hub: &HubComponent, preserved: Option<&PreservedSpec<SpokeSpec>>) -> (SpokeSpec, RoundTrip) {
    let component = &hub.spec.component;
    let kept = preserved.map(|kept| (&kept.spec.component, &kept.sparse));
    let (mut service, template) = component::from_hub(component, kept);
    let was_unnamed =
        preserved.is_some_and(|preserved| preserved.is_nil(UNNAMED)) && component.name == hub.metadata.name;
    service.service_name = if was_unnamed { String::new() } else { component.name.clone() };
    (SpokeSpec { backend_framework: hub.spec.backend_framework.clone(), component: service }, template)
}
