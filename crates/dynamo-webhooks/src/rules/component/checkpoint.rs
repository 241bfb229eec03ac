//! Snapshot and restore of a component.

use dynamo_api::v1beta1::{Checkpoint, Experimental};
use gateward::{CREATE_AND_UPDATE, FieldPath, Issue, Issues, Rule};

use super::context::{ComponentContext, on_components};
use crate::operator::facts::Gate;
use crate::rules::grove::{gpu_memory_service, shares_gpu_memory_between_pods};

const GATE: Rule = rule! {
    id: "CKPT-D1",
    summary: "checkpoints are enabled only where the operator's configuration allows them",
    ..on_components(CREATE_AND_UPDATE)
};

const WORKERS: Rule = rule! {
    id: "CKPT-D2",
    summary: "only workers, prefill and decode workers have checkpoints",
    ..on_components(CREATE_AND_UPDATE)
};

const CLIENTS: Rule = rule! {
    id: "CKPT-D3",
    summary: "gmsClientContainers need the GPU memory service within the pod",
    help: "set experimental.gpuMemoryService, or leave gmsClientContainers out",
    ..on_components(CREATE_AND_UPDATE)
};

const WITHIN_POD: Rule = rule! {
    id: "CKPT-D4",
    summary: "a component with checkpoints has no GPU memory service between pods",
    help: "leave one of the two out, or set the mode of gpuMemoryService to intraPod",
    ..on_components(CREATE_AND_UPDATE)
};

const NO_FAILOVER: Rule = rule! {
    id: "CKPT-D5",
    summary: "a component with checkpoints has no failover",
    help: "leave one of the two out",
    ..on_components(CREATE_AND_UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&GATE, &WORKERS, &CLIENTS, &WITHIN_POD, &NO_FAILOVER];

pub(super) fn stateless(context: &ComponentContext, experimental: &Experimental, issues: &mut Issues) {
    let Some(checkpoint) = &experimental.checkpoint else { return };
    let at = context.at / "experimental" / "checkpoint";
    let enabled = checkpoint.enabled.unwrap_or_default();
    if enabled {
        issues.extend([gate(context, &at), workers(context, &at)].into_iter().flatten());
    }
    issues.extend(clients(context, checkpoint, &at));
    if enabled {
        issues.extend([within_pod(context, &at), no_failover(experimental, &at)].into_iter().flatten());
    }
}

fn gate(context: &ComponentContext, at: &FieldPath) -> Option<Issue> {
    let (message, help) = match context.deployment.facts.checkpoint {
        Gate::On => return None,
        Gate::Off => (
            "may not be set: checkpoints are disabled in the operator's configuration",
            "remove it, or set checkpoint.enabled in the operator's configuration",
        ),
        Gate::Unknown => (
            "may not be set where checkpoints are off: they are assumed to be, because the cluster isn't known",
            "where the operator has checkpoints enabled, check with --facts",
        ),
    };
    Some(GATE.forbidden(at.clone()).message(message).help(help))
}

fn workers(context: &ComponentContext, at: &FieldPath) -> Option<Issue> {
    if context.is_worker_class() {
        return None;
    }
    let issue = WORKERS.forbidden(at.clone()).help("accepted types: worker, prefill, decode");
    Some(match &context.component.component_type {
        None => issue.message("may not be set without a type"),
        Some(_) => issue.message("may only be set for a worker"),
    })
}

/// These containers are judged also where checkpoints are off.
fn clients(context: &ComponentContext, checkpoint: &Checkpoint, at: &FieldPath) -> Option<Issue> {
    let message = match gpu_memory_service(context.component) {
        None => "may only be set with gpuMemoryService",
        Some(_) if shares_gpu_memory_between_pods(context.component) => {
            "may not be set with a GPU memory service between pods"
        }
        Some(_) => return None,
    };
    let named = checkpoint.job.as_ref().is_some_and(|job| !job.gms_client_containers.is_empty());
    named.then(|| CLIENTS.forbidden(at / "job" / "gmsClientContainers").message(message))
}

fn within_pod(context: &ComponentContext, at: &FieldPath) -> Option<Issue> {
    shares_gpu_memory_between_pods(context.component)
        .then(|| WITHIN_POD.forbidden(at.clone()).message("may not be set with a GPU memory service between pods"))
}

fn no_failover(experimental: &Experimental, at: &FieldPath) -> Option<Issue> {
    experimental.failover.as_ref().map(|_| NO_FAILOVER.forbidden(at.clone()).message("may not be set with failover"))
}
