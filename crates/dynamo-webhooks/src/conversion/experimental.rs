//! Preview features: members of the service on one side, of a block `experimental` on the other.

use dynamo_api::{v1alpha1, v1beta1};
use v1alpha1::ComponentSpec;

use super::trail::{Trail, itself};

/// The block; `None` where no feature is in use. A checkpoint counts also where it is off.
pub(super) fn lift(service: &ComponentSpec, trail: &mut Trail<'_>) -> Option<v1beta1::Experimental> {
    record(trail);
    let gpu_memory_service = service.gpu_memory_service.as_ref().and_then(gpu_memory_service);
    let failover = service.failover.as_ref().and_then(failover);
    let checkpoint = service.checkpoint.as_ref().map(checkpoint);
    let experimental = v1beta1::Experimental { gpu_memory_service, failover, grove: None, checkpoint };
    (experimental != v1beta1::Experimental::default()).then_some(experimental)
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

fn failover(failover: &v1alpha1::Failover) -> Option<v1beta1::Failover> {
    failover
        .enabled?
        .then(|| v1beta1::Failover { mode: failover.mode.as_ref().map(mode), num_shadows: failover.num_shadows })
}

fn mode(mode: &v1alpha1::PodMode) -> v1beta1::PodMode {
    match mode {
        v1alpha1::PodMode::IntraPod => v1beta1::PodMode::IntraPod,
        v1alpha1::PodMode::InterPod => v1beta1::PodMode::InterPod,
        v1alpha1::PodMode::Other(text) => v1beta1::PodMode::Other(text.clone()),
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
