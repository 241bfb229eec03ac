//! DGDR-B1 to DGDR-B10 on v1beta1 objects. Everything is collected in one round.

use dynamo_api::v1beta1::{
    Backend, DynamoGraphDeploymentRequest, DynamoGraphDeploymentRequestSpec as Spec, Hardware, SearchStrategy,
};
use gateward_core::{Issues, Request, Rule, Validator, Verdict};

use super::freeze::{self, StoredRequest};
use super::release::{self, AutoApply, Release};
use super::spec_change::SpecChange;
use super::{ON_V1BETA1, at, deprecated_names, embedded};
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
    ..ON_V1BETA1
};

/// The rules of v1beta1 objects.
pub(super) struct V1beta1Validator;

impl Validator<DynamoGraphDeploymentRequest> for V1beta1Validator {
    async fn create(&self, new: &DynamoGraphDeploymentRequest, request: &Request) -> Verdict {
        let mut issues = Issues::new();
        what_it_asks_for(None, &new.spec, &ClusterFacts::of(request), &mut issues);
        release::on_create(&Release::of(&new.spec), &mut issues);
        outdated_names(&new.spec, &mut issues);
        issues.into()
    }

    async fn update(
        &self,
        old: &DynamoGraphDeploymentRequest,
        new: &DynamoGraphDeploymentRequest,
        request: &Request,
    ) -> Verdict {
        let mut issues = Issues::new();
        what_it_asks_for(Some(&old.spec), &new.spec, &ClusterFacts::of(request), &mut issues);
        let (before, after) = (Release::of(&old.spec), Release::of(&new.spec));
        release::on_update(&before, &after, &mut issues);
        let phase = old.status.as_ref().and_then(|status| status.phase.clone());
        let change = || SpecChange::between(&old.spec, &new.spec);
        freeze::check(&StoredRequest { phase, apply: before.apply }, after.apply, change, &mut issues);
        outdated_names(&new.spec, &mut issues);
        issues.into()
    }
}

impl<'a> Release<'a> {
    fn of(spec: &'a Spec) -> Self {
        let apply = if spec.auto_apply == Some(false) { AutoApply::Disabled } else { AutoApply::Enabled };
        Self { image: &spec.image, version_override: &spec.runtime_version_override, apply }
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
    use gateward_core::DECODE;
    use serde_json::{Value, json};

    use super::super::testing::{assert_only, beta, create, create_blind, create_with, in_phase, update, update_with};
    use super::*;
    use crate::testing::terminating;

    #[test]
    fn demands_hardware_where_gpus_are_not_discovered() {
        assert_only(&create_blind(&beta(&json!({}))), &GPUS_KNOWN, "spec.hardware");
        create(&beta(&json!({}))).assert_allowed();
        create_with(&json!({"gpuDiscoveryEnabled": true}), &beta(&json!({}))).assert_allowed();
    }

    #[test]
    fn one_fact_about_a_gpu_is_enough() {
        for hardware in [json!({"gpuSku": "l4"}), json!({"vramMb": 0}), json!({"numGpusPerNode": 0})] {
            create_blind(&beta(&json!({"hardware": hardware}))).assert_allowed();
        }
    }

    #[test]
    fn facts_about_the_cluster_are_not_enough() {
        let around = json!({"totalGpus": 16, "interconnect": "nvlink", "rdma": true});
        for hardware in [json!({}), json!(null), json!({"gpuSku": ""}), json!({"vramMb": null}), around] {
            assert_only(&create_blind(&beta(&json!({"hardware": hardware}))), &GPUS_KNOWN, "spec.hardware");
        }
    }

    #[test]
    fn rejects_a_thorough_search_over_all_engines() {
        let thorough = |backend: &str| beta(&json!({"backend": backend, "searchStrategy": "thorough"}));
        assert_only(&create(&thorough("auto")), &BACKEND_CHOSEN, "spec.searchStrategy");
        for backend in ["sglang", "trtllm", "vllm", ""] {
            create(&thorough(backend)).assert_allowed();
        }
        create(&beta(&json!({"backend": "auto", "searchStrategy": "rapid"}))).assert_allowed();
        create(&beta(&json!({"backend": "auto"}))).assert_allowed();
    }

    #[test]
    fn reports_everything_at_once_in_the_order_of_the_fields() {
        let all = beta(&json!({"backend": "auto", "searchStrategy": "thorough", "image": "planner"}));
        create_blind(&all).only(&[&GPUS_KNOWN, &BACKEND_CHOSEN, &release::ON_CREATE]);
    }

    #[test]
    fn lets_a_stored_violation_be() {
        let stored = beta(&json!({"backend": "auto", "searchStrategy": "thorough"}));
        let renamed = beta(&json!({"backend": "auto", "searchStrategy": "thorough", "model": "acme/badger-3b"}));
        update_with(&json!({}), &stored, &renamed).assert_allowed();
    }

    #[test]
    fn rejects_a_violation_that_an_update_brings() {
        let described = beta(&json!({"hardware": {"gpuSku": "l4"}}));
        assert_only(&update_with(&json!({}), &described, &beta(&json!({}))), &GPUS_KNOWN, "spec.hardware");
        let searching = beta(&json!({"backend": "auto", "searchStrategy": "thorough"}));
        assert_only(&update(&beta(&json!({})), &searching), &BACKEND_CHOSEN, "spec.searchStrategy");
    }

    #[test]
    fn one_stored_violation_does_not_excuse_the_other() {
        let old = beta(&json!({"backend": "auto", "searchStrategy": "thorough", "hardware": {"gpuSku": "l4"}}));
        let new = beta(&json!({"backend": "auto", "searchStrategy": "thorough"}));
        assert_only(&update_with(&json!({}), &old, &new), &GPUS_KNOWN, "spec.hardware");
    }

    #[test]
    fn a_frozen_spec_is_reported_beside_what_else_is_wrong() {
        let old = in_phase(beta(&json!({})), "Deployed");
        let new = beta(&json!({"backend": "auto", "searchStrategy": "thorough", "image": "planner:main"}));
        update(&old, &new).only(&[&BACKEND_CHOSEN, &release::ON_UPDATE, &freeze::WHILE_IN_USE]);
    }

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
    fn a_request_that_is_being_deleted_is_let_go() {
        let old = in_phase(beta(&json!({})), "Deployed");
        let new = terminating(beta(&json!({"image": "planner", "hardware": {"gpuSku": "gb200_sxm"}})));
        let findings = update(&old, &new);
        findings.assert_allowed();
        assert!(findings.warnings().is_empty());
    }

    #[test]
    fn a_claimed_namespace_is_left_to_its_operator() {
        let facts = json!({"clusterWide": true, "excludedNamespaces": ["river"]});
        create_with(&facts, &beta(&json!({"image": "planner"}))).assert_allowed();
        let restricted = json!({"excludedNamespaces": ["river"], "gpuDiscoveryEnabled": true});
        create_with(&restricted, &beta(&json!({"image": "planner"}))).assert_denied();
    }

    #[test]
    fn labels_and_annotations_are_no_concern_of_ours() {
        let mut request = beta(&json!({}));
        request["metadata"]["annotations"] = json!({"nvidia.com/dynamo-operator-origin-version": "garbage"});
        create(&request).assert_allowed();
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
