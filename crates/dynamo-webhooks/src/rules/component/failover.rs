//! Engines in reserve.

use dynamo_api::v1beta1::{ComponentSpec, ComponentType, Experimental, Failover, PodMode};
use gateward::{BadValue, CREATE_AND_UPDATE, FieldPath, Issues, Rule, UPDATE};
use serde_json::{Value, json};

use super::context::{ComponentContext, ComponentUpdate, on_components};
use super::gpu::GpuCount;
use super::gpu_memory::want_of_gpus;
use crate::rules::grove::failover;

const NEEDS_SERVICE: Rule = rule! {
    id: "FO-01",
    summary: "failover needs the GPU memory service",
    ..on_components(CREATE_AND_UPDATE)
};

const SAME_MODE: Rule = rule! {
    id: "FO-02",
    summary: "failover and the GPU memory service have the same mode",
    ..on_components(CREATE_AND_UPDATE)
};

const GPUS: Rule = rule! {
    id: "FO-03",
    summary: "the main container of a component with failover between pods has a GPU",
    ..on_components(CREATE_AND_UPDATE)
};

const ENGINES: Rule = rule! {
    id: "FO-04",
    summary: "frontends, planners and endpoint pickers have no failover between pods",
    help: "leave failover out here; set it for workers",
    ..on_components(CREATE_AND_UPDATE)
};

const BETWEEN_PODS: Rule = rule! {
    id: "SHARED-68",
    summary: "whether there is failover between pods stays as it is",
    help: "keep it as it is stored; a change needs another component",
    ..on_components(UPDATE)
};

const SHADOWS: Rule = rule! {
    id: "SHARED-69",
    summary: "the number of engines in reserve stays as it is where they are pods",
    help: "keep the stored value; another one needs another component",
    ..on_components(UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&NEEDS_SERVICE, &SAME_MODE, &GPUS, &ENGINES, &BETWEEN_PODS, &SHADOWS];

pub(super) fn stateless(context: &ComponentContext, experimental: &Experimental, issues: &mut Issues) {
    let Some(failover) = &experimental.failover else { return };
    let at = context.at / "experimental" / "failover";
    match &experimental.gpu_memory_service {
        None => {
            let issue = NEEDS_SERVICE.forbidden(at.clone()).message("may only be set with gpuMemoryService");
            issues.add(issue.help("set gpuMemoryService with the same mode"));
        }
        Some(service) if service.effective_mode() != failover.effective_mode() => {
            let issue = SAME_MODE.invalid(&at / "mode", failover.effective_mode().as_str());
            issues.add(issue.message("must equal the mode of gpuMemoryService").help("set the same mode for both"));
        }
        Some(_) => {}
    }
    if *failover.effective_mode() == PodMode::InterPod {
        between_pods(context, &at, issues);
    }
}

fn between_pods(context: &ComponentContext, at: &FieldPath, issues: &mut Issues) {
    if let Some(message) = GpuCount::of(context.pod).and_then(want_of_gpus) {
        issues.add(
            GPUS.forbidden(at.clone()).message(message).help("set a limit of nvidia.com/gpu for the container `main`"),
        );
    }
    if let Some(other @ (ComponentType::Epp | ComponentType::Frontend | ComponentType::Planner)) =
        &context.component.component_type
    {
        let issue = ENGINES.forbidden(at.clone());
        issues.add(issue.message(format!("may not be set for a component of type {other}")));
    }
}

pub(super) fn unchanged(change: &ComponentUpdate, issues: &mut Issues) {
    let at = || change.at / "experimental" / "failover";
    match [change.old, change.new].map(pods_in_reserve) {
        [None, None] => {}
        [Some(old), Some(new)] if shadows(old) == shadows(new) => {}
        [Some(old), Some(new)] => {
            let issue = SHADOWS.invalid(at() / "numShadows", shadows(new));
            issues.add(issue.message(format!("field is immutable: it is {}", shadows(old))));
        }
        [_, new] => {
            let value = new.map_or(Value::Null, |failover| json!({"mode": failover.effective_mode()}));
            let issue = BETWEEN_PODS.invalid(at(), BadValue::Json(value));
            issues.add(issue.message("failover between pods may not be added or removed"));
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
