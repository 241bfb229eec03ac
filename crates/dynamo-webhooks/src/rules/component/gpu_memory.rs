//! The GPU memory service of a component.

use std::collections::BTreeSet;

use dynamo_api::v1beta1::{Experimental, GpuMemoryService, PodMode};
use gateward::{BadValue, CREATE_AND_UPDATE, FieldPath, Issues, Rule, UPDATE};
use serde_json::Value;

use super::context::{ComponentContext, ComponentUpdate, on_components};
use super::gpu::GpuCount;
use crate::rules::grove::{gpu_memory_service, shares_gpu_memory_between_pods};

const WORKERS: Rule = rule! {
    id: "GMS-01",
    summary: "only workers, prefill and decode workers use the GPU memory service",
    ..on_components(CREATE_AND_UPDATE)
};

const GPUS: Rule = rule! {
    id: "GMS-02",
    summary: "the main container of a component with the GPU memory service has a GPU",
    ..on_components(CREATE_AND_UPDATE)
};

const CLIENTS: Rule = rule! {
    id: "GMS-03",
    summary: "extraClientContainers are containers of the pod, each once",
    ..on_components(CREATE_AND_UPDATE)
};

const BETWEEN_PODS: Rule = rule! {
    id: "SHARED-67",
    summary: "whether the GPU memory service works between pods stays as it is",
    help: "keep the stored value; another one needs another component",
    ..on_components(UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&WORKERS, &GPUS, &CLIENTS, &BETWEEN_PODS];

pub(super) fn stateless(context: &ComponentContext, experimental: &Experimental, issues: &mut Issues) {
    let Some(service) = &experimental.gpu_memory_service else { return };
    let at = context.at / "experimental" / "gpuMemoryService";
    if !context.is_worker_class() {
        let issue = WORKERS.forbidden(at.clone()).message("may only be set for a worker");
        issues.add(issue.help("accepted types: worker, prefill, decode"));
    }
    if let Some(message) = GpuCount::of(context.pod).and_then(want_of_gpus) {
        issues.add(
            GPUS.forbidden(at.clone()).message(message).help("set a limit of nvidia.com/gpu for the container `main`"),
        );
    }
    if *service.effective_mode() == PodMode::IntraPod {
        clients(context, service, &at, issues);
    }
}

/// What is wrong with a number of GPUs where there must be one.
pub(super) const fn want_of_gpus(count: GpuCount) -> Option<&'static str> {
    match count {
        GpuCount::Known(1..) => None,
        GpuCount::Known(_) => Some("the main container must have a GPU"),
        GpuCount::Unreadable => Some("the GPUs of the main container must be an integer"),
    }
}

fn clients(context: &ComponentContext, service: &GpuMemoryService, at: &FieldPath, issues: &mut Issues) {
    let containers: BTreeSet<&str> = context.pod.containers().iter().map(|container| container.name.as_str()).collect();
    let are_all = context.pod.has_read_names();
    let mut seen = BTreeSet::new();
    for (index, name) in service.extra_client_containers.iter().enumerate() {
        let path = || (at / "extraClientContainers").index(index);
        if !seen.insert(name) {
            issues.add(CLIENTS.duplicate(path(), name.as_str()));
        } else if are_all && !containers.contains(name.as_str()) {
            let issue = CLIENTS.invalid(path(), name.as_str()).message("must be the name of a container of the pod");
            issues.add(issue.help("name an item of podTemplate.spec.containers"));
        }
    }
}

pub(super) fn unchanged(change: &ComponentUpdate, issues: &mut Issues) {
    let [old, new] = [change.old, change.new].map(shares_gpu_memory_between_pods);
    if old != new {
        let path = change.at / "experimental" / "gpuMemoryService" / "mode";
        let mode =
            gpu_memory_service(change.new).map_or(Value::Null, |service| service.effective_mode().as_str().into());
        let issue = BETWEEN_PODS.invalid(path, BadValue::Json(mode));
        issues.add(issue.message("mode is immutable"));
    }
}
