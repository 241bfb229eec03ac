//! The fields that services of a graph and standalone components share, but for those of the pod.

use dynamo_api::pod::PodTemplate;
use dynamo_api::{Quantity, Raw, v1alpha1, v1beta1};
use gateward::{FieldPath, Provenance, RoundTrip};
use serde_json::{Map, Value};
use v1alpha1::{ComponentSpec, SharedMemory};
use v1beta1::ComponentType;

use super::copy_fields::copy_fields;
use super::path_mapper::PathMapper;
use super::pod_template::{MovedService, OriginalVersion, with_spoke_only_fields};
use super::preserved::{Entry, entry, sparse};
use super::{experimental, pod_template};

/// A v1alpha1 component on its way to v1beta1.
pub(super) struct Service<'a> {
    /// The component's name in v1beta1.
    pub name: &'a str,
    spec: &'a ComponentSpec,
    /// The preserved v1beta1 fields.
    hub: Option<&'a Map<String, Value>>,
    /// The version of the first write.
    original_version: OriginalVersion,
    /// The same service, where its pod moves as text.
    moved: Option<MovedService<'a>>,
}

impl<'a> Service<'a> {
    /// Where it is recorded what came from where, nothing moves: each part is recorded as it is put together. Nor does it in
    /// an object that was written in v1beta1, which keeps less of how a service was split.
    pub fn new(
        name: &'a str,
        spec: &'a ComponentSpec,
        hub: Option<&'a Map<String, Value>>,
        original_version: OriginalVersion,
        provenance: &Provenance,
    ) -> Self {
        let may_move = original_version == OriginalVersion::Spoke && !provenance.is_recording();
        let moved = if may_move { MovedService::of(spec) } else { None };
        Self { name, spec, hub, original_version, moved }
    }

    /// Whether it has a name that is its key in the graph, which the Go operator drops.
    pub fn is_named_by_key(&self) -> bool {
        self.spec.service_name == self.name && !self.name.is_empty()
    }

    /// The component in v1beta1.
    pub fn to_hub(&self, mapper: &mut PathMapper<'_>) -> v1beta1::ComponentSpec {
        let service = self.spec;
        let (pod_template, frontend_sidecar) = self.pod(mapper);
        let adapter = service.scaling_adapter.as_ref().filter(|adapter| adapter.enabled);
        copy_fields!(service => v1beta1::ComponentSpec {
            runtime_version_override, global_dynamo_namespace, replicas, min_available, multinode, roles,
            provider_override, model_ref, epp_config, topology_constraint;
            name: self.name.to_owned(),
            component_type: component_type(service, mapper),
            shared_memory_size: shared_memory_size(service, mapper),
            scaling_adapter: adapter.map(|_| v1beta1::ScalingAdapter {}),
            frontend_sidecar,
            compilation_cache: compilation_cache(service, mapper),
            experimental: experimental::to_hub(service, self.hub, mapper),
            pod_template,
        })
    }

    /// The pod template and the name of the frontend sidecar's container.
    fn pod(&self, mapper: &mut PathMapper<'_>) -> (Option<Raw<PodTemplate>>, Option<String>) {
        if let Some(moved) = &self.moved {
            return (moved.template(), None);
        }
        let template = pod_template::to_hub(self.spec, self.hub, mapper);
        let sidecar = pod_template::frontend_sidecar(self.spec, self.hub, template.as_ref());
        (template.map(Raw::from), sidecar)
    }

    /// The fields that v1beta1 lacks, and whether the other fields survive a round trip.
    pub fn spoke_only_fields(&self) -> (Entry, RoundTrip) {
        let others = sparse(&spoke_only_part(self.spec, self.name));
        match &self.moved {
            Some(moved) => {
                let mut fields = moved.spoke_only_fields();
                fields.extend(entry(others));
                (fields, round_trip_of(self.spec))
            }
            None => (entry(with_spoke_only_fields(others, self.spec, self.original_version)), RoundTrip::Untried),
        }
    }
}

/// What an object is in v1alpha1, without the annotations that preserve fields.
pub(super) struct Lowered<T> {
    /// The object.
    pub object: T,
    /// The version of the first write.
    pub original_version: OriginalVersion,
    /// Whether the pod template of each component says by itself that it survives a round trip.
    pub templates: Vec<RoundTrip>,
}

/// Converts a v1beta1 component to v1alpha1 without its name, and says whether its pod template survives a round trip.
/// `preserved` has its preserved v1alpha1 fields, typed and as JSON.
pub(super) fn from_hub(
    component: &v1beta1::ComponentSpec,
    preserved: Option<(&ComponentSpec, &Map<String, Value>)>,
) -> (ComponentSpec, RoundTrip) {
    let mut service = live(component);
    let template = pod_template::from_hub(component, preserved, &mut service);
    if let Some((preserved, _)) = preserved {
        restore(preserved.clone(), &mut service);
    }
    (service, template)
}

/// The fields of a component that v1alpha1 lacks, without the name, and whether the other fields survive a round trip.
/// `service` is the component in v1alpha1, `template` whether its pod template says that it survives.
pub(super) fn hub_only_fields(
    component: &v1beta1::ComponentSpec,
    service: &ComponentSpec,
    template: RoundTrip,
) -> (Map<String, Value>, RoundTrip) {
    let (mut fields, round_trip) = pod_template::hub_only_fields(component, service, template);
    if let Some(experimental) = component.experimental.as_ref().and_then(experimental::hub_only) {
        fields.insert("experimental".into(), Value::Object(sparse(&experimental)));
    }
    (fields, round_trip)
}

/// Whether the fields outside of the pod survive a round trip of the Go operator.
fn round_trip_of(service: &ComponentSpec) -> RoundTrip {
    let is_half = half_of(ComponentType::Worker.as_str(), &service.component_type).is_some();
    let has_no_size = service.shared_memory.as_ref().is_some_and(|memory| memory.disabled && memory.size.is_none());
    if is_half || has_no_size { RoundTrip::Untried } else { RoundTrip::Lossless }
}

/// A worker that does one half of inference is of that type; the hub has no other subtypes.
fn component_type(service: &ComponentSpec, mapper: &mut PathMapper<'_>) -> Option<ComponentType> {
    let whole = Some(service.component_type.as_str()).filter(|text| !text.is_empty()).map(ComponentType::from);
    let half = half(service);
    let field = if half.is_some() { "subComponentType" } else { "componentType" };
    mapper.made(|at| at / "type", |at| at / field);
    half.or(whole)
}

/// The half of inference that a worker does.
fn half(service: &ComponentSpec) -> Option<ComponentType> {
    half_of(&service.component_type, &service.sub_component_type)
}

fn half_of(component_type: &str, detail: &str) -> Option<ComponentType> {
    let is_worker = ComponentType::from(component_type) == ComponentType::Worker;
    let is_half = |half: &ComponentType| matches!(half, ComponentType::Prefill | ComponentType::Decode);
    Some(ComponentType::from(detail)).filter(|half| is_worker && is_half(half))
}

/// Zero disables shared memory; a size of zero without `disabled` has no meaning.
fn shared_memory_size(service: &ComponentSpec, mapper: &mut PathMapper<'_>) -> Option<Quantity> {
    let memory = service.shared_memory.as_ref();
    let disabled = memory.is_some_and(|memory| memory.disabled);
    let field = if disabled { "disabled" } else { "size" };
    mapper.made(|at| at / "sharedMemorySize", |at| at / "sharedMemory" / field);
    let size = memory.and_then(|memory| memory.size.clone());
    if disabled { size.filter(is_zero).or_else(|| Some("0".into())) } else { size.filter(|size| !is_zero(size)) }
}

fn is_zero(size: &Quantity) -> bool {
    size.amount().is_ok_and(|amount| amount.is_zero())
}

fn shared_memory(size: &Quantity) -> SharedMemory {
    SharedMemory { disabled: is_zero(size), size: Some(size.clone()) }
}

/// The first mount with `useAsCompilationCache`.
fn compilation_cache(service: &ComponentSpec, mapper: &mut PathMapper<'_>) -> Option<v1beta1::CompilationCache> {
    let (index, mount) = service.volume_mounts.iter().enumerate().find(|(_, mount)| mount.use_as_compilation_cache)?;
    let written = |at: FieldPath| (at / "volumeMounts").index(index);
    mapper.made(|at| at / "compilationCache", written);
    mapper.made(|at| at / "compilationCache" / "pvcName", |at| written(at) / "name");
    mapper.made(|at| at / "compilationCache" / "mountPath", |at| written(at) / "mountPoint");
    Some(v1beta1::CompilationCache { pvc_name: mount.name.clone(), mount_path: mount.mount_point.clone() })
}

/// The fields outside of the pod.
fn live(component: &v1beta1::ComponentSpec) -> ComponentSpec {
    let (component_type, sub_component_type) = component.component_type.as_ref().map_or_else(Default::default, types);
    let experimental = component.experimental.as_ref();
    copy_fields!(component => ComponentSpec {
        runtime_version_override, global_dynamo_namespace, replicas, min_available, multinode, roles,
        provider_override, model_ref, epp_config, topology_constraint;
        component_type,
        sub_component_type,
        shared_memory: component.shared_memory_size.as_ref().map(shared_memory),
        scaling_adapter: component.scaling_adapter.as_ref().map(|_| v1alpha1::ScalingAdapter { enabled: true }),
        ..experimental.map(experimental::from_hub).unwrap_or_default()
    })
}

fn types(component_type: &ComponentType) -> (String, String) {
    match component_type {
        ComponentType::Prefill | ComponentType::Decode => {
            (ComponentType::Worker.as_str().into(), component_type.as_str().into())
        }
        whole => (whole.as_str().into(), String::new()),
    }
}

/// The fields of `service` that v1beta1 lacks, or can't represent as disabled.
fn spoke_only_part(service: &ComponentSpec, name: &str) -> ComponentSpec {
    let is_detail = half(service).is_none();
    copy_fields!(service => ComponentSpec {
        annotations, labels, dynamo_namespace, autoscaling, ingress;
        service_name: Some(&service.service_name).filter(|own| *own != name).cloned().unwrap_or_default(),
        sub_component_type: Some(&service.sub_component_type).filter(|_| is_detail).cloned().unwrap_or_default(),
        shared_memory: service.shared_memory.clone().filter(is_ambiguous),
        scaling_adapter: service.scaling_adapter.clone().filter(|adapter| !adapter.enabled),
        ..experimental::disabled(service)
    })
}

/// Whether it has both a size and `disabled`, or neither.
fn is_ambiguous(memory: &SharedMemory) -> bool {
    let has_size = memory.size.as_ref().is_some_and(|size| !is_zero(size));
    has_size == memory.disabled
}

/// Restores the fields that the live component lacks, or has with the same meaning. A subtype that would turn a worker
/// into prefill or decode didn't belong to a worker, and isn't restored.
fn restore(preserved: ComponentSpec, service: &mut ComponentSpec) {
    experimental::restore(&preserved, service);
    service.annotations = preserved.annotations;
    service.labels = preserved.labels;
    service.dynamo_namespace = preserved.dynamo_namespace;
    service.autoscaling = preserved.autoscaling;
    service.ingress = preserved.ingress;
    if service.sub_component_type.is_empty()
        && half_of(&service.component_type, &preserved.sub_component_type).is_none()
    {
        service.sub_component_type = preserved.sub_component_type;
    }
    let live = service.shared_memory.take();
    service.shared_memory = preserved.shared_memory.filter(|own| still_holds(own, live.as_ref())).or(live);
    let disabled = preserved.scaling_adapter.filter(|adapter| !adapter.enabled);
    service.scaling_adapter = service.scaling_adapter.take().or(disabled);
}

/// An empty block means none; a disabled one with a size means the zero that it is converted to.
fn still_holds(preserved: &SharedMemory, live: Option<&SharedMemory>) -> bool {
    is_ambiguous(preserved)
        && match live {
            None => !preserved.disabled,
            Some(live) => preserved.disabled && live.disabled && live.size == Some("0".into()),
        }
}
