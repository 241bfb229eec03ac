//! Services of which both versions say the same, but for where it stands: its parts move as the text that they are.
//!
//! Nothing is merged in them and nothing is edited, so no tree is made of them, and nothing can get lost on the way there
//! and back. All others are converted as trees, which the properties hold equal to this.

use std::borrow::Cow;
use std::collections::BTreeMap;

use dynamo_api::Raw;
use dynamo_api::constants::{FRONTEND_SIDECAR_CONTAINER, MAIN_CONTAINER};
use dynamo_api::v1alpha1::{ComponentSpec, VolumeMount};
use gateward::conversion::raw_parts::RawMember;
use serde_json::Value;
use serde_json::value::RawValue;

use super::parts::{
    Parts, are_distinct, are_named_once, borrowed, containers, is_plain_main, parts, removed, says_something,
};
use super::split::Part;
use super::to_hub::has_pod_fields;
use crate::conversion::main_container::secret_reference;
use crate::conversion::preserved::{Entry, raw};
use crate::conversion::{mounts, resources};

/// A service whose pod moves.
pub(in crate::conversion) struct MovedService<'a> {
    service: &'a ComponentSpec,
    /// `extraPodSpec` without its containers.
    spec: Vec<RawMember<'a>>,
    main: Option<Vec<RawMember<'a>>>,
    containers: Vec<&'a RawValue>,
}

impl<'a> MovedService<'a> {
    /// `None` if a part of the main container is set in two places, a list has a name twice, or something is empty.
    pub fn of(service: &'a ComponentSpec) -> Option<Self> {
        let mut pod = Self { service, spec: Vec::new(), main: None, containers: Vec::new() };
        if let Some(extra) = &service.extra_pod_spec {
            pod.take(extra.readable_text()?)?;
        }
        let metadata = service.extra_pod_metadata.as_ref();
        let probes = [&service.liveness_probe, &service.readiness_probe].into_iter().flatten();
        let is_said_once = |part: Part| pod.own(part.name()).is_none() || !pod.has_field(part);
        let moves = service.frontend_sidecar.is_none()
            && service.env_from_secret.as_ref().is_none_or(|secret| !secret.is_empty())
            && service.resources.as_ref().is_none_or(|flat| !resources::are_invisible(flat))
            && metadata.is_none_or(|metadata| !metadata.annotations.is_empty() || !metadata.labels.is_empty())
            && are_distinct_mounts(&service.volume_mounts)
            && are_named_once(service.envs.iter().map(Raw::readable_text))
            && probes.into_iter().all(|probe| probe.readable_text().is_some_and(|probe| parts(probe).is_some()))
            && Part::ALL.into_iter().all(is_said_once);
        moves.then_some(pod)
    }

    fn take(&mut self, extra: &'a RawValue) -> Option<()> {
        let mut spec = parts(extra)?;
        let main = removed(&mut spec, "mainContainer");
        if let Some(list) = removed(&mut spec, "containers") {
            self.containers = containers(list, &[MAIN_CONTAINER, FRONTEND_SIDECAR_CONTAINER])?;
        }
        let says_more = match main {
            Some(main) => {
                let main = self.main.insert(parts(main)?);
                is_plain_main(main) && main.iter().all(|(name, part)| is_not_edited(name, part))
            }
            None => !self.containers.is_empty() || spec.iter().any(|(_, part)| says_something(part)),
        };
        self.spec = spec;
        says_more.then_some(())
    }

    /// This part of `mainContainer`.
    fn own(&self, name: &str) -> Option<&'a RawValue> {
        let main = self.main.iter().flatten();
        main.into_iter().find(|(own, _)| own == name).map(|(_, part)| *part)
    }

    /// Whether the service has the part as a field.
    fn has_field(&self, part: Part) -> bool {
        let service = self.service;
        match part {
            Part::Env => !service.envs.is_empty(),
            Part::EnvFrom => service.env_from_secret.is_some(),
            Part::Resources => service.resources.is_some(),
            Part::VolumeMounts => !service.volume_mounts.is_empty(),
            Part::LivenessProbe => service.liveness_probe.is_some(),
            Part::ReadinessProbe => service.readiness_probe.is_some(),
        }
    }

    /// The field for a part, as it is written.
    fn field(&self, part: Part) -> Box<RawValue> {
        let service = self.service;
        match part {
            Part::Env => raw(&service.envs),
            Part::EnvFrom => raw(&service.env_from_secret),
            Part::Resources => raw(&service.resources),
            Part::VolumeMounts => raw(&service.volume_mounts),
            Part::LivenessProbe => raw(&service.liveness_probe),
            Part::ReadinessProbe => raw(&service.readiness_probe),
        }
    }

    /// The pod template; `None` if no field of the service concerns the pod.
    pub fn template<T>(&self) -> Option<Raw<T>> {
        if self.service.extra_pod_spec.is_none() && !has_pod_fields(self.service) {
            return None;
        }
        let mut template = BTreeMap::new();
        if let Some(metadata) = &self.service.extra_pod_metadata {
            let maps = [("annotations", &metadata.annotations), ("labels", &metadata.labels)];
            let maps: BTreeMap<_, _> = maps.into_iter().filter(|(_, map)| !map.is_empty()).collect();
            template.insert("metadata", raw(&maps));
        }
        let main = raw(&self.main_container());
        let containers: Vec<&RawValue> = std::iter::once(&*main).chain(self.containers.iter().copied()).collect();
        let mut spec = borrowed(&self.spec);
        spec.insert("containers".into(), Cow::Owned(raw(&containers)));
        template.insert("spec", raw(&spec));
        Some(raw(&template).into())
    }

    fn main_container(&self) -> Parts<'_> {
        let service = self.service;
        let mut main = borrowed(self.main.as_deref().unwrap_or_default());
        main.insert("name".into(), Cow::Owned(raw(MAIN_CONTAINER)));
        for part in Part::ALL.into_iter().filter(|part| self.has_field(*part)) {
            let lifted = match part {
                Part::EnvFrom => raw(&service.env_from_secret.as_deref().map(|secret| [secret_reference(secret)])),
                Part::Resources => raw(&service.resources.as_ref().map(resources::native)),
                Part::VolumeMounts => raw(&service.volume_mounts.iter().map(mounts::native).collect::<Vec<_>>()),
                Part::Env | Part::LivenessProbe | Part::ReadinessProbe => self.field(part),
            };
            main.insert(part.name().into(), Cow::Owned(lifted));
        }
        main
    }

    /// The fields of the pod that v1beta1 lacks, of a service that was written in v1alpha1: which parts of the main
    /// container are in `mainContainer`, and which are fields.
    pub fn spoke_only_fields(&self) -> Entry {
        let service = self.service;
        let is_saved = |part: &Part| match part {
            _ if !self.has_field(*part) => false,
            _ if self.main.is_some() => true,
            Part::EnvFrom => true,
            Part::Resources => service.resources.as_ref().is_some_and(resources::are_lost),
            Part::VolumeMounts => mounts::are_lost(&service.volume_mounts, &Value::Null),
            _ => false,
        };
        let mut entry: Entry =
            Part::ALL.into_iter().filter(is_saved).map(|part| (part.field().to_owned(), self.field(part))).collect();
        if let Some(main) = &self.main {
            let is_split = |name: &str| name == "name" || Part::ALL.into_iter().any(|part| part.name() == name);
            let own: BTreeMap<&str, &RawValue> =
                main.iter().filter(|(name, _)| is_split(name)).map(|(name, part)| (&**name, *part)).collect();
            if !own.is_empty() || !entry.is_empty() {
                entry.insert("extraPodSpec".into(), raw(&BTreeMap::from([("mainContainer", own)])));
            }
        }
        entry
    }
}

/// Whether a part of the main container is as it is in v1beta1. Of resources, empty blocks go, and its mounts stand with
/// those of the service.
fn is_not_edited(name: &str, part: &RawValue) -> bool {
    match name {
        "resources" => !part.get().starts_with('{') || parts(part).is_some(),
        name => name != "volumeMounts",
    }
}

/// Unique mounts with a name and a path, without the compilation cache.
fn are_distinct_mounts(mounts: &[VolumeMount]) -> bool {
    let places: Vec<(&str, &str)> =
        mounts.iter().map(|mount| (mount.name.as_deref().unwrap_or_default(), mount.mount_point.as_str())).collect();
    places.iter().all(|(name, path)| !name.is_empty() && !path.is_empty())
        && !mounts.iter().any(|mount| mount.use_as_compilation_cache)
        && are_distinct(places)
}
