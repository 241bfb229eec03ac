//! The pod of one component, there and back.

#![allow(clippy::needless_pass_by_value, reason = "tests write their objects where they use them")]

mod arbitrary;
mod edits;
mod memory;
mod plain;
mod properties;

use dynamo_api::{v1alpha1, v1beta1};
use gateward_core::Provenance;
use serde_json::{Map, Value, json};

use super::{Birth, Making, Others, Past, frontend_sidecar, hub_remainder, lift, lower, spoke_remainder};
use crate::conversion::trail::{Place, Trail};

/// The fingerprint that a record of this service or component must bear; of what is neither, any.
pub(in crate::conversion) fn fingerprint_of(part: &Value) -> String {
    let said = if part.get("podTemplate").is_some() || part.get("type").is_some() {
        serde_json::from_value(part.clone()).map(|component| super::fields::of_component(&component))
    } else {
        serde_json::from_value(part.clone()).map(|service| super::fields::of_service(&service))
    };
    super::echo::name(&said.unwrap_or_default())
}

/// One component in one version, with what is remembered of it in the other.
#[derive(Debug, Clone)]
struct Stored<T> {
    spec: T,
    entry: Option<Map<String, Value>>,
}

type Spoke = Stored<v1alpha1::ComponentSpec>;
type Hub = Stored<v1beta1::ComponentSpec>;

/// A component as a user of v1alpha1 writes it.
fn spoke(spec: Value) -> Spoke {
    Stored { spec: serde_json::from_value(spec).unwrap(), entry: None }
}

/// A component as a user of v1beta1 writes it.
fn hub(spec: Value) -> Hub {
    Stored { spec: serde_json::from_value(spec).unwrap(), entry: None }
}

fn making(entry: Option<&Map<String, Value>>) -> Making {
    if entry.is_some_and(|entry| entry.contains_key("gateward")) { Making::WithRecord } else { Making::ByRules }
}

impl Spoke {
    fn up(&self) -> Hub {
        let (service, hub) = (&self.spec, self.entry.as_ref());
        let mut provenance = Provenance::silent();
        let pod_template = lift(service, hub, &mut Trail::new(Place::Standalone, &mut provenance));
        let spec = v1beta1::ComponentSpec {
            frontend_sidecar: frontend_sidecar(service, hub, pod_template.as_ref()),
            compilation_cache: service.volume_mounts.iter().find(|mount| mount.use_as_compilation_cache).map(|mount| {
                v1beta1::CompilationCache { pvc_name: mount.name.clone(), mount_path: mount.mount_point.clone() }
            }),
            pod_template,
            ..v1beta1::ComponentSpec::default()
        };
        let birth = if self.entry.is_some() { Birth::HubBorn } else { Birth::SpokeBorn };
        let entry = spoke_remainder(service, &spec, Past { birth, making: making(hub) }, Others::None);
        Stored { spec, entry: Some(entry).filter(|entry| !entry.is_empty()) }
    }

    fn json(&self) -> Value {
        serde_json::to_value(&self.spec).unwrap()
    }

    /// The same with other fields, as a user leaves it who doesn't touch annotations.
    fn edited(&self, edit: impl FnOnce(&mut Value)) -> Self {
        let mut spec = self.json();
        edit(&mut spec);
        Stored { spec: serde_json::from_value(spec).unwrap(), entry: self.entry.clone() }
    }
}

impl Hub {
    fn down(&self) -> Spoke {
        let mut spec = v1alpha1::ComponentSpec::default();
        lower(&self.spec, self.entry.as_ref(), &mut spec);
        let mut entry = hub_remainder(&self.spec, &spec, making(self.entry.as_ref()));
        // The frames mark what was written in v1beta1 by the name alone.
        if self.entry.is_none() && self.spec.pod_template.is_some() {
            entry.insert("name".into(), "w".into());
        }
        Stored { spec, entry: Some(entry).filter(|entry| !entry.is_empty()) }
    }

    fn json(&self) -> Value {
        serde_json::to_value(&self.spec).unwrap()
    }

    fn main(&self) -> Value {
        self.json()["podTemplate"]["spec"]["containers"][0].clone()
    }

    fn edited(&self, edit: impl FnOnce(&mut Value)) -> Self {
        let mut spec = self.json();
        edit(&mut spec);
        Stored { spec: serde_json::from_value(spec).unwrap(), entry: self.entry.clone() }
    }
}

impl<T> Stored<T> {
    /// What is remembered.
    fn entry(&self) -> Value {
        self.entry.clone().map_or(json!({}), Value::Object)
    }

    /// Whether what is remembered needs our own record.
    fn has_record(&self) -> bool {
        self.entry().get("gateward").is_some()
    }
}
