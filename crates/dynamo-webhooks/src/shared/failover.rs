//! Engines in reserve.

use dynamo_api::v1beta1::{ComponentSpec, ComponentType, Experimental, Failover, PodMode};
use gateward_core::{BadValue, CREATE_AND_UPDATE, FieldPath, Issues, Rule, UPDATE};
use serde_json::{Value, json};

use super::gpu::GpuCount;
use super::gpu_memory::want_of_gpus;
use super::{Change, Judged, rule};
use crate::grove::failover;

const NEEDS_SERVICE: Rule = Rule {
    id: "FO-01",
    summary: "failover needs the GPU memory service",
    bad: include_str!("../examples/shared/fo-01.bad.yaml"),
    good: include_str!("../examples/shared/fo-01.good.yaml"),
    ..rule(CREATE_AND_UPDATE)
};

const SAME_MODE: Rule = Rule {
    id: "FO-02",
    summary: "failover and the GPU memory service have the same mode",
    bad: include_str!("../examples/shared/fo-02.bad.yaml"),
    good: include_str!("../examples/shared/fo-02.good.yaml"),
    ..rule(CREATE_AND_UPDATE)
};

const GPUS: Rule = Rule {
    id: "FO-03",
    summary: "the main container of a component with failover between pods has a GPU",
    bad: include_str!("../examples/shared/fo-03.bad.yaml"),
    good: include_str!("../examples/shared/fo-03.good.yaml"),
    ..rule(CREATE_AND_UPDATE)
};

const ENGINES: Rule = Rule {
    id: "FO-04",
    summary: "frontends, planners and endpoint pickers have no failover between pods",
    bad: include_str!("../examples/shared/fo-04.bad.yaml"),
    good: include_str!("../examples/shared/fo-04.good.yaml"),
    ..rule(CREATE_AND_UPDATE)
};

const BETWEEN_PODS: Rule = Rule {
    id: "SHARED-68",
    summary: "whether there is failover between pods stays as it is",
    bad: include_str!("../examples/shared/shared-68.bad.yaml"),
    good: include_str!("../examples/shared/shared-68.good.yaml"),
    ..rule(UPDATE)
};

const SHADOWS: Rule = Rule {
    id: "SHARED-69",
    summary: "the number of engines in reserve stays as it is where they are pods",
    bad: include_str!("../examples/shared/shared-69.bad.yaml"),
    good: include_str!("../examples/shared/shared-69.good.yaml"),
    ..rule(UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&NEEDS_SERVICE, &SAME_MODE, &GPUS, &ENGINES, &BETWEEN_PODS, &SHADOWS];

pub(super) fn stateless(judged: &Judged, experimental: &Experimental, issues: &mut Issues) {
    let Some(failover) = &experimental.failover else { return };
    let at = judged.at / "experimental" / "failover";
    match &experimental.gpu_memory_service {
        None => {
            let issue = NEEDS_SERVICE.forbidden(at.clone()).message("there is no GPU memory service");
            issues.add(issue.help("give gpuMemoryService in the same mode"));
        }
        Some(service) if service.effective_mode() != failover.effective_mode() => {
            let issue = SAME_MODE.invalid(&at / "mode", failover.effective_mode().as_str());
            issues.add(issue.message(format!("the GPU memory service has mode {}", service.effective_mode())));
        }
        Some(_) => {}
    }
    if *failover.effective_mode() == PodMode::InterPod {
        between_pods(judged, &at, issues);
    }
}

fn between_pods(judged: &Judged, at: &FieldPath, issues: &mut Issues) {
    if let Some(message) = judged.pod.spec().and_then(|pod| want_of_gpus(GpuCount::of(pod))) {
        issues.add(
            GPUS.forbidden(at.clone()).message(message).help("give the container `main` a limit of nvidia.com/gpu"),
        );
    }
    use ComponentType::{Epp, Frontend, Planner};
    if let Some(other @ (Epp | Frontend | Planner)) = &judged.component.component_type {
        let issue = ENGINES.forbidden(at.clone());
        issues.add(issue.message(format!("a component of type {other} has no engine to keep in reserve")));
    }
}

pub(super) fn unchanged(change: &Change, issues: &mut Issues) {
    let at = || change.at / "experimental" / "failover";
    match [change.old, change.new].map(pods_in_reserve) {
        [None, None] => {}
        [Some(old), Some(new)] if shadows(old) == shadows(new) => {}
        [Some(old), Some(new)] => {
            let issue = SHADOWS.invalid(at() / "numShadows", shadows(new));
            issues.add(issue.message(format!("the number of pods in reserve can't change; it is {}", shadows(old))));
        }
        [_, new] => {
            let value = new.map_or(Value::Null, |failover| json!({"mode": failover.effective_mode()}));
            let issue = BETWEEN_PODS.invalid(at(), BadValue::Json(value));
            issues.add(issue.message("failover between pods can be neither added nor removed"));
        }
    }
}

/// The failover of a component, if it is between pods.
fn pods_in_reserve(component: &ComponentSpec) -> Option<&Failover> {
    failover(component).filter(|failover| *failover.effective_mode() == PodMode::InterPod)
}

fn shadows(failover: &Failover) -> i32 {
    failover.num_shadows.unwrap_or(1).max(1)
}
