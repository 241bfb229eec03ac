//! Records the v1alpha1 fields that v1beta1 fields come from.

use gateward_core::{FieldPath, Provenance};

use super::{HubObject, SpokeObject, profiling_job};

/// Records the paths in `spoke` of fields of `hub`, where they differ.
pub(super) fn record(spoke: &SpokeObject, hub: &HubObject, provenance: &mut Provenance) {
    if provenance.is_recording() {
        image(spoke, provenance);
        configuration(provenance);
        job(hub, provenance);
        status(provenance);
    }
}

fn spec(field: &'static str) -> FieldPath {
    FieldPath::field("spec") / field
}

fn profiling(field: &'static str) -> FieldPath {
    spec("profilingConfig") / field
}

fn image(spoke: &SpokeObject, provenance: &mut Provenance) {
    let of_workers = spoke.spec.profiling_config.profiler_image().is_empty()
        && spoke.spec.deployment_overrides.as_ref().is_some_and(|overrides| !overrides.workers_image.is_empty());
    let written = || if of_workers { spec("deploymentOverrides") / "workersImage" } else { profiling("profilerImage") };
    provenance.moved(|| (spec("image"), written()));
    provenance.made(|| (spec("features") / "mocker", spec("useMocker")));
}

fn configuration(provenance: &mut Provenance) {
    let targets = || profiling("config") / "sla";
    let cache = || profiling("config") / "deployment" / "modelCache";
    provenance.made(|| (spec("sla"), targets()));
    provenance.made(|| (spec("workload"), targets()));
    provenance.made(|| (spec("modelCache"), cache()));
    provenance.moved(|| (spec("features") / "planner", profiling("config") / "planner"));
    for name in ["ttft", "itl", "optimizationType"] {
        provenance.moved(|| (spec("sla") / name, targets() / name));
    }
    for name in ["isl", "osl"] {
        provenance.moved(|| (spec("workload") / name, targets() / name));
    }
    for (name, written) in
        [("pvcName", "pvcName"), ("pvcModelPath", "modelPathInPvc"), ("pvcMountPath", "pvcMountPath")]
    {
        provenance.moved(|| (spec("modelCache") / name, cache() / written));
    }
}

fn job(hub: &HubObject, provenance: &mut Provenance) {
    let Some(job) = hub.spec.overrides.as_ref().and_then(|overrides| overrides.profiling_job.as_ref()) else { return };
    let at = || spec("overrides") / "profilingJob";
    let pod = || at() / "template" / "spec";
    provenance.made(|| (at(), spec("profilingConfig")));
    for name in ["tolerations", "nodeSelector"] {
        provenance.moved(|| (pod() / name, profiling(name)));
    }
    if let Some(index) = profiling_job::profiler(job) {
        let container = || (pod() / "containers").index(index);
        provenance.moved(|| (container() / "resources", profiling("resources")));
    }
}

fn status(provenance: &mut Provenance) {
    let at = |field: &'static str| FieldPath::field("status") / field;
    provenance.made(|| (at("phase"), at("state")));
    provenance.moved(|| (at("dgdName"), at("deployment") / "name"));
    provenance.made(|| (at("profilingResults"), at("generatedDeployment")));
    provenance.moved(|| (at("profilingResults") / "selectedConfig", at("generatedDeployment")));
}
