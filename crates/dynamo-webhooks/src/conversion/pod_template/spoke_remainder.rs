//! What of a service's pod the hub can't say, or says so that the way back leads elsewhere.

use dynamo_api::v1alpha1::ExtraPodMetadata;
use dynamo_api::{v1alpha1, v1beta1};
use serde_json::{Map, Value};

use super::origins::Part;
use super::{bare, echo, fields, plain};
use crate::conversion::{mounts, resources, sidecar};

/// In which version the object was written first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::conversion) enum Birth {
    /// In v1beta1: it came with something that was remembered of it.
    HubBorn,
    /// In v1alpha1.
    SpokeBorn,
}

/// How an object came to be what it is in the version that it was converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::conversion) enum Making {
    /// By the rules alone.
    ByRules,
    /// A record of what the rules lose had a say.
    WithRecord,
}

/// What is known of an object's past.
#[derive(Debug, Clone, Copy)]
pub(in crate::conversion) struct Past {
    /// Where it was written first.
    pub birth: Birth,
    /// How it was converted now.
    pub making: Making,
}

/// Whether something is remembered already of the fields that don't concern the pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::conversion) enum Others {
    /// Something is.
    Saved,
    /// Nothing is.
    None,
}

/// The members of a sparse service. `component` is the service in the hub, whose way back is tried.
pub(in crate::conversion) fn spoke_remainder(
    service: &v1alpha1::ComponentSpec,
    component: &v1beta1::ComponentSpec,
    past: Past,
    others: Others,
) -> Map<String, Value> {
    let written = fields::of_service(service);
    let mut entry = unsaid(service, &written);
    let is_saved = others == Others::Saved || !entry.is_empty();
    let main = written["extraPodSpec"]["mainContainer"].as_object();
    let has_origins = main.is_some_and(|main| past.birth == Birth::SpokeBorn || is_saved || is_split(main));
    let by_rules_alone = past.birth == Birth::SpokeBorn && past.making == Making::ByRules;
    if by_rules_alone && plain::is_plain_service(service, &written) {
        if has_origins {
            remember_origins(written, &mut entry);
        }
        return entry;
    }
    if has_origins {
        remember_origins(written.clone(), &mut entry);
    }
    prove(service, component, &written, &mut entry);
    entry
}

/// What the rules name, but for the origins.
fn unsaid(service: &v1alpha1::ComponentSpec, written: &Value) -> Map<String, Value> {
    let own_mounts = &written["extraPodSpec"]["mainContainer"]["volumeMounts"];
    let saved = [
        ("envFromSecret", service.env_from_secret.is_some()),
        ("resources", service.resources.as_ref().is_some_and(resources::are_lost)),
        ("volumeMounts", mounts::are_lost(&service.volume_mounts, own_mounts)),
        ("extraPodMetadata", service.extra_pod_metadata == Some(ExtraPodMetadata::default())),
        ("frontendSidecar", service.frontend_sidecar.is_some()),
    ];
    let saved = saved.into_iter().filter(|(_, is_saved)| *is_saved);
    let mut entry: Map<String, Value> = saved.map(|(name, _)| (name.to_owned(), written[name].clone())).collect();
    if let Some(extra) = written["extraPodSpec"].as_object().and_then(|extra| unsaid_of_extra(service, extra)) {
        entry.insert("extraPodSpec".into(), extra.into());
    }
    entry
}

/// Of `extraPodSpec`: all of it where it says nothing, unless it names the main container; and containers that the hub
/// doesn't show, or shows in another's place.
fn unsaid_of_extra(service: &v1alpha1::ComponentSpec, extra: &Map<String, Value>) -> Option<Map<String, Value>> {
    if bare::is_bare(extra) {
        return Some(extra.clone());
    }
    let is_hidden = |container: &&Value| {
        container["name"] == dynamo_api::constants::MAIN_CONTAINER
            || service.frontend_sidecar.is_some() && sidecar::is_sidecar(container)
    };
    let listed = extra.get("containers").and_then(Value::as_array).into_iter().flatten();
    let hidden: Vec<Value> = listed.filter(is_hidden).cloned().collect();
    (!hidden.is_empty()).then(|| Map::from_iter([("containers".to_owned(), hidden.into())]))
}

/// Whether the main container says what a field could.
fn is_split(main: &Map<String, Value>) -> bool {
    let parts = Part::ALL.into_iter().filter(|part| *part != Part::EnvFrom).map(Part::name);
    parts.chain(["name"]).any(|name| main.get(name).is_some_and(|member| !member.is_null()))
}

/// Both halves of whatever a field and the main container can say.
fn remember_origins(mut written: Value, entry: &mut Map<String, Value>) {
    let mut main = written["extraPodSpec"]["mainContainer"].take();
    let names = Part::ALL.into_iter().map(Part::name).chain(["name"]);
    let main = main.as_object_mut();
    let own = main.map(|main| names.filter_map(|name| main.remove_entry(name)).collect::<Map<_, _>>());
    let extra = entry.entry("extraPodSpec").or_insert_with(|| Map::new().into());
    extra["mainContainer"] = own.into();
    for field in Part::ALL.map(Part::field) {
        let said = Some(written[field].take()).filter(|value| !value.is_null() && *value != Value::Array(Vec::new()));
        if let Some(value) = said {
            entry.insert(field.into(), value);
        }
    }
}

/// Tries the way back, and remembers what it would change.
fn prove(
    service: &v1alpha1::ComponentSpec,
    component: &v1beta1::ComponentSpec,
    written: &Value,
    entry: &mut Map<String, Value>,
) {
    let mut back = v1alpha1::ComponentSpec::default();
    super::lower(component, Some(&*entry).filter(|entry| !entry.is_empty()), &mut back);
    echo::record(entry, || fields::of_component(component), &fields::of_service(&back), written);
    echo::record_texts(entry, || fields::of_component(component), fields::deep_of_service(service));
}
