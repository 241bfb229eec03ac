//! Splits the main container into the fields of a service and `mainContainer`, which overlays them.
//!
//! Parts that are unchanged since the conversion to the hub are split as preserved; all others go to the fields.

use dynamo_api::Raw;
use dynamo_api::v1alpha1::ComponentSpec;
use serde_json::{Map, Value};

use super::preserved_pod::PreservedPod;
use crate::conversion::path_mapper::silently;
use crate::conversion::{main_container, mounts, resources};
use gateward::conversion::equivalence::same;

/// A part of the main container that is a field of the service too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Env,
    EnvFrom,
    Resources,
    VolumeMounts,
    LivenessProbe,
    ReadinessProbe,
}

impl Part {
    pub const ALL: [Self; 6] =
        [Self::Env, Self::EnvFrom, Self::Resources, Self::VolumeMounts, Self::LivenessProbe, Self::ReadinessProbe];

    /// Its name in a container.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::EnvFrom => "envFrom",
            Self::Resources => "resources",
            Self::VolumeMounts => "volumeMounts",
            Self::LivenessProbe => "livenessProbe",
            Self::ReadinessProbe => "readinessProbe",
        }
    }

    /// Its name among the fields of a service.
    pub const fn field(self) -> &'static str {
        match self {
            Self::Env => "envs",
            Self::EnvFrom => "envFromSecret",
            other => other.name(),
        }
    }
}

/// Moves the parts of the main container to the fields of the service and returns the rest, without the name. What is
/// restored of the preserved fields is taken from them.
pub(super) fn from_hub(
    mut main: Map<String, Value>,
    preserved: &mut PreservedPod<'_>,
    service: &mut ComponentSpec,
) -> Map<String, Value> {
    main.remove("name");
    let merged = merged(preserved);
    for part in Part::ALL {
        if !merged.as_ref().is_some_and(|merged| preserved.restore(part, merged, &mut main, service)) {
            to_field(part, &mut main, service);
        }
    }
    main
}

fn to_field(part: Part, main: &mut Map<String, Value>, service: &mut ComponentSpec) {
    match part {
        Part::Env => {
            if let Some(Value::Array(variables)) = main.get("env") {
                service.envs = variables.iter().cloned().map(Raw::from).collect();
                main.remove("env");
            }
        }
        // A secret is restored only if it is preserved.
        Part::EnvFrom => {}
        Part::Resources => service.resources = resources::from_hub(main),
        Part::VolumeMounts => mounts::from_hub(main, &mut service.volume_mounts),
        Part::LivenessProbe => service.liveness_probe = probe(main, part),
        Part::ReadinessProbe => service.readiness_probe = probe(main, part),
    }
}

fn probe<T>(main: &mut Map<String, Value>, part: Part) -> Option<Raw<T>> {
    main.remove(part.name()).filter(|probe| !probe.is_null()).map(Raw::from)
}

/// The main container that the preserved fields were converted to, without its mounts; `None` if none are preserved.
fn merged(preserved: &PreservedPod<'_>) -> Option<Value> {
    if preserved.is_empty() {
        return None;
    }
    let own = preserved.main().iter().filter(|(name, _)| *name != Part::VolumeMounts.name());
    let own = own.map(|(name, member)| (name.clone(), member.clone())).collect();
    Some(silently(|mapper| main_container::without_mounts(&preserved.service, own, mapper)))
}

impl PreservedPod<'_> {
    /// Splits a part as preserved, if it is unchanged.
    fn restore(
        &mut self,
        part: Part,
        merged: &Value,
        main: &mut Map<String, Value>,
        service: &mut ComponentSpec,
    ) -> bool {
        let (own, none, fields) = (self.main().get(part.name()), Value::Null, &mut self.service);
        let live = main.get(part.name()).unwrap_or(&none);
        let merged = &merged[part.name()];
        match part {
            Part::VolumeMounts => {
                let (flat, current) = (&fields.volume_mounts, service.volume_mounts.first());
                let Some(restored) = mounts::restored(flat, own.unwrap_or(&none), live, current) else { return false };
                service.volume_mounts = restored;
            }
            Part::Resources if resources::are_equal_amounts(live, merged) => {
                service.resources = fields.resources.take();
            }
            Part::Env if same(live, merged) => service.envs = std::mem::take(&mut fields.envs),
            Part::EnvFrom if same(live, merged) => service.env_from_secret = fields.env_from_secret.take(),
            Part::LivenessProbe if same(live, merged) => service.liveness_probe = fields.liveness_probe.take(),
            Part::ReadinessProbe if same(live, merged) => service.readiness_probe = fields.readiness_probe.take(),
            Part::EnvFrom => {
                // A secret without a name has no effect, and is restored with any sources of variables.
                service.env_from_secret = fields.env_from_secret.take().filter(String::is_empty);
                return false;
            }
            _ => return false,
        }
        // The live part goes first: together with its copy it may take more than a request has.
        main.remove(part.name());
        if let Some(own) = own {
            main.insert(part.name().into(), own.clone());
        }
        true
    }
}
