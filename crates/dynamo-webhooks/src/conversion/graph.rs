//! Graphs: a map of services on one side, a list of components on the other.

use std::collections::{BTreeMap, HashMap};

use dynamo_api::{v1alpha1, v1beta1};
use gateward_core::{ConversionError, FieldPath, Issues, Provenance, Resource};
use serde_json::{Map, Value};

use super::envelope::{Envelope, OF_GRAPH, Remainder, object, sparse};
use super::losses::{self, HUB, Losses, SPOKE};
use super::pod_template::Birth;
use super::trail::{Place, Trail, itself};
use super::{component, status};

type HubSpec = v1beta1::DynamoGraphDeploymentSpec;
type SpokeSpec = v1alpha1::DynamoGraphDeploymentSpec;

/// Reads a graph of v1alpha1 as v1beta1.
pub(super) fn lift(
    written: &v1alpha1::DynamoGraphDeployment,
    provenance: &mut Provenance,
    issues: &mut Issues,
) -> v1beta1::DynamoGraphDeployment {
    let mut metadata = written.metadata.clone();
    let annotations = &mut metadata.annotations;
    let hub = Envelope::<HubSpec>::take(OF_GRAPH.spec, annotations, issues);
    annotations.remove(OF_GRAPH.status.annotation());
    Losses::take(annotations, HUB, issues);
    let spec = lift_spec(&written.spec, hub.as_ref(), provenance);
    let birth = if hub.is_some() { Birth::HubBorn } else { Birth::SpokeBorn };
    keep_of_spoke(&written.spec, birth, annotations, issues);
    status::record_graph(provenance);
    if let Some(status) = &written.status {
        OF_GRAPH.status.put(annotations, &status::graph_remainder(status));
    }
    v1beta1::DynamoGraphDeployment {
        api_version: v1beta1::DynamoGraphDeployment::gvk().api_version(),
        kind: written.kind.clone(),
        metadata,
        spec,
        status: written.status.as_ref().map(status::lift_graph),
    }
}

/// Reads a graph of v1beta1 as v1alpha1. Two components of one name can't become services.
pub(super) fn lower(
    graph: &v1beta1::DynamoGraphDeployment,
    issues: &mut Issues,
) -> Result<v1alpha1::DynamoGraphDeployment, ConversionError> {
    let mut metadata = graph.metadata.clone();
    let annotations = &mut metadata.annotations;
    let birth = if OF_GRAPH.are_carried(annotations) { Birth::SpokeBorn } else { Birth::HubBorn };
    let kept = Envelope::<SpokeSpec>::take(OF_GRAPH.spec, annotations, issues);
    let kept_status = OF_GRAPH.status.take(annotations, issues);
    let lost = Losses::take(annotations, SPOKE, issues);
    let spec = lower_spec(&graph.spec, kept, &lost)?;
    let remainder = hub_remainder(&graph.spec, &spec, birth);
    if !remainder.is_empty() {
        remainder.put(OF_GRAPH.spec, annotations);
    }
    Ok(v1alpha1::DynamoGraphDeployment {
        api_version: v1alpha1::DynamoGraphDeployment::gvk().api_version(),
        kind: graph.kind.clone(),
        metadata,
        spec,
        status: graph.status.as_ref().map(|status| status::lower_graph(status, kept_status.unwrap_or_default())),
    })
}

fn lift_spec(written: &SpokeSpec, hub: Option<&Envelope<HubSpec>>, provenance: &mut Provenance) -> HubSpec {
    provenance.moved(|| (FieldPath::field("spec") / "env", FieldPath::field("spec") / "envs"));
    HubSpec {
        provider_override: written.provider_override.clone(),
        annotations: written.annotations.clone(),
        labels: written.labels.clone(),
        priority_class_name: written.priority_class_name.clone(),
        components: components(written, hub, provenance),
        env: written.envs.clone(),
        backend_framework: written.backend_framework.clone(),
        restart: written.restart.clone(),
        topology_constraint: written.topology_constraint.as_ref().map(|each| topology_constraint(each, provenance)),
        experimental: written.experimental.clone(),
    }
}

/// The services; entries without a value are skipped.
fn components(
    written: &SpokeSpec,
    hub: Option<&Envelope<HubSpec>>,
    provenance: &mut Provenance,
) -> Vec<v1beta1::ComponentSpec> {
    provenance.made(|| (FieldPath::field("spec") / "components", FieldPath::field("spec") / "services"));
    let remembered = hub.map(|hub| by_name(&hub.sparse)).unwrap_or_default();
    in_order(services(written).collect(), hub.map(|hub| hub.spec.components.as_slice()))
        .into_iter()
        .enumerate()
        .map(|(index, (key, service))| {
            let mut trail = Trail::new(Place::Service { index, key }, provenance);
            trail.moved(itself, itself);
            trail.made(|at| at / "name", itself);
            component::lift(key, service, remembered.get(key.as_str()).copied(), &mut trail)
        })
        .collect()
}

/// The services that have a value, in bytewise order of their keys.
fn services(spec: &SpokeSpec) -> impl Iterator<Item = (&String, &v1alpha1::ComponentSpec)> {
    spec.services.iter().filter_map(|(key, service)| Some((key, service.as_ref()?)))
}

/// The order of v1beta1 is remembered only where it is not that of the keys; services that it doesn't know come last.
fn in_order<'a>(
    mut services: Vec<(&'a String, &'a v1alpha1::ComponentSpec)>,
    remembered: Option<&[v1beta1::ComponentSpec]>,
) -> Vec<(&'a String, &'a v1alpha1::ComponentSpec)> {
    let Some(remembered) = remembered.filter(|components| !are_ascending(components)) else { return services };
    let mut places = HashMap::new();
    for (place, component) in remembered.iter().enumerate() {
        places.entry(component.name.as_str()).or_insert(place);
    }
    services.sort_by_key(|(key, _)| places.get(key.as_str()).copied().unwrap_or(usize::MAX));
    services
}

fn are_ascending(components: &[v1beta1::ComponentSpec]) -> bool {
    components.is_sorted_by_key(|component| &component.name)
}

/// The components of a sparse spec of v1beta1.
fn by_name(sparse: &Map<String, Value>) -> HashMap<&str, &Map<String, Value>> {
    let components = sparse.get("components").and_then(Value::as_array).into_iter().flatten();
    components.filter_map(|each| Some((each.get("name")?.as_str()?, each.as_object()?))).collect()
}

fn topology_constraint(
    written: &v1alpha1::GraphTopologyConstraint,
    provenance: &mut Provenance,
) -> v1beta1::GraphTopologyConstraint {
    let at = || FieldPath::field("spec") / "topologyConstraint";
    provenance.moved(|| (at() / "clusterTopologyName", at() / "topologyProfile"));
    v1beta1::GraphTopologyConstraint {
        cluster_topology_name: written.topology_profile.clone(),
        pack_domain: written.pack_domain.clone(),
    }
}

/// Writes what v1beta1 can't say.
fn keep_of_spoke(spec: &SpokeSpec, birth: Birth, annotations: &mut BTreeMap<String, String>, issues: &mut Issues) {
    let remainder = spoke_remainder(spec, birth);
    if !remainder.is_empty() {
        remainder.put(OF_GRAPH.spec, annotations);
    }
    let mut lost = Losses::default();
    for (key, service) in services(spec) {
        lost.add(key, losses::of_service(service, Some(key)));
    }
    lost.keep(annotations, SPOKE, issues);
}

/// What v1beta1 can't say: claims, entries without a value, and much of the services.
fn spoke_remainder(spec: &SpokeSpec, birth: Birth) -> Remainder {
    let mut members = sparse(&SpokeSpec { pvcs: spec.pvcs.clone(), ..SpokeSpec::default() });
    let entry = |(key, service): (&String, &Option<v1alpha1::ComponentSpec>)| {
        let kept = service.as_ref().map(|service| component::spoke_remainder(service, key, birth));
        match kept {
            None => Some((key.clone(), Value::Null)),
            Some(kept) => (!kept.is_empty()).then(|| (key.clone(), Value::Object(kept))),
        }
    };
    let services: Map<String, Value> = spec.services.iter().filter_map(entry).collect();
    if !services.is_empty() {
        members.insert("services".into(), Value::Object(services));
    }
    Remainder { spec: members, nil: Vec::new() }
}

fn lower_spec(spec: &HubSpec, kept: Option<Envelope<SpokeSpec>>, lost: &Losses) -> Result<SpokeSpec, ConversionError> {
    let services = lower_components(spec, kept.as_ref(), lost)?;
    let topology_constraint = spec.topology_constraint.as_ref().map(|each| v1alpha1::GraphTopologyConstraint {
        topology_profile: each.cluster_topology_name.clone(),
        pack_domain: each.pack_domain.clone(),
    });
    Ok(SpokeSpec {
        provider_override: spec.provider_override.clone(),
        annotations: spec.annotations.clone(),
        labels: spec.labels.clone(),
        priority_class_name: spec.priority_class_name.clone(),
        pvcs: kept.map(|kept| kept.spec.pvcs).unwrap_or_default(),
        services,
        envs: spec.env.clone(),
        backend_framework: spec.backend_framework.clone(),
        restart: spec.restart.clone(),
        topology_constraint,
        experimental: spec.experimental.clone(),
    })
}

/// The components by name, and the keys that had no value.
fn lower_components(
    spec: &HubSpec,
    kept: Option<&Envelope<SpokeSpec>>,
    lost: &Losses,
) -> Result<BTreeMap<String, Option<v1alpha1::ComponentSpec>>, ConversionError> {
    let mut services = BTreeMap::new();
    for (index, component) in spec.components.iter().enumerate() {
        if services.insert(component.name.clone(), Some(service(component, kept, lost))).is_some() {
            return Err(duplicate(index, &component.name));
        }
    }
    let ghosts = kept.iter().flat_map(|kept| &kept.spec.services).filter(|(_, service)| service.is_none());
    for (key, _) in ghosts {
        services.entry(key.clone()).or_insert(None);
    }
    Ok(services)
}

fn service(
    component: &v1beta1::ComponentSpec,
    kept: Option<&Envelope<SpokeSpec>>,
    lost: &Losses,
) -> v1alpha1::ComponentSpec {
    let name = &component.name;
    let remembered = kept.and_then(|kept| object(object(&kept.sparse, "services")?, name));
    let mut service = component::lower(component, remembered, lost.of(name));
    let typed = kept.and_then(|kept| kept.spec.services.get(name)?.as_ref());
    if let Some(own) = typed.map(|typed| &typed.service_name).filter(|own| !own.is_empty() && *own != name) {
        service.service_name.clone_from(own);
    }
    service
}

fn duplicate(index: usize, name: &str) -> ConversionError {
    ConversionError {
        path: (FieldPath::field("spec") / "components").index(index) / "name",
        message: format!("another component is called {name:?}; v1alpha1 keeps components by name"),
    }
}

/// What v1alpha1 can't say. Where the components are not in the order of their names, all of them are recorded, and
/// where the graph was never converted, each that has a pod: it was written so by a user of v1beta1.
fn hub_remainder(spec: &HubSpec, lowered: &SpokeSpec, birth: Birth) -> Remainder {
    let all = !are_ascending(&spec.components);
    let entry = |component: &v1beta1::ComponentSpec| {
        let service = lowered.services.get(&component.name)?.as_ref()?;
        let mut kept = component::hub_remainder(component, service);
        let is_marked = birth == Birth::HubBorn && component.pod_template.is_some();
        let is_recorded = all || is_marked || !kept.is_empty();
        kept.insert("name".into(), component.name.as_str().into());
        is_recorded.then_some(Value::Object(kept))
    };
    let components: Vec<Value> = spec.components.iter().filter_map(entry).collect();
    let mut members = Map::new();
    if !components.is_empty() {
        members.insert("components".into(), components.into());
    }
    Remainder { spec: members, nil: Vec::new() }
}
