//! Components on their own: the shared fields, with a name that may be the object's.

use std::collections::BTreeMap;

use dynamo_api::{v1alpha1, v1beta1};
use gateward_core::{FieldPath, Issues, Provenance, Resource, RoundTrip};
use serde_json::Value;

use super::envelope::{Envelope, OF_COMPONENT, Remainder};
use super::pod_template::Birth;
use super::trail::{Place, Trail};
use super::{component, status};

type HubSpec = v1beta1::DynamoComponentDeploymentSpec;
type SpokeSpec = v1alpha1::DynamoComponentDeploymentSpec;

/// The path that is recorded where v1alpha1 gave no name.
const UNNAMED: &str = "serviceName";

/// Reads a component of v1alpha1 as v1beta1. Its name is `serviceName`, or the object's own where that is empty.
pub(super) fn lift(
    written: &v1alpha1::DynamoComponentDeployment,
    provenance: &mut Provenance,
    issues: &mut Issues,
) -> (v1beta1::DynamoComponentDeployment, RoundTrip) {
    let (mut component, birth) = read(written, provenance, issues);
    let round_trip = keep_of_spoke(written, &component.spec, birth, &mut component.metadata.annotations);
    (component, round_trip)
}

fn read(
    written: &v1alpha1::DynamoComponentDeployment,
    provenance: &mut Provenance,
    issues: &mut Issues,
) -> (v1beta1::DynamoComponentDeployment, Birth) {
    let mut metadata = written.metadata.clone();
    let annotations = &mut metadata.annotations;
    let hub = Envelope::<HubSpec>::take(OF_COMPONENT.spec, annotations, issues);
    annotations.remove(OF_COMPONENT.status.annotation());
    let spec = lift_spec(written, hub.as_ref(), provenance);
    status::record_component(provenance);
    let component = v1beta1::DynamoComponentDeployment {
        api_version: v1beta1::DynamoComponentDeployment::gvk().api_version(),
        kind: written.kind.clone(),
        metadata,
        spec,
        status: written.status.as_ref().map(status::lift_component),
    };
    let birth = if hub.is_some() { Birth::HubBorn } else { Birth::SpokeBorn };
    (component, birth)
}

/// Reads a component of v1beta1 as v1alpha1.
pub(super) fn lower(
    written: &v1beta1::DynamoComponentDeployment,
    issues: &mut Issues,
) -> (v1alpha1::DynamoComponentDeployment, RoundTrip) {
    let mut metadata = written.metadata.clone();
    let annotations = &mut metadata.annotations;
    let birth = if OF_COMPONENT.are_carried(annotations) { Birth::SpokeBorn } else { Birth::HubBorn };
    let kept = Envelope::<SpokeSpec>::take(OF_COMPONENT.spec, annotations, issues);
    let kept_status = OF_COMPONENT.status.take(annotations, issues);
    let spec = lower_spec(written, kept.as_ref());
    let round_trip = keep_of_hub(written, &spec, birth, annotations);
    let component = v1alpha1::DynamoComponentDeployment {
        api_version: v1alpha1::DynamoComponentDeployment::gvk().api_version(),
        kind: written.kind.clone(),
        metadata,
        spec,
        status: status::lower_component(written.status.as_ref(), kept_status.unwrap_or_default()),
    };
    (component, round_trip)
}

fn lift_spec(
    written: &v1alpha1::DynamoComponentDeployment,
    hub: Option<&Envelope<HubSpec>>,
    provenance: &mut Provenance,
) -> HubSpec {
    let service = &written.spec.component;
    let (name, origin) = if service.service_name.is_empty() {
        (fallback(written, hub), FieldPath::field("metadata") / "name")
    } else {
        (service.service_name.as_str(), FieldPath::field("spec") / UNNAMED)
    };
    provenance.made(|| (FieldPath::field("spec") / "name", origin));
    let mut trail = Trail::new(Place::Standalone, provenance);
    HubSpec {
        backend_framework: written.spec.backend_framework.clone(),
        component: component::lift(name, service, hub.map(|hub| &hub.sparse), &mut trail),
    }
}

/// The object's own name, unless it is remembered that v1beta1 gave none.
fn fallback<'a>(written: &'a v1alpha1::DynamoComponentDeployment, hub: Option<&Envelope<HubSpec>>) -> &'a str {
    let was_unnamed = hub.and_then(|hub| hub.sparse.get("name")) == Some(&Value::from(""));
    if was_unnamed { "" } else { &written.metadata.name }
}

/// Writes what v1beta1 can't say. Whether the rest comes back.
fn keep_of_spoke(
    written: &v1alpha1::DynamoComponentDeployment,
    lifted: &HubSpec,
    birth: Birth,
    annotations: &mut BTreeMap<String, String>,
) -> RoundTrip {
    let service = &written.spec.component;
    let fell_back = service.service_name.is_empty() && !lifted.component.name.is_empty();
    let (spec, round_trip) = component::spoke_remainder(service, &lifted.component.name, birth);
    let nil = if fell_back { vec![UNNAMED] } else { Vec::new() };
    let remainder = Remainder { spec, nil };
    let pod_was_made = birth == Birth::SpokeBorn && lifted.component.pod_template.is_some();
    if pod_was_made || !remainder.is_empty() {
        remainder.put(OF_COMPONENT.spec, annotations);
    }
    if let Some(status) = &written.status {
        OF_COMPONENT.status.put(annotations, &status::component_remainder(status));
    }
    round_trip
}

fn lower_spec(written: &v1beta1::DynamoComponentDeployment, kept: Option<&Envelope<SpokeSpec>>) -> SpokeSpec {
    let component = &written.spec.component;
    let mut service = component::lower(component, kept.map(|kept| &kept.sparse));
    let was_unnamed = kept.is_some_and(|kept| kept.is_nil(UNNAMED)) && component.name == written.metadata.name;
    service.service_name = if was_unnamed { String::new() } else { component.name.clone() };
    SpokeSpec { backend_framework: written.spec.backend_framework.clone(), component: service }
}

/// Writes what v1alpha1 can't say, always with the name. A pod in an object that was never converted was written so by a
/// user of v1beta1, which is worth a record. Whether the rest comes back.
fn keep_of_hub(
    written: &v1beta1::DynamoComponentDeployment,
    lowered: &SpokeSpec,
    birth: Birth,
    annotations: &mut BTreeMap<String, String>,
) -> RoundTrip {
    let component = &written.spec.component;
    let (mut unsaid, round_trip) = component::hub_remainder(component, &lowered.component);
    let is_unnamed = component.name.is_empty() && !written.metadata.name.is_empty();
    let is_marked = birth == Birth::HubBorn && component.pod_template.is_some();
    if is_unnamed || is_marked || !unsaid.is_empty() {
        unsaid.insert("name".into(), component.name.as_str().into());
        Remainder { spec: unsaid, nil: Vec::new() }.put(OF_COMPONENT.spec, annotations);
    }
    round_trip
}
