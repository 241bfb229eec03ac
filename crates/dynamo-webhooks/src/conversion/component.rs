//! Components: the services of a graph, and the spec of a DynamoComponentDeployment.

use dynamo_api::constants::FRONTEND_SIDECAR_CONTAINER;
use dynamo_api::{Quantity, v1alpha1, v1beta1};
use gateward_core::{FieldPath, Provenance, Resource};
use v1alpha1::ComponentSpec;
use v1beta1::ComponentType;

use super::trail::{Place, Trail};
use super::{experimental, pod_template, status};

/// Reads a standalone component. Its name is `serviceName`, or the object's own where that is empty.
pub(super) fn lift(
    written: &v1alpha1::DynamoComponentDeployment,
    provenance: &mut Provenance,
) -> v1beta1::DynamoComponentDeployment {
    let service = &written.spec.component;
    let unnamed = service.service_name.is_empty();
    let (name, origin) = if unnamed {
        (&written.metadata.name, FieldPath::field("metadata") / "name")
    } else {
        (&service.service_name, FieldPath::field("spec") / "serviceName")
    };
    provenance.made(|| (FieldPath::field("spec") / "name", origin));
    let component = spec(name, service, &mut Trail::new(Place::Standalone, provenance));
    v1beta1::DynamoComponentDeployment {
        api_version: v1beta1::DynamoComponentDeployment::gvk().api_version(),
        kind: written.kind.clone(),
        metadata: written.metadata.clone(),
        spec: v1beta1::DynamoComponentDeploymentSpec {
            backend_framework: written.spec.backend_framework.clone(),
            component,
        },
        status: written.status.as_ref().map(status::component),
    }
}

/// Reads the fields that services and standalone components share.
pub(super) fn spec(name: &str, service: &ComponentSpec, trail: &mut Trail<'_>) -> v1beta1::ComponentSpec {
    v1beta1::ComponentSpec {
        name: name.to_owned(),
        component_type: component_type(service, trail),
        runtime_version_override: service.runtime_version_override.clone(),
        global_dynamo_namespace: service.global_dynamo_namespace,
        pod_template: pod_template::lift(service, trail),
        replicas: service.replicas,
        min_available: service.min_available,
        multinode: service.multinode.clone(),
        roles: service.roles.clone(),
        provider_override: service.provider_override.clone(),
        shared_memory_size: shared_memory_size(service, trail),
        model_ref: service.model_ref.clone(),
        scaling_adapter: scaling_adapter(service),
        epp_config: service.epp_config.clone(),
        frontend_sidecar: service.frontend_sidecar.as_ref().map(|_| FRONTEND_SIDECAR_CONTAINER.to_owned()),
        compilation_cache: compilation_cache(service, trail),
        topology_constraint: service.topology_constraint.clone(),
        experimental: experimental::lift(service, trail),
    }
}

/// A worker that does one half of inference is of that type; any other detail is not the hub's business.
fn component_type(service: &ComponentSpec, trail: &mut Trail<'_>) -> Option<ComponentType> {
    let whole = Some(service.component_type.as_str()).filter(|text| !text.is_empty()).map(ComponentType::from);
    let half = Some(ComponentType::from(service.sub_component_type.as_str()))
        .filter(|half| matches!(half, ComponentType::Prefill | ComponentType::Decode))
        .filter(|_| whole == Some(ComponentType::Worker));
    let field = if half.is_some() { "subComponentType" } else { "componentType" };
    trail.made(|at| at / "type", |at| at / field);
    half.or(whole)
}

/// Zero stands for none; a size of zero alone says nothing.
fn shared_memory_size(service: &ComponentSpec, trail: &mut Trail<'_>) -> Option<Quantity> {
    let disabled = service.shared_memory.as_ref().is_some_and(|memory| memory.disabled);
    let field = if disabled { "disabled" } else { "size" };
    trail.made(|at| at / "sharedMemorySize", |at| at / "sharedMemory" / field);
    if disabled {
        return Some("0".into());
    }
    let size = service.shared_memory.as_ref()?.size.as_ref()?;
    let is_zero = size.amount().is_ok_and(|amount| amount.is_zero());
    (!is_zero).then(|| size.clone())
}

fn scaling_adapter(service: &ComponentSpec) -> Option<v1beta1::ScalingAdapter> {
    service.scaling_adapter.as_ref().filter(|adapter| adapter.enabled).map(|_| v1beta1::ScalingAdapter {})
}

/// The first mount that is to hold compiled kernels.
fn compilation_cache(service: &ComponentSpec, trail: &mut Trail<'_>) -> Option<v1beta1::CompilationCache> {
    let (index, mount) = service.volume_mounts.iter().enumerate().find(|(_, mount)| mount.use_as_compilation_cache)?;
    let written = |at: FieldPath| (at / "volumeMounts").index(index);
    trail.made(|at| at / "compilationCache", written);
    trail.made(|at| at / "compilationCache" / "pvcName", |at| written(at) / "name");
    trail.made(|at| at / "compilationCache" / "mountPath", |at| written(at) / "mountPoint");
    Some(v1beta1::CompilationCache { pvc_name: mount.name.clone(), mount_path: mount.mount_point.clone() })
}
