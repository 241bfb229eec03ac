//! Graphs: a map of services on one side, a list of components on the other.

use std::collections::{BTreeMap, HashMap};

use dynamo_api::meta::ObjectMeta;
use dynamo_api::{v1alpha1, v1beta1};
use gateward::{ConversionError, FieldPath, Issues, Provenance, Resource, RoundTrip};
use serde::Serialize;
use serde_json::{Map, Value};

use super::component::{self, Lowered, Service};
use super::copy_fields::copy_fields;
use super::path_mapper::{ComponentLocation, PathMapper, itself};
use super::pod_template::OriginalVersion;
use super::preserved::{Entry, Envelope, GRAPH_ANNOTATIONS, PreservedSpec, object};
use super::versions::{HubGraph, SpokeGraph};
use super::{mounts, status};

type HubSpec = v1beta1::DynamoGraphDeploymentSpec;
type SpokeSpec = v1alpha1::DynamoGraphDeploymentSpec;
type PreservedHub = PreservedSpec<HubSpec>;
type PreservedSpoke = PreservedSpec<SpokeSpec>;

/// Converts a v1alpha1 graph to v1beta1.
pub(super) fn to_hub(spoke: &SpokeGraph, issues: &mut Issues) -> (HubGraph, RoundTrip) {
    let provenance = &mut Provenance::silent();
    let (mut metadata, preserved) = GRAPH_ANNOTATIONS.taken_from(&spoke.metadata, issues);
    let services = services(&spoke.spec, preserved.as_ref(), provenance);
    let (fields, round_trip) = spoke_only_fields(&spoke.spec, &services);
    if !fields.is_empty() {
        Envelope::of(fields).put(GRAPH_ANNOTATIONS.spec, &mut metadata.annotations);
    }
    if let Some(status) = &spoke.status {
        GRAPH_ANNOTATIONS.status.put(&mut metadata.annotations, &status::spoke_only_graph(status));
    }
    (graph(spoke, metadata, &services, provenance), round_trip)
}

/// The v1beta1 graph without the annotations that preserve fields.
pub(super) fn read(spoke: &SpokeGraph, provenance: &mut Provenance, issues: &mut Issues) -> HubGraph {
    let (metadata, preserved) = GRAPH_ANNOTATIONS.taken_from(&spoke.metadata, issues);
    let services = services(&spoke.spec, preserved.as_ref(), provenance);
    graph(spoke, metadata, &services, provenance)
}

fn graph(spoke: &SpokeGraph, metadata: ObjectMeta, services: &[Service<'_>], provenance: &mut Provenance) -> HubGraph {
    let graph = HubGraph {
        api_version: HubGraph::gvk().api_version(),
        kind: spoke.kind.clone(),
        metadata,
        spec: spec_to_hub(&spoke.spec, services, provenance),
        status: spoke.status.as_ref().map(status::graph_to_hub),
    };
    status::record_graph(provenance);
    graph
}

/// Converts a v1beta1 graph to v1alpha1.
pub(super) fn from_hub(hub: &HubGraph, issues: &mut Issues) -> Result<(SpokeGraph, RoundTrip), ConversionError> {
    let mut lowered = read_hub(hub, issues)?;
    let (fields, round_trip) = hub_only_fields(&hub.spec, &lowered);
    if !fields.is_empty() {
        Envelope::of(fields).put(GRAPH_ANNOTATIONS.spec, &mut lowered.object.metadata.annotations);
    }
    Ok((lowered.object, round_trip))
}

/// The v1alpha1 graph. Two components of the same name can't become services.
pub(super) fn read_hub(graph: &HubGraph, issues: &mut Issues) -> Result<Lowered<SpokeGraph>, ConversionError> {
    let mut metadata = graph.metadata.clone();
    let annotations = &mut metadata.annotations;
    let original_version =
        if GRAPH_ANNOTATIONS.any_present(annotations) { OriginalVersion::Spoke } else { OriginalVersion::Hub };
    let mut preserved = PreservedSpoke::take(GRAPH_ANNOTATIONS.spec, annotations, issues);
    if let Some(Value::Object(services)) = preserved.as_mut().and_then(|preserved| preserved.sparse.get_mut("services"))
    {
        services.values_mut().filter_map(Value::as_object_mut).for_each(mounts::forget_flat);
    }
    let preserved_status = GRAPH_ANNOTATIONS.status.take(annotations, issues);
    let (spec, templates) = spec_from_hub(&graph.spec, preserved.as_ref())?;
    let status = graph.status.as_ref();
    let object = SpokeGraph {
        api_version: SpokeGraph::gvk().api_version(),
        kind: graph.kind.clone(),
        metadata,
        spec,
        status: status.map(|status| status::graph_from_hub(status, preserved_status.unwrap_or_default())),
    };
    Ok(Lowered { object, original_version, templates })
}

fn spec_to_hub(spoke: &SpokeSpec, services: &[Service<'_>], provenance: &mut Provenance) -> HubSpec {
    let spec = || FieldPath::field("spec");
    provenance.moved(|| (spec() / "env", spec() / "envs"));
    let topology = || spec() / "topologyConstraint";
    provenance.moved(|| (topology() / "clusterTopologyName", topology() / "topologyProfile"));
    let topology_constraint = spoke.topology_constraint.as_ref().map(|each| v1beta1::GraphTopologyConstraint {
        cluster_topology_name: each.topology_profile.clone(),
        pack_domain: each.pack_domain.clone(),
    });
    copy_fields!(spoke => HubSpec {
        provider_override, annotations, labels, priority_class_name, backend_framework, restart, experimental;
        components: components(services, provenance),
        env: spoke.envs.clone(),
        topology_constraint,
    })
}

fn components(services: &[Service<'_>], provenance: &mut Provenance) -> Vec<v1beta1::ComponentSpec> {
    provenance.made(|| (FieldPath::field("spec") / "components", FieldPath::field("spec") / "services"));
    let component = |(index, service): (usize, &Service<'_>)| {
        let location = ComponentLocation::Service { index, key: service.name };
        let mut mapper = PathMapper::new(location, provenance);
        mapper.moved(itself, itself);
        mapper.made(|at| at / "name", itself);
        service.to_hub(&mut mapper)
    };
    services.iter().enumerate().map(component).collect()
}

/// The services in the order of v1beta1; entries without a value are skipped.
fn services<'a>(
    spoke: &'a SpokeSpec,
    preserved: Option<&'a PreservedHub>,
    provenance: &Provenance,
) -> Vec<Service<'a>> {
    let by_name = preserved.map(|preserved| by_name(&preserved.sparse)).unwrap_or_default();
    let original_version = OriginalVersion::of(preserved);
    in_order(spoke, preserved.map(|preserved| preserved.spec.components.as_slice()))
        .into_iter()
        .map(|(key, service)| {
            Service::new(key, service, by_name.get(key.as_str()).copied(), original_version, provenance)
        })
        .collect()
}

/// The services that have a value. The order of v1beta1 is preserved only if it isn't that of the keys; new services
/// come last.
fn in_order<'a>(
    spoke: &'a SpokeSpec,
    preserved: Option<&[v1beta1::ComponentSpec]>,
) -> Vec<(&'a String, &'a v1alpha1::ComponentSpec)> {
    let services = spoke.services.iter().filter_map(|(key, service)| Some((key, service.as_ref()?)));
    let mut services: Vec<_> = services.collect();
    let Some(preserved) = preserved.filter(|components| !are_ascending(components)) else { return services };
    let mut places = HashMap::new();
    for (place, component) in preserved.iter().enumerate() {
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

/// The fields of a graph that v1beta1 lacks.
#[derive(Serialize)]
struct SparseSpec<'a> {
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pvcs: &'a [v1alpha1::Pvc],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    services: BTreeMap<&'a str, Option<Entry>>,
}

impl SparseSpec<'_> {
    fn is_empty(&self) -> bool {
        self.pvcs.is_empty() && self.services.is_empty()
    }
}

/// The fields that v1beta1 lacks: claims, entries without a value, and many fields of services; and whether the other
/// fields survive a round trip.
fn spoke_only_fields<'a>(spec: &'a SpokeSpec, services: &[Service<'a>]) -> (SparseSpec<'a>, RoundTrip) {
    let absent = spec.services.iter().filter(|(_, service)| service.is_none());
    let mut sparse = SparseSpec { pvcs: &spec.pvcs, services: absent.map(|(key, _)| (key.as_str(), None)).collect() };
    let mut round_trip = RoundTrip::Lossless;
    for service in services {
        let (fields, of_service) = service.spoke_only_fields();
        if !fields.is_empty() {
            sparse.services.insert(service.name, Some(fields));
        }
        round_trip = round_trip.and(if service.is_named_by_key() { RoundTrip::Untried } else { of_service });
    }
    (sparse, round_trip)
}

fn spec_from_hub(
    spec: &HubSpec,
    preserved: Option<&PreservedSpoke>,
) -> Result<(SpokeSpec, Vec<RoundTrip>), ConversionError> {
    let topology_constraint = spec.topology_constraint.as_ref().map(|each| v1alpha1::GraphTopologyConstraint {
        topology_profile: each.cluster_topology_name.clone(),
        pack_domain: each.pack_domain.clone(),
    });
    let (services, templates) = components_from_hub(spec, preserved)?;
    let spec = copy_fields!(spec => SpokeSpec {
        provider_override, annotations, labels, priority_class_name, backend_framework, restart, experimental;
        pvcs: preserved.map(|preserved| preserved.spec.pvcs.clone()).unwrap_or_default(),
        services,
        envs: spec.env.clone(),
        topology_constraint,
    });
    Ok((spec, templates))
}

/// Services by name.
type Services = BTreeMap<String, Option<v1alpha1::ComponentSpec>>;

/// The components by name with the keys that had no value, and whether each component's pod template survives.
fn components_from_hub(
    spec: &HubSpec,
    preserved: Option<&PreservedSpoke>,
) -> Result<(Services, Vec<RoundTrip>), ConversionError> {
    let (mut services, mut templates) = (BTreeMap::new(), Vec::with_capacity(spec.components.len()));
    for (index, component) in spec.components.iter().enumerate() {
        let (service, template) = component_from_hub(component, preserved);
        if services.insert(component.name.clone(), Some(service)).is_some() {
            return Err(duplicate(index, &component.name));
        }
        templates.push(template);
    }
    let kept = preserved.into_iter().flat_map(|preserved| &preserved.spec.services);
    for (key, _) in kept.filter(|(_, service)| service.is_none()) {
        services.entry(key.clone()).or_insert(None);
    }
    Ok((services, templates))
}

/// The service name is restored only if it differed from the key.
fn component_from_hub(
    component: &v1beta1::ComponentSpec,
    preserved: Option<&PreservedSpoke>,
) -> (v1alpha1::ComponentSpec, RoundTrip) {
    let name = &component.name;
    let kept = preserved.and_then(|preserved| {
        let sparse = object(object(&preserved.sparse, "services")?, name)?;
        Some((preserved.spec.services.get(name)?.as_ref()?, sparse))
    });
    let (mut service, template) = component::from_hub(component, kept);
    if let Some(own) = kept.map(|(typed, _)| &typed.service_name).filter(|own| !own.is_empty() && *own != name) {
        service.service_name.clone_from(own);
    }
    (service, template)
}

fn duplicate(index: usize, name: &str) -> ConversionError {
    ConversionError {
        path: (FieldPath::field("spec") / "components").index(index) / "name",
        message: format!("another component is called {name:?}; v1alpha1 keeps components by name"),
    }
}

/// The fields that v1alpha1 lacks, and whether the other fields survive a round trip. Components that aren't sorted by
/// name are all preserved for their order. In a graph that was never converted, each component with a pod template is
/// preserved, as the Go operator does.
fn hub_only_fields(spec: &HubSpec, lowered: &Lowered<SpokeGraph>) -> (Map<String, Value>, RoundTrip) {
    let all = !are_ascending(&spec.components);
    let (mut components, mut round_trip) = (Vec::new(), RoundTrip::Lossless);
    for (component, template) in spec.components.iter().zip(&lowered.templates) {
        let Some(Some(service)) = lowered.object.spec.services.get(&component.name) else { continue };
        let (mut fields, of_component) = component::hub_only_fields(component, service, *template);
        let is_marked = lowered.original_version == OriginalVersion::Hub && component.pod_template.is_some();
        if all || is_marked || !fields.is_empty() {
            fields.insert("name".into(), component.name.as_str().into());
            components.push(Value::Object(fields));
        }
        round_trip = round_trip.and(of_component);
    }
    let mut members = Map::new();
    if !components.is_empty() {
        members.insert("components".into(), components.into());
    }
    (members, round_trip)
}
