//! Preview features: members of the service on one side, of a block `experimental` on the other.

use dynamo_api::{v1alpha1, v1beta1};
use serde_json::{Map, Value};
use v1alpha1::ComponentSpec;
use v1beta1::Experimental;

use super::trail::{Trail, itself};

/// The block; `None` where no feature is in use. A checkpoint counts also where it is off. Of what was kept, Grove's
/// part comes back, and a block that held nothing.
pub(super) fn lift(
    service: &ComponentSpec,
    hub: Option<&Map<String, Value>>,
    trail: &mut Trail<'_>,
) -> Option<Experimental> {
    record(trail);
    let kept = hub.and_then(|hub| Experimental::deserialize(hub.get("experimental")?).ok());
    let is_kept = kept.as_ref().is_some_and(|kept| remainder(kept).is_some());
    let experimental = Experimental {
        gpu_memory_service: service.gpu_memory_service.as_ref().and_then(gpu_memory_service),
        failover: service.failover.as_ref().and_then(failover),
        checkpoint: service.checkpoint.as_ref().map(checkpoint),
        grove: kept.and_then(|kept| kept.grove),
    };
    (is_kept || experimental != Experimental::default()).then_some(experimental)
}

/// The features as members of a service, of which nothing else is set.
pub(super) fn lower(experimental: &Experimental) -> ComponentSpec {
    ComponentSpec {
        gpu_memory_service: experimental.gpu_memory_service.as_ref().map(lowered_gpu_memory_service),
        failover: experimental.failover.as_ref().map(lowered_failover),
        checkpoint: experimental.checkpoint.as_ref().map(lowered_checkpoint),
        ..ComponentSpec::default()
    }
}

/// What v1alpha1 can't say of the block: Grove's part, and that there is a block at all where no feature shows it.
pub(super) fn remainder(experimental: &Experimental) -> Option<Experimental> {
    let Experimental { gpu_memory_service, failover, checkpoint, grove } = experimental;
    let shows = gpu_memory_service.is_some() || failover.is_some() || checkpoint.is_some();
    (!shows || grove.is_some()).then(|| Experimental { grove: grove.clone(), ..Experimental::default() })
}

/// The features of `service` that are off, for which v1beta1 has no words. Nothing else is set.
pub(super) fn disabled(service: &ComponentSpec) -> ComponentSpec {
    let is_off = |enabled: Option<bool>| enabled != Some(true);
    ComponentSpec {
        gpu_memory_service: service.gpu_memory_service.clone().filter(|feature| is_off(feature.enabled)),
        failover: service.failover.clone().filter(|feature| is_off(feature.enabled)),
        ..ComponentSpec::default()
    }
}

/// Puts back features that are off, where nothing live takes their place.
pub(super) fn restore(
    gpu_memory_service: Option<v1alpha1::GpuMemoryService>,
    failover: Option<v1alpha1::Failover>,
    checkpoint: Option<v1alpha1::Checkpoint>,
    service: &mut ComponentSpec,
) {
    if service.gpu_memory_service.is_none() {
        service.gpu_memory_service = gpu_memory_service.filter(|kept| kept.enabled != Some(true));
    }
    if service.failover.is_none() {
        service.failover = failover.filter(|kept| kept.enabled != Some(true));
    }
    if service.checkpoint.is_none() {
        service.checkpoint = checkpoint.filter(|kept| !kept.enabled);
    }
}

fn record(trail: &mut Trail<'_>) {
    trail.made(|at| at / "experimental", itself);
    for feature in ["gpuMemoryService", "failover", "checkpoint"] {
        trail.moved(|at| at / "experimental" / feature, |at| at / feature);
    }
}

fn gpu_memory_service(service: &v1alpha1::GpuMemoryService) -> Option<v1beta1::GpuMemoryService> {
    service.enabled?.then(|| v1beta1::GpuMemoryService {
        mode: service.mode.as_ref().map(mode),
        device_class_name: service.device_class_name.clone(),
        extra_client_containers: service.extra_client_containers.clone(),
        extra_client_pods: service.extra_client_pods.clone(),
    })
}

fn lowered_gpu_memory_service(service: &v1beta1::GpuMemoryService) -> v1alpha1::GpuMemoryService {
    v1alpha1::GpuMemoryService {
        enabled: Some(true),
        mode: service.mode.as_ref().map(lowered_mode),
        device_class_name: service.device_class_name.clone(),
        extra_client_containers: service.extra_client_containers.clone(),
        extra_client_pods: service.extra_client_pods.clone(),
    }
}

fn failover(failover: &v1alpha1::Failover) -> Option<v1beta1::Failover> {
    failover
        .enabled?
        .then(|| v1beta1::Failover { mode: failover.mode.as_ref().map(mode), num_shadows: failover.num_shadows })
}

fn lowered_failover(failover: &v1beta1::Failover) -> v1alpha1::Failover {
    v1alpha1::Failover {
        enabled: Some(true),
        mode: failover.mode.as_ref().map(lowered_mode),
        num_shadows: failover.num_shadows,
    }
}

fn mode(mode: &v1alpha1::PodMode) -> v1beta1::PodMode {
    match mode {
        v1alpha1::PodMode::IntraPod => v1beta1::PodMode::IntraPod,
        v1alpha1::PodMode::InterPod => v1beta1::PodMode::InterPod,
        v1alpha1::PodMode::Other(text) => v1beta1::PodMode::Other(text.clone()),
    }
}

fn lowered_mode(mode: &v1beta1::PodMode) -> v1alpha1::PodMode {
    match mode {
        v1beta1::PodMode::IntraPod => v1alpha1::PodMode::IntraPod,
        v1beta1::PodMode::InterPod => v1alpha1::PodMode::InterPod,
        v1beta1::PodMode::Other(text) => v1alpha1::PodMode::Other(text.clone()),
    }
}

fn checkpoint(checkpoint: &v1alpha1::Checkpoint) -> v1beta1::Checkpoint {
    v1beta1::Checkpoint {
        enabled: Some(checkpoint.enabled),
        mode: checkpoint.mode.clone(),
        startup_policy: checkpoint.startup_policy.clone(),
        deletion_policy: checkpoint.deletion_policy.clone(),
        checkpoint_ref: checkpoint.checkpoint_ref.clone(),
        identity: checkpoint.identity.clone(),
        target_container_name: checkpoint.target_container_name.clone(),
        job: checkpoint.job.clone(),
    }
}

fn lowered_checkpoint(checkpoint: &v1beta1::Checkpoint) -> v1alpha1::Checkpoint {
    v1alpha1::Checkpoint {
        enabled: checkpoint.enabled == Some(true),
        mode: checkpoint.mode.clone(),
        startup_policy: checkpoint.startup_policy.clone(),
        deletion_policy: checkpoint.deletion_policy.clone(),
        checkpoint_ref: checkpoint.checkpoint_ref.clone(),
        identity: checkpoint.identity.clone(),
        target_container_name: checkpoint.target_container_name.clone(),
        job: checkpoint.job.clone(),
    }
}
