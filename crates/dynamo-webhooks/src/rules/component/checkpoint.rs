//! Snapshot and restore of a component.

use dynamo_api::v1beta1::{Checkpoint, Experimental};
use gateward_core::{CREATE_AND_UPDATE, FieldPath, Issue, Issues, Rule};

use super::{ComponentContext, on_components};
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
    ..on_components(CREATE_AND_UPDATE)
};

const WITHIN_POD: Rule = rule! {
    id: "CKPT-D4",
    summary: "a component with checkpoints has no GPU memory service between pods",
    ..on_components(CREATE_AND_UPDATE)
};

const NO_FAILOVER: Rule = rule! {
    id: "CKPT-D5",
    summary: "a component with checkpoints has no failover",
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
    let off = !context.deployment.facts.checkpoint.is_on();
    off.then(|| {
        GATE.forbidden(at.clone()).message("may not be set: checkpoints are disabled in the operator's configuration")
    })
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::rules::component::testing::{TestDeployment, of_type, worker};

    const AT: &str = "c.experimental.checkpoint";

    fn with(experimental: Value) -> Value {
        let mut component = worker(json!({}));
        component["experimental"] = experimental;
        component
    }

    #[test]
    fn enabled_checkpoints_need_the_gate() {
        let enabled = with(json!({"checkpoint": {"enabled": true}}));
        assert_eq!(TestDeployment::graph().without_checkpoints().created(&enabled), [format!("CKPT-D1 {AT}")]);
        assert!(TestDeployment::graph().created(&enabled).is_empty());
    }

    #[test]
    fn the_gate_is_asked_at_every_update() {
        let enabled = with(json!({"checkpoint": {"enabled": true}}));
        let place = TestDeployment::standalone().without_checkpoints();
        assert_eq!(place.stored(&enabled, &enabled), [format!("CKPT-D1 {AT}")]);
    }

    #[test]
    fn a_disabled_block_is_inert() {
        for checkpoint in [json!({"enabled": false}), json!({})] {
            let component = of_type("frontend", json!({"experimental": {"checkpoint": checkpoint}}));
            assert!(TestDeployment::graph().without_checkpoints().created(&component).is_empty());
        }
    }

    #[test]
    fn only_workers_have_checkpoints() {
        let mut component = of_type("frontend", json!({"experimental": {"checkpoint": {"enabled": true}}}));
        assert_eq!(TestDeployment::graph().created(&component), [format!("CKPT-D2 {AT}")]);
        component["type"] = Value::Null;
        assert_eq!(TestDeployment::graph().created(&component), [format!("CKPT-D2 {AT}")]);
    }

    #[test]
    fn clients_of_the_job_need_the_service_within_the_pod() {
        let job = json!({"enabled": false, "job": {"gmsClientContainers": ["saver"]}});
        let service = |mode: &str| with(json!({"checkpoint": job, "gpuMemoryService": {"mode": mode}}));
        let expected = [format!("CKPT-D3 {AT}.job.gmsClientContainers")];
        assert_eq!(TestDeployment::graph().created(&with(json!({"checkpoint": job}))), expected);
        assert_eq!(TestDeployment::graph().created(&service("InterPod")), expected);
        assert!(TestDeployment::graph().created(&service("IntraPod")).is_empty());
        assert!(
            TestDeployment::graph()
                .created(&with(json!({"checkpoint": {"job": {"gmsClientContainers": []}}})))
                .is_empty()
        );
    }

    #[test]
    fn checkpoints_exclude_the_service_between_pods_and_any_failover() {
        let mode = |mode: &str| json!({"mode": mode});
        let with = |name: &str| {
            with(json!({"checkpoint": {"enabled": true}, "gpuMemoryService": mode(name), "failover": mode(name)}))
        };
        assert_eq!(TestDeployment::graph().created(&with("IntraPod")), [format!("CKPT-D5 {AT}")]);
        assert_eq!(
            TestDeployment::graph().created(&with("InterPod")),
            [format!("CKPT-D4 {AT}"), format!("CKPT-D5 {AT}")]
        );
    }

    #[test]
    fn everything_wrong_is_named_in_order() {
        let component = of_type(
            "frontend",
            json!({"experimental": {
                "checkpoint": {"enabled": true, "job": {"gmsClientContainers": ["saver"]}},
                "gpuMemoryService": {"mode": "InterPod"},
                "failover": {"mode": "InterPod"},
            }}),
        );
        let expected = [
            "GMS-01 c.experimental.gpuMemoryService".to_owned(),
            "FO-04 c.experimental.failover".to_owned(),
            format!("CKPT-D1 {AT}"),
            format!("CKPT-D2 {AT}"),
            format!("CKPT-D3 {AT}.job.gmsClientContainers"),
            format!("CKPT-D4 {AT}"),
            format!("CKPT-D5 {AT}"),
        ];
        assert_eq!(TestDeployment::graph().without_checkpoints().created(&component), expected);
    }
}
