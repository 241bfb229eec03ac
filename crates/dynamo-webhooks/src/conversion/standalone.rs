//! Components on their own: the shared fields, with a name that may be the object's.

use std::collections::BTreeMap;

use dynamo_api::{v1alpha1, v1beta1};
use gateward_core::{FieldPath, Issues, Provenance, Resource};
use serde_json::Value;

use super::component::Memory;
use super::envelope::{Envelope, OF_COMPONENT, Remainder};
use super::losses::{HUB, Losses, SPOKE};
use super::pod_template::{Birth, Past};
use super::trail::{Place, Trail};
use super::{component, status};

type HubSpec = v1beta1::DynamoComponentDeploymentSpec;
type SpokeSpec = v1alpha1::DynamoComponentDeploymentSpec;

/// The path that is recorded where v1alpha1 gave no name.
const UNNAMED: &str = "serviceName";

/// What the losses of the one component are kept under.
const ITSELF: &str = "";

/// Reads a component of v1alpha1 as v1beta1. Its name is `serviceName`, or the object's own where that is empty.
pub(super) fn lift(
    written: &v1alpha1::DynamoComponentDeployment,
    provenance: &mut Provenance,
    issues: &mut Issues,
) -> v1beta1::DynamoComponentDeployment {
    let (mut component, past) = read(written, provenance, issues);
    keep_of_spoke(written, &component.spec, past, &mut component.metadata.annotations, issues);
    component
}

fn read(
    written: &v1alpha1::DynamoComponentDeployment,
    provenance: &mut Provenance,
    issues: &mut Issues,
) -> (v1beta1::DynamoComponentDeployment, Past) {
    let mut metadata = written.metadata.clone();
    let annotations = &mut metadata.annotations;
    let hub = Envelope::<HubSpec>::take(OF_COMPONENT.spec, annotations, issues);
    annotations.remove(OF_COMPONENT.status.annotation());
    let lost = Losses::take(annotations, HUB, issues);
    let spec = lift_spec(written, hub.as_ref(), &lost, provenance);
    status::record_component(provenance);
    let component = v1beta1::DynamoComponentDeployment {
        api_version: v1beta1::DynamoComponentDeployment::gvk().api_version(),
        kind: written.kind.clone(),
        metadata,
        spec,
        status: written.status.as_ref().map(status::lift_component),
    };
    let birth = if hub.is_some() { Birth::HubBorn } else { Birth::SpokeBorn };
    (component, Past { birth, making: lost.making() })
}

/// Reads a component of v1beta1 as v1alpha1.
pub(super) fn lower(
    written: &v1beta1::DynamoComponentDeployment,
    issues: &mut Issues,
) -> v1alpha1::DynamoComponentDeployment {
    let mut metadata = written.metadata.clone();
    let annotations = &mut metadata.annotations;
    let birth = if OF_COMPONENT.are_carried(annotations) { Birth::SpokeBorn } else { Birth::HubBorn };
    let kept = Envelope::<SpokeSpec>::take(OF_COMPONENT.spec, annotations, issues);
    let kept_status = OF_COMPONENT.status.take(annotations, issues);
    let lost = Losses::take(annotations, SPOKE, issues);
    let spec = lower_spec(written, kept.as_ref(), &lost);
    keep_of_hub(written, &spec, Past { birth, making: lost.making() }, annotations, issues);
    v1alpha1::DynamoComponentDeployment {
        api_version: v1alpha1::DynamoComponentDeployment::gvk().api_version(),
        kind: written.kind.clone(),
        metadata,
        spec,
        status: status::lower_component(written.status.as_ref(), kept_status.unwrap_or_default()),
    }
}

fn lift_spec(
    written: &v1alpha1::DynamoComponentDeployment,
    hub: Option<&Envelope<HubSpec>>,
    lost: &Losses,
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
    let memory = Memory { kept: hub.map(|hub| &hub.sparse), lost: lost.of(ITSELF) };
    HubSpec {
        backend_framework: written.spec.backend_framework.clone(),
        component: component::lift(name, service, memory, &mut trail),
    }
}

/// The object's own name, unless it is remembered that v1beta1 gave none.
fn fallback<'a>(written: &'a v1alpha1::DynamoComponentDeployment, hub: Option<&Envelope<HubSpec>>) -> &'a str {
    let was_unnamed = hub.and_then(|hub| hub.sparse.get("name")) == Some(&Value::from(""));
    if was_unnamed { "" } else { &written.metadata.name }
}

/// Writes what v1beta1 can't say.
fn keep_of_spoke(
    written: &v1alpha1::DynamoComponentDeployment,
    lifted: &HubSpec,
    past: Past,
    annotations: &mut BTreeMap<String, String>,
    issues: &mut Issues,
) {
    let service = &written.spec.component;
    let fell_back = service.service_name.is_empty() && !lifted.component.name.is_empty();
    let unsaid = component::spoke_remainder(service, None, &lifted.component, past);
    let nil = if fell_back { vec![UNNAMED] } else { Vec::new() };
    let remainder = Remainder { spec: unsaid.kept, nil };
    let pod_was_made = past.birth == Birth::SpokeBorn && lifted.component.pod_template.is_some();
    if pod_was_made || !remainder.is_empty() {
        remainder.put(OF_COMPONENT.spec, annotations);
    }
    if let Some(status) = &written.status {
        OF_COMPONENT.status.put(annotations, &status::component_remainder(status));
    }
    let mut lost = Losses::default();
    lost.add(ITSELF, unsaid.lost);
    lost.keep(annotations, SPOKE, issues);
}

fn lower_spec(
    written: &v1beta1::DynamoComponentDeployment,
    kept: Option<&Envelope<SpokeSpec>>,
    lost: &Losses,
) -> SpokeSpec {
    let component = &written.spec.component;
    let memory = Memory { kept: kept.map(|kept| &kept.sparse), lost: lost.of(ITSELF) };
    let mut service = component::lower(component, memory);
    let was_unnamed = kept.is_some_and(|kept| kept.is_nil(UNNAMED)) && component.name == written.metadata.name;
    service.service_name = if was_unnamed { String::new() } else { component.name.clone() };
    SpokeSpec { backend_framework: written.spec.backend_framework.clone(), component: service }
}

/// Writes what v1alpha1 can't say, always with the name. A pod in an object that was never converted was written so by a
/// user of v1beta1, which is worth a record.
fn keep_of_hub(
    written: &v1beta1::DynamoComponentDeployment,
    lowered: &SpokeSpec,
    past: Past,
    annotations: &mut BTreeMap<String, String>,
    issues: &mut Issues,
) {
    let component = &written.spec.component;
    let mut unsaid = component::hub_remainder(component, &lowered.component, past.making);
    let is_unnamed = component.name.is_empty() && !written.metadata.name.is_empty();
    let is_marked = past.birth == Birth::HubBorn && component.pod_template.is_some();
    if is_unnamed || is_marked || !unsaid.kept.is_empty() {
        unsaid.kept.insert("name".into(), component.name.as_str().into());
        Remainder { spec: unsaid.kept, nil: Vec::new() }.put(OF_COMPONENT.spec, annotations);
    }
    let mut lost = Losses::default();
    lost.add(ITSELF, unsaid.lost);
    lost.keep(annotations, HUB, issues);
}
