//! Splits the main container into the fields of a service and `mainContainer`, which overlays them.
//!
//! Parts that are unchanged since the conversion to the hub are split as preserved; all others go to the fields.

use dynamo_api::Raw;
use dynamo_api::v1alpha1::ComponentSpec;
use gateward_core::Provenance;
use serde_json::{Map, Value};

use super::preserved_pod::PreservedPod;
use crate::conversion::path_mapper::{ComponentLocation, PathMapper};
use crate::conversion::{main_container, mounts, resources};
use gateward_core::conversion::equivalence::same;

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

/// Moves the parts of the main container to the fields of the service and returns the rest, without the name.
pub(super) fn from_hub(
    mut main: Map<String, Value>,
    preserved: &PreservedPod,
    service: &mut ComponentSpec,
) -> Map<String, Value> {
    main.remove("name");
    let split = PreservedSplit::of(preserved);
    for part in Part::ALL {
        if !split.as_ref().is_some_and(|split| split.restore(part, &mut main, service)) {
            to_field(part, &mut main, service);
        }
    }
    main
}

fn to_field(part: Part, main: &mut Map<String, Value>, service: &mut ComponentSpec) {
    match part {
        Part::Env => {
            if main.get("env").is_some_and(Value::is_array) {
                let variables = main.remove("env").unwrap_or_default();
                service.envs = variables.as_array().into_iter().flatten().cloned().map(Raw::from).collect();
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

/// The preserved fields, and the main container that they were converted to.
struct PreservedSplit<'a> {
    preserved: &'a PreservedPod,
    merged: Map<String, Value>,
}

impl<'a> PreservedSplit<'a> {
    fn of(preserved: &'a PreservedPod) -> Option<Self> {
        if preserved.is_empty() {
            return None;
        }
        let mut provenance = Provenance::silent();
        let mut mapper = PathMapper::new(ComponentLocation::Standalone, &mut provenance);
        let own = Value::Object(preserved.main().clone());
        match main_container::to_hub(&preserved.service, own, &mut mapper) {
            Value::Object(merged) => Some(Self { preserved, merged }),
            _ => None,
        }
    }

    /// Splits a part as preserved, if it is unchanged.
    fn restore(&self, part: Part, main: &mut Map<String, Value>, service: &mut ComponentSpec) -> bool {
        let none = Value::Null;
        let (own, live) = (self.preserved.main().get(part.name()), main.get(part.name()).unwrap_or(&none));
        let is_split = match part {
            Part::VolumeMounts => self.restore_mounts(live, service),
            Part::Resources if resources::are_equal_amounts(live, self.of_merged(part)) => {
                self.restore_field(part, service)
            }
            _ if same(live, self.of_merged(part)) => self.restore_field(part, service),
            _ => {
                self.restore_empty_secret(part, service);
                false
            }
        };
        let Some(own) = own.filter(|_| is_split) else {
            if is_split {
                main.remove(part.name());
            }
            return is_split;
        };
        main.insert(part.name().into(), own.clone());
        true
    }

    fn of_merged(&self, part: Part) -> &Value {
        self.merged.get(part.name()).unwrap_or(&Value::Null)
    }

    fn restore_field(&self, part: Part, service: &mut ComponentSpec) -> bool {
        let preserved = &self.preserved.service;
        match part {
            Part::Env => service.envs.clone_from(&preserved.envs),
            Part::EnvFrom => service.env_from_secret.clone_from(&preserved.env_from_secret),
            Part::Resources => service.resources.clone_from(&preserved.resources),
            Part::VolumeMounts => service.volume_mounts.clone_from(&preserved.volume_mounts),
            Part::LivenessProbe => service.liveness_probe.clone_from(&preserved.liveness_probe),
            Part::ReadinessProbe => service.readiness_probe.clone_from(&preserved.readiness_probe),
        }
        true
    }

    fn restore_mounts(&self, live: &Value, service: &mut ComponentSpec) -> bool {
        let (flat, none) = (&self.preserved.service.volume_mounts, Value::Null);
        let own = self.preserved.main().get("volumeMounts").unwrap_or(&none);
        let restored = mounts::restored(flat, own, live, service.volume_mounts.first());
        restored.map(|restored| service.volume_mounts = restored).is_some()
    }

    /// A secret without a name has no effect, and is restored with any sources of variables.
    fn restore_empty_secret(&self, part: Part, service: &mut ComponentSpec) {
        if part == Part::EnvFrom {
            service.env_from_secret = self.preserved.service.env_from_secret.clone().filter(String::is_empty);
        }
    }
}
