//! Records the v1alpha1 fields that v1beta1 fields come from.

use std::sync::LazyLock;

use gateward::{FieldPath, Provenance, Segment};

use super::profiling_job;
use super::versions::{HubObject, SpokeObject};

/// A field of v1beta1 and that of v1alpha1, each as its path.
type Paths = LazyLock<Vec<(FieldPath, FieldPath)>>;

/// Fields of v1beta1 that are fields of v1alpha1, with everything below.
static MOVED: Paths = LazyLock::new(|| {
    paths(&[
        ("spec.features.planner", "spec.profilingConfig.config.planner"),
        ("spec.sla.ttft", "spec.profilingConfig.config.sla.ttft"),
        ("spec.sla.itl", "spec.profilingConfig.config.sla.itl"),
        ("spec.sla.optimizationType", "spec.profilingConfig.config.sla.optimizationType"),
        ("spec.workload.isl", "spec.profilingConfig.config.sla.isl"),
        ("spec.workload.osl", "spec.profilingConfig.config.sla.osl"),
        ("spec.modelCache.pvcName", "spec.profilingConfig.config.deployment.modelCache.pvcName"),
        ("spec.modelCache.pvcModelPath", "spec.profilingConfig.config.deployment.modelCache.modelPathInPvc"),
        ("spec.modelCache.pvcMountPath", "spec.profilingConfig.config.deployment.modelCache.pvcMountPath"),
        ("spec.overrides.profilingJob.template.spec.tolerations", "spec.profilingConfig.tolerations"),
        ("spec.overrides.profilingJob.template.spec.nodeSelector", "spec.profilingConfig.nodeSelector"),
        ("status.dgdName", "status.deployment.name"),
        ("status.profilingResults.selectedConfig", "status.generatedDeployment"),
    ])
});

/// Fields of v1beta1 that are made from fields of v1alpha1.
static MADE: Paths = LazyLock::new(|| {
    paths(&[
        ("spec.features.mocker", "spec.useMocker"),
        ("spec.sla", "spec.profilingConfig.config.sla"),
        ("spec.workload", "spec.profilingConfig.config.sla"),
        ("spec.modelCache", "spec.profilingConfig.config.deployment.modelCache"),
        ("spec.overrides.profilingJob", "spec.profilingConfig"),
        ("status.phase", "status.state"),
        ("status.profilingResults", "status.generatedDeployment"),
    ])
});

/// Records the paths in `spoke` of fields of `hub`, where they differ.
pub(super) fn record(spoke: &SpokeObject, hub: &HubObject, provenance: &mut Provenance) {
    if !provenance.is_recording() {
        return;
    }
    for paths in &*MOVED {
        provenance.moved(|| paths.clone());
    }
    for paths in &*MADE {
        provenance.made(|| paths.clone());
    }
    let of_workers = spoke.spec.profiling_config.profiler_image().is_empty()
        && spoke.spec.deployment_overrides.as_ref().is_some_and(|overrides| !overrides.workers_image.is_empty());
    let image = if of_workers { "spec.deploymentOverrides.workersImage" } else { "spec.profilingConfig.profilerImage" };
    provenance.moved(|| (path("spec.image"), path(image)));
    let job = hub.spec.overrides.as_ref().and_then(|overrides| overrides.profiling_job.as_ref());
    if let Some(index) = job.and_then(profiling_job::profiler) {
        let container = || path("spec.overrides.profilingJob.template.spec.containers").index(index);
        provenance.moved(|| (container() / "resources", path("spec.profilingConfig.resources")));
    }
}

fn paths(names: &[(&'static str, &'static str)]) -> Vec<(FieldPath, FieldPath)> {
    names.iter().map(|(hub, spoke)| (path(hub), path(spoke))).collect()
}

fn path(members: &'static str) -> FieldPath {
    members.split('.').map(|name| Segment::Field(name.into())).collect()
}
