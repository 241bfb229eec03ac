//! DGDR-B1 to DGDR-B10 on v1beta1 objects. Everything is collected in one round.

use dynamo_api::v1beta1::{
    Backend, DynamoGraphDeploymentRequest, DynamoGraphDeploymentRequestSpec as Spec, Hardware, SearchStrategy,
};
use gateward::{Issues, Request, Rule, Validator, handler};

use super::applies_to::{ON_V1BETA1, at};
use super::freeze::{self, StoredRequest};
use super::release::{self, AutoApply, ImageField, Release};
use super::spec_change::SpecChange;
use super::{deprecated_names, embedded};
use crate::operator::facts::ClusterFacts;

pub(crate) const GPUS_KNOWN: Rule = rule! {
    id: "DGDR-B1",
    summary: "a request describes the GPUs where the operator can't find out",
    ..ON_V1BETA1
};

pub(crate) const BACKEND_CHOSEN: Rule = rule! {
    id: "DGDR-B2",
    summary: "a thorough search is made for one engine",
    ..ON_V1BETA1
};

pub(crate) const CURRENT_GPU_NAME: Rule = rule! {
    id: "DGDR-B10",
    summary: "GPUs are called by their current name",
    help: "write the new name",
    ..ON_V1BETA1
};

/// The rules of v1beta1 objects.
pub(super) struct V1beta1Validator;

#[handler]
impl Validator<DynamoGraphDeploymentRequest> for V1beta1Validator {
    async fn create(&self, new: &DynamoGraphDeploymentRequest, request: &Request) -> Issues {
        let mut issues = Issues::new();
        what_it_asks_for(None, &new.spec, &ClusterFacts::of(request), &mut issues);
        release::on_create(&Release::of(&new.spec), &mut issues);
        outdated_names(&new.spec, &mut issues);
        issues
    }

    async fn update(
        &self,
        old: &DynamoGraphDeploymentRequest,
        new: &DynamoGraphDeploymentRequest,
        request: &Request,
    ) -> Issues {
        let mut issues = Issues::new();
        what_it_asks_for(Some(&old.spec), &new.spec, &ClusterFacts::of(request), &mut issues);
        let (before, after) = (Release::of(&old.spec), Release::of(&new.spec));
        release::on_update(&before, &after, &mut issues);
        let phase = old.status.as_ref().and_then(|status| status.phase.clone());
        let change = || SpecChange::between(&old.spec, &new.spec);
        freeze::check(&StoredRequest { phase, apply: before.apply }, after.apply, change, &mut issues);
        outdated_names(&new.spec, &mut issues);
        issues
    }
}

impl<'a> Release<'a> {
    fn of(spec: &'a Spec) -> Self {
        let apply = if spec.auto_apply == Some(false) { AutoApply::Disabled } else { AutoApply::Enabled };
        let (image, version_override) = (&spec.image, &spec.runtime_version_override);
        Self { image, image_field: ImageField::Image, version_override, apply }
    }
}

/// DECODE, DGDR-B1 and DGDR-B2. What the stored spec violates already is let be (DGDR-B4).
fn what_it_asks_for(old: Option<&Spec>, new: &Spec, facts: &ClusterFacts, issues: &mut Issues) {
    if let Some(job) = new.overrides.as_ref().and_then(|overrides| overrides.profiling_job.as_ref()) {
        embedded::check(job, || at("overrides") / "profilingJob", issues);
    }
    let is_new = |violates: &dyn Fn(&Spec) -> bool| violates(new) && !old.is_some_and(violates);
    if is_new(&|spec| !facts.discovers_gpus() && !describes_gpus(spec.hardware.as_ref())) {
        let issue =
            GPUS_KNOWN.required(at("hardware")).message("must describe the GPUs: this operator doesn't discover them");
        issues.add(issue.help("set gpuSku, vramMb or numGpusPerNode"));
    }
    if is_new(&searches_for_no_engine) {
        let issue = BACKEND_CHOSEN.invalid(at("searchStrategy"), "thorough");
        let issue = issue.message("may only be thorough if spec.backend is not auto");
        issues.add(issue.help("set spec.backend to sglang, trtllm or vllm, or set searchStrategy: rapid"));
    }
}

/// The other members say nothing about one GPU.
fn describes_gpus(hardware: Option<&Hardware>) -> bool {
    hardware.is_some_and(|hardware| {
        !hardware.gpu_sku.is_empty() || hardware.vram_mb.is_some() || hardware.num_gpus_per_node.is_some()
    })
}

fn searches_for_no_engine(spec: &Spec) -> bool {
    spec.search_strategy == Some(SearchStrategy::Thorough) && spec.backend == Some(Backend::Auto)
}

/// DGDR-B10 and DGDR-B9.
fn outdated_names(spec: &Spec, issues: &mut Issues) {
    if spec.hardware.as_ref().is_some_and(|hardware| hardware.gpu_sku == "gb200_sxm") {
        let text = "spec.hardware.gpuSku: gb200_sxm is deprecated; write gb200";
        issues.add(CURRENT_GPU_NAME.warning(at("hardware") / "gpuSku", text));
    }
    let graph = spec.overrides.as_ref().and_then(|overrides| overrides.dgd.as_ref());
    if let Some(Ok(graph)) = graph.map(|graph| graph.view()) {
        deprecated_names::check(graph, deprecated_names::GraphSource::Overrides, issues);
    }
}

#[cfg(test)]
mod tests {
    use gateward::DECODE;
    use serde_json::{Value, json};

    use super::super::testing::{assert_only, beta, create, update};
    use super::*;

    #[test]
    fn warns_of_the_old_name_of_a_gpu_on_creates_and_updates() {
        let named = |sku: &str| beta(&json!({"hardware": {"gpuSku": sku}}));
        for findings in [create(&named("gb200_sxm")), update(&named("gb200_sxm"), &named("gb200_sxm"))] {
            findings.assert_allowed();
            findings.by(&CURRENT_GPU_NAME).at("spec.hardware.gpuSku").saying("spec.hardware.gpuSku");
        }
        assert!(create(&named("gb200")).warnings().is_empty());
    }

    #[test]
    fn warnings_come_with_a_denial_too_and_hardware_first() {
        let graph = json!({"apiVersion": "nvidia.com/v1beta1", "spec": {"components": [{"name": "VllmWorker"}]}});
        let changes = json!({
            "hardware": {"gpuSku": "gb200_sxm"}, "image": "planner", "overrides": {"dgd": graph},
        });
        let findings = create(&beta(&changes));
        findings.assert_denied();
        let warnings = findings.warnings();
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings[0].contains("gpuSku") && warnings[1].contains("VllmWorker"), "{warnings:?}");
        findings.by(&deprecated_names::CURRENT_NAMES).at("spec.overrides.dgd.spec.components[0].name");
    }

    #[test]
    fn rejects_a_profiling_job_whose_fields_have_the_wrong_type() {
        let job = json!({"template": {"spec": {"containers": [{"name": "profiler", "image": 5}]}}});
        let findings = create(&beta(&json!({"overrides": {"profilingJob": job}})));
        assert_only(&findings, &DECODE, "spec.overrides.profilingJob.template.spec.containers[0].image");
        create(&beta(&json!({"overrides": {"profilingJob": {"template": null, "backoffLimit": 2}}}))).assert_allowed();
    }

    #[test]
    fn overrides_of_any_shape_pass() {
        for graph in [json!({}), json!([]), json!("x"), json!({"apiVersion": 5, "spec": [[]]}), Value::Null] {
            create(&beta(&json!({"overrides": {"dgd": graph}}))).assert_allowed();
        }
    }
}
