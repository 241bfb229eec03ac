//! What the Go operator's conversion loses and this one keeps, in an annotation that the operator doesn't look at.
//!
//! It comes back where no live field contradicts it.

use std::collections::BTreeMap;

use dynamo_api::v1alpha1::{ComponentSpec, SharedMemory};
use dynamo_api::v1beta1::ComponentType;
use gateward_core::Issues;
use gateward_core::conversion::preserved;
use serde_json::{Map, Value, json};

use super::envelope::{object, sparse};
use super::pod_template::Making;

/// The member under which the pod's part of a remainder holds what the operator loses.
pub(super) const LOST_OF_POD: &str = "gateward";

/// A version's losses, by component.
#[derive(Debug, Default)]
pub(super) struct Losses(Map<String, Value>);

/// The versions by name, as the annotation has them.
pub(super) const SPOKE: &str = "v1alpha1";
/// The hub's.
pub(super) const HUB: &str = "v1beta1";

impl Losses {
    /// Takes away what was kept of both versions and reads what was kept of `version`.
    pub fn take(annotations: &mut BTreeMap<String, String>, version: &str, issues: &mut Issues) -> Self {
        let other = if version == SPOKE { HUB } else { SPOKE };
        let kept = preserved::take(annotations, version, issues);
        preserved::take(annotations, other, issues);
        Self(kept.and_then(|mut kept| Some(kept.get_mut("components")?.as_object_mut()?.clone())).unwrap_or_default())
    }

    /// What was kept of this component.
    pub fn of(&self, component: &str) -> Option<&Map<String, Value>> {
        object(&self.0, component)
    }

    /// Whether what was kept has had a say in a pod.
    pub fn making(&self) -> Making {
        let has_pod = self.0.values().any(|lost| lost.get(LOST_OF_POD).is_some());
        if has_pod { Making::WithRecord } else { Making::ByRules }
    }

    /// Adds what is to be kept of a component.
    pub fn add(&mut self, component: &str, losses: Map<String, Value>) {
        if !losses.is_empty() {
            self.0.insert(component.to_owned(), Value::Object(losses));
        }
    }

    /// Keeps it, unless there is nothing.
    pub fn keep(self, annotations: &mut BTreeMap<String, String>, version: &str, issues: &mut Issues) {
        if !self.0.is_empty() {
            preserved::keep(annotations, version, json!({"components": self.0}), issues);
        }
    }
}

/// What is lost of a service, with its key in the graph if it has one.
pub(super) fn of_service(service: &ComponentSpec, key: Option<&str>) -> Map<String, Value> {
    let mut lost = ComponentSpec::default();
    if is_half(&service.component_type) {
        lost.component_type.clone_from(&service.component_type);
    }
    if key == Some(service.service_name.as_str()) {
        lost.service_name.clone_from(&service.service_name);
    }
    lost.shared_memory = service.shared_memory.clone().filter(|memory| memory.disabled && memory.size.is_none());
    sparse(&lost)
}

/// Puts back what was lost, where the live component still says the same.
pub(super) fn give_back(lost: &Map<String, Value>, service: &mut ComponentSpec) {
    let Ok(lost) = serde_json::from_value::<ComponentSpec>(Value::Object(lost.clone())) else { return };
    if is_half(&lost.component_type) && service.sub_component_type == lost.component_type {
        service.component_type = lost.component_type;
        service.sub_component_type.clear();
    }
    service.service_name = lost.service_name;
    if lost.shared_memory.is_some_and(|memory| memory.disabled) {
        without_size(&mut service.shared_memory);
    }
}

/// A whole type of component that v1alpha1 knows as a detail of a worker.
fn is_half(component_type: &str) -> bool {
    matches!(ComponentType::from(component_type), ComponentType::Prefill | ComponentType::Decode)
}

fn without_size(memory: &mut Option<SharedMemory>) {
    if let Some(memory) = memory.as_mut().filter(|memory| memory.disabled) {
        memory.size = memory.size.take().filter(|size| *size != "0".into());
    }
}
