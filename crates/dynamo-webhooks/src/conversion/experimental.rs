//! Preview features: members of the service on one side, of a block `experimental` on the other.

use dynamo_api::{v1alpha1, v1beta1};
use serde_json::{Map, Value};
use v1alpha1::ComponentSpec;
use v1beta1::Experimental;

use super::copy_fields::copy_fields;
use super::path_mapper::{PathMapper, itself};

/// The block; `None` if no feature is in use. A checkpoint counts even if it is disabled. Grove's part and an empty block
/// are restored.
pub(super) fn to_hub(
    service: &ComponentSpec,
    hub: Option<&Map<String, Value>>,
    mapper: &mut PathMapper<'_>,
) -> Option<Experimental> {
    record(mapper);
    let preserved = hub.and_then(|hub| Experimental::deserialize(hub.get("experimental")?).ok());
    let is_preserved = preserved.as_ref().is_some_and(|preserved| hub_only(preserved).is_some());
    let experimental = Experimental {
        gpu_memory_service: service.gpu_memory_service.as_ref().and_then(gpu_memory_service),
        failover: service.failover.as_ref().and_then(failover),
        checkpoint: service.checkpoint.as_ref().map(checkpoint),
        grove: preserved.and_then(|preserved| preserved.grove),
    };
    (is_preserved || experimental != Experimental::default()).then_some(experimental)
}

/// The features as members of a service, of which nothing else is set.
pub(super) fn from_hub(experimental: &Experimental) -> ComponentSpec {
    ComponentSpec {
        gpu_memory_service: experimental.gpu_memory_service.as_ref().map(gpu_memory_service_from_hub),
        failover: experimental.failover.as_ref().map(failover_from_hub),
        checkpoint: experimental.checkpoint.as_ref().map(checkpoint_from_hub),
        ..ComponentSpec::default()
    }
}

/// The fields that v1alpha1 lacks: Grove's part, and a block without features.
pub(super) fn hub_only(experimental: &Experimental) -> Option<Experimental> {
    let Experimental { gpu_memory_service, failover, checkpoint, grove } = experimental;
    let shows = gpu_memory_service.is_some() || failover.is_some() || checkpoint.is_some();
    (!shows || grove.is_some()).then(|| Experimental { grove: grove.clone(), ..Experimental::default() })
}

/// The disabled features of `service`, which v1beta1 can't represent. Nothing else is set.
pub(super) fn disabled(service: &ComponentSpec) -> ComponentSpec {
    let is_off = |enabled: Option<bool>| enabled != Some(true);
    ComponentSpec {
        gpu_memory_service: service.gpu_memory_service.clone().filter(|feature| is_off(feature.enabled)),
        failover: service.failover.clone().filter(|feature| is_off(feature.enabled)),
        ..ComponentSpec::default()
    }
}

/// Restores disabled features, unless a live one replaces them.
pub(super) fn restore(preserved: &ComponentSpec, service: &mut ComponentSpec) {
    let ComponentSpec { gpu_memory_service, failover, .. } = disabled(preserved);
    let checkpoint = preserved.checkpoint.clone().filter(|preserved| !preserved.enabled);
    service.gpu_memory_service = service.gpu_memory_service.take().or(gpu_memory_service);
    service.failover = service.failover.take().or(failover);
    service.checkpoint = service.checkpoint.take().or(checkpoint);
}

fn record(mapper: &mut PathMapper<'_>) {
    mapper.made(|at| at / "experimental", itself);
    for feature in ["gpuMemoryService", "failover", "checkpoint"] {
        mapper.moved(|at| at / "experimental" / feature, |at| at / feature);
    }
}

fn gpu_memory_service(service: &v1alpha1::GpuMemoryService) -> Option<v1beta1::GpuMemoryService> {
    service.enabled?.then(|| {
        copy_fields!(service => v1beta1::GpuMemoryService {
            device_class_name, extra_client_containers, extra_client_pods;
            mode: service.mode.as_ref().map(mode),
        })
    })
}

fn gpu_memory_service_from_hub(service: &v1beta1::GpuMemoryService) -> v1alpha1::GpuMemoryService {
    copy_fields!(service => v1alpha1::GpuMemoryService {
        device_class_name, extra_client_containers, extra_client_pods;
        enabled: Some(true),
        mode: service.mode.as_ref().map(mode_from_hub),
    })
}

fn failover(failover: &v1alpha1::Failover) -> Option<v1beta1::Failover> {
    let (mode, num_shadows) = (failover.mode.as_ref().map(mode), failover.num_shadows);
    failover.enabled?.then_some(v1beta1::Failover { mode, num_shadows })
}

fn failover_from_hub(failover: &v1beta1::Failover) -> v1alpha1::Failover {
    let mode = failover.mode.as_ref().map(mode_from_hub);
    v1alpha1::Failover { enabled: Some(true), mode, num_shadows: failover.num_shadows }
}

fn mode(mode: &v1alpha1::PodMode) -> v1beta1::PodMode {
    match mode {
        v1alpha1::PodMode::IntraPod => v1beta1::PodMode::IntraPod,
        v1alpha1::PodMode::InterPod => v1beta1::PodMode::InterPod,
        v1alpha1::PodMode::Other(text) => v1beta1::PodMode::Other(text.clone()),
    }
}

fn mode_from_hub(mode: &v1beta1::PodMode) -> v1alpha1::PodMode {
    match mode {
        v1beta1::PodMode::IntraPod => v1alpha1::PodMode::IntraPod,
        v1beta1::PodMode::InterPod => v1alpha1::PodMode::InterPod,
        v1beta1::PodMode::Other(text) => v1alpha1::PodMode::Other(text.clone()),
    }
}

fn checkpoint(checkpoint: &v1alpha1::Checkpoint) -> v1beta1::Checkpoint {
    copy_fields!(checkpoint => v1beta1::Checkpoint {
        mode, startup_policy, deletion_policy, checkpoint_ref, identity, target_container_name, job;
        enabled: Some(checkpoint.enabled),
    })
}

fn checkpoint_from_hub(checkpoint: &v1beta1::Checkpoint) -> v1alpha1::Checkpoint {
    copy_fields!(checkpoint => v1alpha1::Checkpoint {
        mode, startup_policy, deletion_policy, checkpoint_ref, identity, target_container_name, job;
        enabled: checkpoint.enabled == Some(true),
    })
}
