//! Fields of services that v1beta1 has in another form or not at all: ALPHA-02 and ALPHA-05 to ALPHA-10.

use dynamo_api::constants::{FRONTEND_SIDECAR_CONTAINER, VLLM_EXECUTOR_BACKEND};
use dynamo_api::v1alpha1::{ComponentSpec, PodMode};
use gateward::{FieldPath, Issues, Rule};

use super::applies_to::ON_V1ALPHA1_FIELDS;
use crate::rules::component::SourceVersion;

const EXECUTOR: Rule = rule! {
    id: "ALPHA-02",
    summary: "the vLLM executor backend of a service is mp or ray, in any case of letters",
    ..ON_V1ALPHA1_FIELDS
};

const MOUNT_POINT: Rule = rule! {
    id: "ALPHA-05",
    summary: "a volume is mounted somewhere, unless it holds compiled kernels",
    ..ON_V1ALPHA1_FIELDS
};

const INGRESS_HOST: Rule = rule! {
    id: "ALPHA-06",
    summary: "an enabled ingress has a host",
    ..ON_V1ALPHA1_FIELDS
};

const ONE_EPP_CONFIG: Rule = rule! {
    id: "ALPHA-07",
    summary: "the configuration of an endpoint picker is either a reference or written out",
    versions: &["v1alpha1"],
    ..ON_V1ALPHA1_FIELDS
};

const EPP_CONFIG_MAP: Rule = rule! {
    id: "ALPHA-08",
    summary: "a reference to the configuration of an endpoint picker names a ConfigMap",
    help: "write the name of the ConfigMap that has the configuration",
    versions: &["v1alpha1"],
    ..ON_V1ALPHA1_FIELDS
};

const ONE_SIDECAR: Rule = rule! {
    id: "ALPHA-09",
    summary: "no container takes the name of the frontend sidecar",
    ..ON_V1ALPHA1_FIELDS
};

const ONE_SHADOW: Rule = rule! {
    id: "ALPHA-10",
    summary: "failover within a pod has one engine in reserve",
    ..ON_V1ALPHA1_FIELDS
};

pub(super) const RULES: &[&Rule] =
    &[&EXECUTOR, &MOUNT_POINT, &INGRESS_HOST, &ONE_EPP_CONFIG, &EPP_CONFIG_MAP, &ONE_SIDECAR, &ONE_SHADOW];

/// How vLLM may distribute its work; read in any case of letters.
const EXECUTORS: [&str; 2] = ["mp", "ray"];

/// Judges `service`, which stands at `at`, of an object in this version. In v1beta1 the schema judges the configuration
/// of an endpoint picker.
pub(super) fn check(service: &ComponentSpec, at: &FieldPath, source: SourceVersion, issues: &mut Issues) {
    executor(service, at, issues);
    mount_points(service, at, issues);
    ingress(service, at, issues);
    if source == SourceVersion::V1alpha1 {
        epp_config(service, at, issues);
    }
    sidecar(service, at, issues);
    shadows(service, at, issues);
}

/// Annotations of the service alone, not those of its pods.
fn executor(service: &ComponentSpec, at: &FieldPath, issues: &mut Issues) {
    let Some(executor) = service.annotations.get(VLLM_EXECUTOR_BACKEND) else { return };
    if !EXECUTORS.iter().any(|known| executor.eq_ignore_ascii_case(known)) {
        let issue = EXECUTOR.invalid((at / "annotations").key(VLLM_EXECUTOR_BACKEND), executor.as_str());
        issues.add(issue.message("unsupported executor backend").help("accepted: mp, ray").as_written());
    }
}

/// A mount that repeats that of the compilation cache is none of its own: v1beta1 has it once.
fn mount_points(service: &ComponentSpec, at: &FieldPath, issues: &mut Issues) {
    let cache = service.volume_mounts.iter().find(|mount| mount.use_as_compilation_cache);
    for (index, mount) in service.volume_mounts.iter().enumerate() {
        let repeats_cache = || cache.is_some_and(|cache| cache.name == mount.name && cache.mount_point.is_empty());
        if mount.mount_point.is_empty() && !mount.use_as_compilation_cache && !repeats_cache() {
            let issue = MOUNT_POINT.required((at / "volumeMounts").index(index) / "mountPoint");
            issues.add(issue.message("must be set").help("set a path such as /data").as_written());
        }
    }
}

fn ingress(service: &ComponentSpec, at: &FieldPath, issues: &mut Issues) {
    if service.ingress.as_ref().is_some_and(|ingress| ingress.enabled && ingress.host.is_empty()) {
        let issue = INGRESS_HOST.required(at / "ingress" / "host");
        issues.add(
            issue.message("must be set for an enabled ingress").help("set a host, or disable the ingress").as_written(),
        );
    }
}

fn epp_config(service: &ComponentSpec, at: &FieldPath, issues: &mut Issues) {
    let Some(config) = &service.epp_config else { return };
    let at = at / "eppConfig";
    if config.config_map_ref.is_some() == config.config.is_some() {
        let issue = ONE_EPP_CONFIG.forbidden(at.clone()).message("must have exactly one of configMapRef and config");
        issues.add(issue.help("set either configMapRef or config").as_written());
    }
    if config.config_map_ref.as_ref().is_some_and(|reference| reference.name.is_empty()) {
        let issue = EPP_CONFIG_MAP.required(at / "configMapRef" / "name");
        issues.add(issue.message("must be set").as_written());
    }
}

/// Init containers don't count.
fn sidecar(service: &ComponentSpec, at: &FieldPath, issues: &mut Issues) {
    let pod = service.extra_pod_spec.as_ref().and_then(dynamo_api::Raw::lenient_view);
    let mut names = pod.iter().flat_map(|pod| &pod.value.containers).map(|container| container.name.as_str());
    if service.frontend_sidecar.is_some() && names.any(|name| name == FRONTEND_SIDECAR_CONTAINER) {
        let issue = ONE_SIDECAR
            .forbidden(at / "frontendSidecar")
            .message("may not be set with a container called sidecar-frontend");
        issues.add(issue.help("keep one of the two").as_written());
    }
}

/// The schema of v1beta1 has this limit, that of v1alpha1 hasn't.
fn shadows(service: &ComponentSpec, at: &FieldPath, issues: &mut Issues) {
    let enabled = service.failover.as_ref().filter(|failover| failover.enabled == Some(true));
    let within_a_pod = enabled.filter(|failover| matches!(failover.mode, None | Some(PodMode::IntraPod)));
    match within_a_pod.and_then(|failover| failover.num_shadows) {
        None | Some(0 | 1) => {}
        Some(count) => {
            let issue = ONE_SHADOW.invalid(at / "failover" / "numShadows", count);
            issues.add(issue.message("must be at most 1 for failover within a pod").help("accepted: 1").as_written());
        }
    }
}
