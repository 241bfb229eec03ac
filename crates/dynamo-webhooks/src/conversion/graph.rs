//! Graphs: a map of services on one side, a list of components on the other.

use std::collections::{BTreeMap, HashMap};

use dynamo_api::{v1alpha1, v1beta1};
use gateward_core::{ConversionError, FieldPath, Issues, Provenance, Resource, RoundTrip};
use serde_json::{Map, Value};

use super::envelope::{Envelope, OF_GRAPH, Remainder, object, sparse};
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
) -> (v1beta1::DynamoGraphDeployment, RoundTrip) {
    let (mut graph, birth) = read(written, provenance, issues);
    let annotations = &mut graph.metadata.annotations;
    let (unsaid, round_trip) = unsaid_by_hub(&written.spec, birth);
    unsaid.put_unless_empty(OF_GRAPH.spec, annotations);
    if let Some(status) = &written.status {
        OF_GRAPH.status.put(annotations, &status::graph_remainder(status));
    }
    (graph, round_trip)
}

/// What v1beta1 says of a graph, and where it was written first.
pub(super) fn read(
    written: &v1alpha1::DynamoGraphDeployment,
    provenance: &mut Provenance,
    issues: &mut Issues,
) -> (v1beta1::DynamoGraphDeployment, Birth) {
    let mut metadata = written.metadata.clone();
    let annotations = &mut metadata.annotations;
    let kept = Envelope::<HubSpec>::take(OF_GRAPH.spec, annotations, issues);
    annotations.remove(OF_GRAPH.status.annotation());
    let graph = v1beta1::DynamoGraphDeployment {
        api_version: v1beta1::DynamoGraphDeployment::gvk().api_version(),
        kind: written.kind.clone(),
        metadata,
        spec: lift_spec(&written.spec, kept.as_ref(), provenance),
        status: written.status.as_ref().map(status::lift_graph),
    };
    status::record_graph(provenance);
    (graph, if kept.is_some() { Birth::HubBorn } else { Birth::SpokeBorn })
}

/// Reads a graph of v1beta1 as v1alpha1. Two components of one name can't become services.
pub(super) fn lower(
    graph: &v1beta1::DynamoGraphDeployment,
    issues: &mut Issues,
) -> Result<(v1alpha1::DynamoGraphDeployment, RoundTrip), ConversionError> {
    let mut metadata = graph.metadata.clone();
    let annotations = &mut metadata.annotations;
    let birth = if OF_GRAPH.are_carried(annotations) { Birth::SpokeBorn } else { Birth::HubBorn };
    let kept = Envelope::<SpokeSpec>::take(OF_GRAPH.spec, annotations, issues);
    let kept_status = OF_GRAPH.status.take(annotations, issues);
    let spec = lower_spec(&graph.spec, kept.as_ref())?;
    let (unsaid, round_trip) = unsaid_by_spoke(&graph.spec, &spec, birth);
    unsaid.put_unless_empty(OF_GRAPH.spec, annotations);
    let graph = v1alpha1::DynamoGraphDeployment {
        api_version: v1alpha1::DynamoGraphDeployment::gvk().api_version(),
        kind: graph.kind.clone(),
        metadata,
        spec,
        status: graph.status.as_ref().map(|status| status::lower_graph(status, kept_status.unwrap_or_default())),
    };
    Ok((graph, round_trip))
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

/// What v1beta1 can't say: claims, entries without a value, and much of the services; and whether the rest comes back.
fn unsaid_by_hub(spec: &SpokeSpec, birth: Birth) -> (Remainder, RoundTrip) {
    let (mut services, mut round_trip) = (Map::new(), RoundTrip::Lossless);
    for (key, service) in &spec.services {
        let Some(service) = service else {
            services.insert(key.clone(), Value::Null);
            continue;
        };
        let (unsaid, of_service) = component::spoke_remainder(service, key, birth);
        if !unsaid.is_empty() {
            services.insert(key.clone(), Value::Object(unsaid));
        }
        // The Go operator drops a name that is the key.
        let is_dropped = service.service_name == *key && !key.is_empty();
        round_trip = round_trip.and(if is_dropped { RoundTrip::Untried } else { of_service });
    }
    let mut members = sparse(&SpokeSpec { pvcs: spec.pvcs.clone(), ..SpokeSpec::default() });
    if !services.is_empty() {
        members.insert("services".into(), Value::Object(services));
    }
    (Remainder { spec: members, nil: Vec::new() }, round_trip)
}

fn lower_spec(spec: &HubSpec, kept: Option<&Envelope<SpokeSpec>>) -> Result<SpokeSpec, ConversionError> {
    let topology_constraint = spec.topology_constraint.as_ref().map(|each| v1alpha1::GraphTopologyConstraint {
        topology_profile: each.cluster_topology_name.clone(),
        pack_domain: each.pack_domain.clone(),
    });
    Ok(SpokeSpec {
        provider_override: spec.provider_override.clone(),
        annotations: spec.annotations.clone(),
        labels: spec.labels.clone(),
        priority_class_name: spec.priority_class_name.clone(),
        pvcs: kept.map(|kept| kept.spec.pvcs.clone()).unwrap_or_default(),
        services: lower_components(spec, kept)?,
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
) -> Result<BTreeMap<String, Option<v1alpha1::ComponentSpec>>, ConversionError> {
    let mut services = BTreeMap::new();
    for (index, component) in spec.components.iter().enumerate() {
        if services.insert(component.name.clone(), Some(lower_component(component, kept))).is_some() {
            return Err(duplicate(index, &component.name));
        }
    }
    let ghosts = kept.into_iter().flat_map(|kept| &kept.spec.services).filter(|(_, service)| service.is_none());
    for (key, _) in ghosts {
        services.entry(key.clone()).or_insert(None);
    }
    Ok(services)
}

/// A service of its own name only where that differed from its key.
fn lower_component(component: &v1beta1::ComponentSpec, kept: Option<&Envelope<SpokeSpec>>) -> v1alpha1::ComponentSpec {
    let name = &component.name;
    let sparse = kept.and_then(|kept| object(object(&kept.sparse, "services")?, name));
    let mut service = component::lower(component, sparse);
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

/// What v1alpha1 can't say, and whether the rest comes back. Where the components are not in the order of their names, all
/// of them are recorded, and where the graph was never converted, each that has a pod: it was written so by a user of
/// v1beta1.
fn unsaid_by_spoke(spec: &HubSpec, lowered: &SpokeSpec, birth: Birth) -> (Remainder, RoundTrip) {
    let all = !are_ascending(&spec.components);
    let (mut components, mut round_trip) = (Vec::new(), RoundTrip::Lossless);
    for component in &spec.components {
        let Some(Some(service)) = lowered.services.get(&component.name) else { continue };
        let (mut unsaid, of_component) = component::hub_remainder(component, service);
        let is_marked = birth == Birth::HubBorn && component.pod_template.is_some();
        if all || is_marked || !unsaid.is_empty() {
            unsaid.insert("name".into(), component.name.as_str().into());
            components.push(Value::Object(unsaid));
        }
        round_trip = round_trip.and(of_component);
    }
    let mut members = Map::new();
    if !components.is_empty() {
        members.insert("components".into(), components.into());
    }
    (Remainder { spec: members, nil: Vec::new() }, round_trip)
}
