//! DynamoComponentDeployment: the shared fields, with a name that may be that of the object.

use dynamo_api::meta::ObjectMeta;
use dynamo_api::{v1alpha1, v1beta1};
use gateward::{FieldPath, Issues, Provenance, Resource, RoundTrip};
use serde_json::Value;

use super::component::{self, Lowered, Service};
use super::path_mapper::{ComponentLocation, PathMapper};
use super::pod_template::OriginalVersion;
use super::preserved::{COMPONENT_ANNOTATIONS, Envelope, PreservedSpec};
use super::versions::{HubComponent, SpokeComponent};
use super::{mounts, status};

type HubSpec = v1beta1::DynamoComponentDeploymentSpec;
type SpokeSpec = v1alpha1::DynamoComponentDeploymentSpec;

/// The path that is recorded as nil if v1alpha1 gives no name.
const UNNAMED: &str = "serviceName";

/// Converts a v1alpha1 component to v1beta1.
pub(super) fn to_hub(spoke: &SpokeComponent, issues: &mut Issues) -> (HubComponent, RoundTrip) {
    let provenance = &mut Provenance::silent();
    let (mut metadata, preserved) = COMPONENT_ANNOTATIONS.taken_from(&spoke.metadata, issues);
    let service = service(spoke, preserved.as_ref(), provenance);
    let (fields, round_trip) = service.spoke_only_fields();
    let fell_back = spoke.spec.component.service_name.is_empty() && !service.name.is_empty();
    let spec = spec_to_hub(spoke, &service, provenance);
    let pod_was_made = preserved.is_none() && spec.component.pod_template.is_some();
    if pod_was_made || fell_back || !fields.is_empty() {
        let envelope = Envelope::of(fields);
        let envelope = if fell_back { envelope.with_nil(UNNAMED) } else { envelope };
        envelope.put(COMPONENT_ANNOTATIONS.spec, &mut metadata.annotations);
    }
    if let Some(status) = &spoke.status {
        COMPONENT_ANNOTATIONS.status.put(&mut metadata.annotations, &status::spoke_only_component(status));
    }
    (component(spoke, metadata, spec, provenance), round_trip)
}

/// The v1beta1 component without the annotations that preserve fields.
pub(super) fn read(spoke: &SpokeComponent, provenance: &mut Provenance, issues: &mut Issues) -> HubComponent {
    let (metadata, preserved) = COMPONENT_ANNOTATIONS.taken_from(&spoke.metadata, issues);
    let service = service(spoke, preserved.as_ref(), provenance);
    let spec = spec_to_hub(spoke, &service, provenance);
    component(spoke, metadata, spec, provenance)
}

fn component(spoke: &SpokeComponent, metadata: ObjectMeta, spec: HubSpec, provenance: &mut Provenance) -> HubComponent {
    let component = HubComponent {
        api_version: HubComponent::gvk().api_version(),
        kind: spoke.kind.clone(),
        metadata,
        spec,
        status: spoke.status.as_ref().map(status::component_to_hub),
    };
    status::record_component(provenance);
    component
}

/// The component by its name in v1beta1: `serviceName`, or the object's if that is empty.
fn service<'a>(
    spoke: &'a SpokeComponent,
    preserved: Option<&'a PreservedSpec<HubSpec>>,
    provenance: &Provenance,
) -> Service<'a> {
    let own = spoke.spec.component.service_name.as_str();
    let name = if own.is_empty() { fallback(spoke, preserved) } else { own };
    let hub = preserved.map(|preserved| &preserved.sparse);
    Service::new(name, &spoke.spec.component, hub, OriginalVersion::of(preserved), provenance)
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
    let mut preserved = PreservedSpec::<SpokeSpec>::take(COMPONENT_ANNOTATIONS.spec, annotations, issues);
    if let Some(preserved) = &mut preserved {
        mounts::forget_flat(&mut preserved.sparse);
    }
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

fn spec_to_hub(spoke: &SpokeComponent, service: &Service<'_>, provenance: &mut Provenance) -> HubSpec {
    let has_own_name = !spoke.spec.component.service_name.is_empty();
    let own = || FieldPath::field("spec") / UNNAMED;
    let of_object = || FieldPath::field("metadata") / "name";
    provenance.made(|| (FieldPath::field("spec") / "name", if has_own_name { own() } else { of_object() }));
    let mut mapper = PathMapper::new(ComponentLocation::Standalone, provenance);
    HubSpec { backend_framework: spoke.spec.backend_framework.clone(), component: service.to_hub(&mut mapper) }
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
