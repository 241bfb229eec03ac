//! Engines in reserve.

use dynamo_api::v1beta1::{ComponentSpec, ComponentType, Experimental, Failover, PodMode};
use gateward_core::{BadValue, CREATE_AND_UPDATE, FieldPath, Issues, Rule, UPDATE};
use serde_json::{Value, json};

use super::gpu::GpuCount;
use super::gpu_memory::want_of_gpus;
use super::{ComponentContext, ComponentUpdate, on_components};
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
    ..on_components(CREATE_AND_UPDATE)
};

const BETWEEN_PODS: Rule = rule! {
    id: "SHARED-68",
    summary: "whether there is failover between pods stays as it is",
    ..on_components(UPDATE)
};

const SHADOWS: Rule = rule! {
    id: "SHARED-69",
    summary: "the number of engines in reserve stays as it is where they are pods",
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
    if let Some(message) = context.pod.spec().and_then(|pod| want_of_gpus(GpuCount::of(pod))) {
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::rules::component::testing::{TestDeployment, of_type, pod_without_gpu, worker};

    fn preview(service: Option<&str>, failover: Option<&str>) -> Value {
        let mode = |mode: Option<&str>| mode.map_or(Value::Null, |mode| json!({"mode": mode}));
        json!({"experimental": {"gpuMemoryService": mode(service), "failover": mode(failover)}})
    }

    const AT: &str = "c.experimental.failover";

    #[test]
    fn failover_needs_the_service_in_the_same_mode() {
        let found = |service, failover| TestDeployment::graph().created(&worker(preview(service, Some(failover))));
        assert!(found(Some("IntraPod"), "IntraPod").is_empty());
        assert!(found(Some("InterPod"), "InterPod").is_empty());
        assert_eq!(found(None, "IntraPod"), [format!("FO-01 {AT}")]);
        assert_eq!(found(None, "InterPod"), [format!("FO-01 {AT}")]);
        assert_eq!(found(Some("InterPod"), "IntraPod"), [format!("FO-02 {AT}.mode")]);
        assert_eq!(found(Some("IntraPod"), "InterPod"), [format!("FO-02 {AT}.mode")]);
    }

    #[test]
    fn an_absent_mode_is_within_the_pod() {
        let component =
            |mode: &str| worker(json!({"experimental": {"gpuMemoryService": {"mode": mode}, "failover": {}}}));
        assert!(TestDeployment::graph().created(&component("IntraPod")).is_empty());
        assert_eq!(TestDeployment::graph().created(&component("InterPod")), [format!("FO-02 {AT}.mode")]);
    }

    #[test]
    fn between_pods_it_needs_a_gpu_even_without_the_service() {
        let mut component = worker(preview(None, Some("InterPod")));
        component["podTemplate"] = pod_without_gpu();
        assert_eq!(TestDeployment::graph().created(&component), [format!("FO-01 {AT}"), format!("FO-03 {AT}")]);
        component["podTemplate"] = Value::Null;
        let expected = [format!("FO-01 {AT}"), format!("FO-03 {AT}"), "RT-03 c.podTemplate.spec.containers".into()];
        assert_eq!(TestDeployment::graph().created(&component), expected);
    }

    #[test]
    fn between_pods_it_is_for_engines() {
        let component = |kind| of_type(kind, preview(Some("InterPod"), Some("InterPod")));
        let expected = ["GMS-01 c.experimental.gpuMemoryService".to_owned(), format!("FO-04 {AT}")];
        assert_eq!(TestDeployment::graph().created(&component("frontend")), expected);
        assert_eq!(TestDeployment::graph().created(&component("planner")), expected);
        let within = of_type("frontend", preview(Some("IntraPod"), Some("IntraPod")));
        assert_eq!(TestDeployment::graph().created(&within), ["GMS-01 c.experimental.gpuMemoryService"]);
    }

    #[test]
    fn an_unset_type_is_left_to_the_service() {
        let mut component = worker(preview(Some("InterPod"), Some("InterPod")));
        component["type"] = Value::Null;
        assert_eq!(TestDeployment::graph().created(&component), ["GMS-01 c.experimental.gpuMemoryService"]);
    }

    #[test]
    fn between_pods_it_can_neither_come_nor_go() {
        let with = worker(preview(Some("InterPod"), Some("InterPod")));
        let without = worker(preview(Some("InterPod"), None));
        let expected = [format!("SHARED-68 {AT}")];
        assert_eq!(TestDeployment::graph().changed(&with, &without), expected);
        assert_eq!(TestDeployment::graph().changed(&without, &with), expected);
    }

    #[test]
    fn dropping_all_previews_names_each_that_had_to_stay() {
        let mut old = worker(preview(Some("InterPod"), Some("InterPod")));
        old["experimental"]["grove"] = json!({"forceScalingGroup": true});
        let expected = [
            "SHARED-67 c.experimental.gpuMemoryService.mode",
            "SHARED-68 c.experimental.failover",
            "SHARED-70 c.experimental.grove.forceScalingGroup",
        ];
        assert_eq!(TestDeployment::graph().changed(&old, &worker(json!({}))), expected);
    }

    #[test]
    fn within_a_pod_it_may_come_and_go() {
        let with = worker(preview(Some("IntraPod"), Some("IntraPod")));
        let without = worker(json!({}));
        assert!(TestDeployment::graph().changed(&with, &without).is_empty());
        assert!(TestDeployment::graph().changed(&without, &with).is_empty());
    }

    #[test]
    fn the_number_of_pods_in_reserve_can_not_change() {
        let shadows = |mode: &str, count: Value| {
            let failover = json!({"mode": mode, "numShadows": count});
            worker(json!({"experimental": {"gpuMemoryService": {"mode": mode}, "failover": failover}}))
        };
        let change = |old: Value, new: Value| {
            TestDeployment::graph().changed(&shadows("InterPod", old), &shadows("InterPod", new))
        };
        assert_eq!(change(1.into(), 2.into()), [format!("SHARED-69 {AT}.numShadows")]);
        assert!(change(Value::Null, 1.into()).is_empty());
        assert!(change(0.into(), 1.into()).is_empty(), "there is at least one");
        let within = TestDeployment::graph().changed(&shadows("IntraPod", 1.into()), &shadows("IntraPod", 2.into()));
        assert!(within.is_empty());
    }
}
