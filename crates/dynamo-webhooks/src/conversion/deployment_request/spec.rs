//! The spec, and the fields of it that only one version has.

use dynamo_api::v1alpha1::{Backend as SpokeBackend, DeploymentOverrides, ProfilingConfig};
use dynamo_api::v1beta1::{Backend, Features, Mocker, Overrides, Sla, Workload};
use serde_json::{Map, Value};

use super::profiling_job::{self, ProfilerPod};
use super::versions::{HubSpec, SpokeSpec};
use super::{free_form, profiling_config};
use crate::conversion::copy_fields::copy_fields;

/// The members of a profiling job that v1alpha1 lacks.
pub(super) type JobRest = Map<String, Value>;

/// Converts a v1alpha1 spec to v1beta1, with the `preserved` v1beta1 fields.
pub(super) fn to_hub(spoke: &SpokeSpec, preserved: &HubSpec) -> HubSpec {
    if *spoke == SpokeSpec::default() && *preserved == HubSpec::default() {
        return HubSpec::default();
    }
    let projection =
        spoke.profiling_config.config.as_ref().map(|config| profiling_config::split(config).0).unwrap_or_default();
    copy_fields!(spoke => HubSpec {
        model, runtime_version_override;
        backend: spoke.backend.as_ref().map(|backend| Backend::from(backend.as_str())),
        image: image(spoke).to_owned(),
        hardware: preserved.hardware.clone(),
        workload: workload(projection.workload, preserved),
        sla: sla(projection.sla, preserved),
        overrides: overrides(spoke, preserved),
        features: features(spoke, projection.planner, preserved),
        model_cache: projection.model_cache,
        search_strategy: preserved.search_strategy.clone(),
        auto_apply: Some(spoke.auto_apply),
    })
}

/// The fields that v1beta1 lacks.
pub(super) fn spoke_only(spoke: &SpokeSpec) -> SpokeSpec {
    let profiling = &spoke.profiling_config;
    SpokeSpec {
        profiling_config: copy_fields!(profiling => ProfilingConfig {
            config_map_ref, output_pvc;
            config: profiling.config.as_ref().and_then(|config| profiling_config::split(config).1),
            ..ProfilingConfig::default()
        }),
        enable_gpu_discovery: spoke.enable_gpu_discovery,
        deployment_overrides: spoke.deployment_overrides.clone().filter(|it| *it != DeploymentOverrides::default()),
        ..SpokeSpec::default()
    }
}

/// Converts a v1beta1 spec to v1alpha1, with the `preserved` v1alpha1 fields. Also the rest of its profiling job, if there
/// is one that can be read.
pub(super) fn from_hub(hub: &HubSpec, preserved: &SpokeSpec) -> (SpokeSpec, Option<JobRest>) {
    // A partial object without a spec.
    if *hub == HubSpec::default() {
        return (SpokeSpec::default(), None);
    }
    let mocker = hub.features.as_ref().and_then(|features| features.mocker.as_ref());
    let job = hub.overrides.as_ref().and_then(|overrides| overrides.profiling_job.as_ref());
    let (pod, rest) = job.and_then(profiling_job::split).unzip();
    let spoke = copy_fields!(hub => SpokeSpec {
        model, runtime_version_override;
        backend: hub.backend.as_ref().map(|backend| SpokeBackend::from(backend.as_str())),
        use_mocker: mocker.is_some_and(|mocker| mocker.enabled),
        profiling_config: profiling(hub, pod.unwrap_or_default(), &preserved.profiling_config),
        enable_gpu_discovery: preserved.enable_gpu_discovery,
        auto_apply: hub.auto_apply.unwrap_or(true),
        deployment_overrides: preserved
            .deployment_overrides
            .as_ref()
            .and_then(|preserved| deployment_overrides(hub, preserved)),
    });
    (spoke, rest)
}

/// The spec with the image that v1alpha1 requires, which may be empty. A partial object, which has no model, needs none.
pub(super) fn with_image(mut spoke: SpokeSpec) -> SpokeSpec {
    if spoke.model.is_some() {
        spoke.profiling_config.profiler_image.get_or_insert_default();
    }
    spoke
}

/// The fields that v1alpha1 lacks. `job` is the rest of the profiling job.
pub(super) fn hub_only(hub: &HubSpec, job: Option<JobRest>) -> HubSpec {
    let sla = hub.sla.as_ref().and_then(|sla| sla.e2e_latency);
    let workload = hub.workload.clone().map(|workload| Workload { isl: None, osl: None, ..workload });
    let features = hub.features.as_ref().map(|features| Features {
        planner: features.planner.clone().filter(free_form::is_unreadable),
        kv_router: features.kv_router.clone(),
        mocker: features.mocker.clone().filter(|mocker| !mocker.enabled),
    });
    HubSpec {
        hardware: hub.hardware.clone(),
        workload: workload.filter(|rest| *rest != Workload::default()),
        sla: sla.map(|latency| Sla { e2e_latency: Some(latency), ..Sla::default() }),
        overrides: rest_of_overrides(hub, job),
        features: features.filter(|rest| *rest != Features::default()),
        search_strategy: hub.search_strategy.clone(),
        ..HubSpec::default()
    }
}

/// The image of the profiler, or else that of the workers.
fn image(spoke: &SpokeSpec) -> &str {
    let of_workers = spoke.deployment_overrides.as_ref().map_or("", |overrides| overrides.workers_image.as_str());
    let of_profiler = spoke.profiling_config.profiler_image();
    if of_profiler.is_empty() { of_workers } else { of_profiler }
}

/// The overrides, without the image of the workers if the hub has no image: it would be read as the profiler's.
fn deployment_overrides(hub: &HubSpec, preserved: &DeploymentOverrides) -> Option<DeploymentOverrides> {
    let mut overrides = preserved.clone();
    if hub.image.is_empty() {
        overrides.workers_image.clear();
    }
    Some(overrides).filter(|overrides| *overrides != DeploymentOverrides::default())
}

fn workload(live: Option<Workload>, preserved: &HubSpec) -> Option<Workload> {
    let (live, rest) = (live.unwrap_or_default(), preserved.workload.clone().unwrap_or_default());
    Some(Workload { isl: live.isl, osl: live.osl, ..rest }).filter(|workload| *workload != Workload::default())
}

fn sla(live: Option<Sla>, preserved: &HubSpec) -> Option<Sla> {
    let e2e_latency = preserved.sla.as_ref().and_then(|sla| sla.e2e_latency);
    (live.is_some() || e2e_latency.is_some()).then(|| Sla { e2e_latency, ..live.unwrap_or_default() })
}

fn overrides(spoke: &SpokeSpec, preserved: &HubSpec) -> Option<Overrides> {
    let rest = preserved.overrides.clone().unwrap_or_default();
    let pod = ProfilerPod::of(&spoke.profiling_config);
    let overrides = Overrides { profiling_job: profiling_job::restore(rest.profiling_job.as_ref(), &pod), ..rest };
    Some(overrides).filter(|overrides| *overrides != Overrides::default())
}

/// A job that can't be read is all rest.
fn rest_of_overrides(hub: &HubSpec, job: Option<JobRest>) -> Option<Overrides> {
    let overrides = hub.overrides.as_ref()?;
    let members = |rest: JobRest| (!rest.is_empty()).then(|| Value::Object(rest).into());
    let profiling_job = job.map_or_else(|| overrides.profiling_job.clone(), members);
    let rest = copy_fields!(overrides => Overrides { trust_remote_code, dgd; profiling_job, });
    Some(rest).filter(|rest| *rest != Overrides::default())
}

fn features(spoke: &SpokeSpec, planner: Option<dynamo_api::Json>, preserved: &HubSpec) -> Option<Features> {
    let rest = preserved.features.clone().unwrap_or_default();
    let off = rest.mocker.filter(|mocker| !mocker.enabled);
    let features = Features {
        planner: planner.or_else(|| rest.planner.filter(free_form::is_unreadable)),
        kv_router: rest.kv_router,
        mocker: if spoke.use_mocker { Some(Mocker { enabled: true }) } else { off },
    };
    Some(features).filter(|features| *features != Features::default())
}

fn profiling(hub: &HubSpec, pod: ProfilerPod, preserved: &ProfilingConfig) -> ProfilingConfig {
    copy_fields!(preserved => ProfilingConfig {
        config_map_ref, output_pvc;
        config: profiling_config::rebuild(hub, preserved.config.as_ref()),
        profiler_image: Some(hub.image.clone()).filter(|image| !image.is_empty()),
        resources: pod.resources,
        tolerations: pod.tolerations,
        node_selector: pod.node_selector,
    })
}
