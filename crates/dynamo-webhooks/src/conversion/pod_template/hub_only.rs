//! The fields of a component's pod that v1alpha1 lacks.

use dynamo_api::constants::{FRONTEND_SIDECAR_CONTAINER, MAIN_CONTAINER};
use dynamo_api::{Raw, v1alpha1, v1beta1};
use gateward::RoundTrip;
use serde_json::{Map, Value};

use super::{plain, to_hub};
use crate::conversion::path_mapper::silently;
use crate::conversion::sidecar;
use gateward::conversion::equivalence::{means_absent, same};

/// The fields of a sparse component, and whether the pod survives a round trip. `service` is the component in v1alpha1,
/// `template` whether its pod template says that it survives.
pub(in crate::conversion) fn hub_only_fields(
    component: &v1beta1::ComponentSpec,
    service: &v1alpha1::ComponentSpec,
    template: RoundTrip,
) -> (Map<String, Value>, RoundTrip) {
    let mut entry = Map::new();
    let is_plain = || template == RoundTrip::Lossless && plain::is_plain_component(component, service);
    if plain::has_no_pod(component, service) || is_plain() {
        return (entry, RoundTrip::Lossless);
    }
    let written = component.pod_template.as_ref().map(Raw::tree).unwrap_or_default();
    let lifted = silently(|mapper| to_hub(service, None, mapper)).unwrap_or_default();
    if let Some(template) = hub_only_template(&written, &lifted, component, service) {
        entry.insert("podTemplate".into(), template.into());
    }
    if let Some(reference) = component.frontend_sidecar.as_ref().filter(|_| service.frontend_sidecar.is_none()) {
        entry.insert("frontendSidecar".into(), reference.as_str().into());
    }
    (entry, RoundTrip::Untried)
}

/// The fields of a pod template to preserve; empty if the template only has to be marked.
fn hub_only_template(
    written: &Value,
    lifted: &Value,
    component: &v1beta1::ComponentSpec,
    service: &v1alpha1::ComponentSpec,
) -> Option<Map<String, Value>> {
    let Value::Object(members) = written else { return (!lifted.is_null()).then(Map::new) };
    let mut template = of(members, |name| name != "metadata" && name != "spec");
    let metadata = members.get("metadata").and_then(Value::as_object);
    let metadata = metadata.map(|metadata| of(metadata, |name| name != "labels" && name != "annotations"));
    if let Some(metadata) = metadata.filter(|metadata| !metadata.is_empty()) {
        template.insert("metadata".into(), metadata.into());
    }
    let mut spec = members.get("spec").and_then(Value::as_object).map(|spec| of(spec, |name| name == "mainContainer"));
    let is_alone = template.is_empty() && spec.as_ref().is_none_or(Map::is_empty);
    let comparison = Comparison { written: &containers(written), lifted: &containers(lifted), component, service };
    let containers = comparison.hub_only_containers(is_alone);
    if !containers.is_empty() || written["spec"]["containers"].as_array().is_some_and(Vec::is_empty) {
        spec.get_or_insert_default().insert("containers".into(), containers.into());
    }
    if let Some(spec) = spec.filter(|spec| !spec.is_empty()) {
        template.insert("spec".into(), spec.into());
    }
    let lacks_main = named(comparison.written, MAIN_CONTAINER).is_none() && comparison.lifted_main().is_some();
    (!template.is_empty() || lacks_main || means_absent(written)).then_some(template)
}

/// The members that `is_wanted` selects.
fn of(object: &Map<String, Value>, is_wanted: impl Fn(&str) -> bool) -> Map<String, Value> {
    let wanted = object.iter().filter(|(name, member)| is_wanted(name) && !means_absent(member));
    wanted.map(|(name, member)| (name.clone(), member.clone())).collect()
}

/// A container and its name, which is looked up once: each look at one of many containers waits for memory.
type NamedContainer<'a> = (Option<&'a str>, &'a Value);

fn containers(template: &Value) -> Vec<NamedContainer<'_>> {
    let containers = template["spec"]["containers"].as_array().map_or(&[][..], Vec::as_slice);
    containers.iter().map(|container| (container["name"].as_str(), container)).collect()
}

fn named<'a>(containers: &[NamedContainer<'a>], name: &str) -> Option<&'a Value> {
    containers.iter().find(|(own, _)| *own == Some(name)).map(|(_, container)| *container)
}

/// The containers of a pod template, and those of the one that the service alone is converted to.
struct Comparison<'a> {
    written: &'a [NamedContainer<'a>],
    lifted: &'a [NamedContainer<'a>],
    component: &'a v1beta1::ComponentSpec,
    service: &'a v1alpha1::ComponentSpec,
}

impl<'a> Comparison<'a> {
    /// The containers to preserve, in the order of the pod. The main one is among them if preserving others would drop it
    /// on the way back.
    fn hub_only_containers(&self, is_alone: bool) -> Vec<Value> {
        let in_order = self.is_in_order();
        let sidecar = named(self.lifted, FRONTEND_SIDECAR_CONTAINER).and_then(Value::as_object);
        let is_main = |container: &NamedContainer<'_>| container.0 == Some(MAIN_CONTAINER);
        let mut further = self.written.iter().filter(|container| !is_main(container));
        let is_alone =
            is_alone && in_order && further.all(|container| self.hub_only_container(container, sidecar).is_none());
        let entry = |container: &NamedContainer<'_>| {
            let fields = if is_main(container) {
                self.hub_only_main(container.1, is_alone)
            } else {
                self.hub_only_container(container, sidecar)
            };
            fields.or_else(|| (!in_order).then(Map::new)).map(|leaves| entry(container.1, leaves))
        };
        self.written.iter().filter_map(entry).collect()
    }

    fn lifted_main(&self) -> Option<&'a Value> {
        named(self.lifted, MAIN_CONTAINER)
    }

    /// Whether the same containers have the same order.
    fn is_in_order(&self) -> bool {
        let names = |containers: &[NamedContainer<'a>]| containers.iter().filter_map(|(name, _)| *name).collect();
        let (mut written, mut lifted): (Vec<&str>, Vec<&str>) = (names(self.written), names(self.lifted));
        if written == lifted {
            return true;
        }
        written.sort_unstable();
        lifted.sort_unstable();
        written != lifted
    }

    /// The fields of the frontend sidecar that its block, converted to `lifted`, lacks. A sidecar without a block is
    /// preserved by name.
    fn hub_only_container(
        &self,
        (name, container): &NamedContainer<'_>,
        lifted: Option<&Map<String, Value>>,
    ) -> Option<Map<String, Value>> {
        if self.service.frontend_sidecar.is_none() {
            return (self.component.frontend_sidecar.as_deref() == Some((*name)?)).then(Map::new);
        }
        let sidecar = container.as_object().filter(|_| *name == Some(FRONTEND_SIDECAR_CONTAINER))?;
        Some(sidecar::leaves(sidecar, lifted?)).filter(|leaves| !leaves.is_empty())
    }

    /// The mounts of the main container, if a round trip would change them; only its name if it would be dropped because
    /// of other preserved fields.
    fn hub_only_main(&self, container: &Value, is_alone: bool) -> Option<Map<String, Value>> {
        let (none, mounts) = (Value::Null, &container["volumeMounts"]);
        let lifted = self.lifted_main().unwrap_or(&none);
        let is_bare =
            container.as_object().is_some_and(|members| members.values().filter(|it| !means_absent(it)).count() < 2);
        let has_cache = self.component.compilation_cache.is_some() && !means_absent(mounts);
        let is_preserved = lifted.is_null() || !is_alone && (is_bare || has_cache);
        let is_preserved = is_preserved || !same(mounts, &lifted["volumeMounts"]);
        is_preserved.then(|| of(container.as_object().unwrap_or(&Map::new()), |name| name == "volumeMounts"))
    }
}

fn entry(container: &Value, mut leaves: Map<String, Value>) -> Value {
    leaves.insert("name".into(), container["name"].clone());
    leaves.into()
}
