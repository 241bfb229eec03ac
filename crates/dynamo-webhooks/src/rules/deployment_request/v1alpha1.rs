//! v1alpha1 objects as they are written: DGDR-A1 to DGDR-A8 first. An update that passes them is then judged by the
//! rules on changes.

use dynamo_api::v1alpha1::{DynamoGraphDeploymentRequest, DynamoGraphDeploymentRequestSpec as Spec, RequestState};
use dynamo_api::v1beta1::{DynamoGraphDeploymentRequestSpec as HubSpec, RequestPhase};
use gateward::{Convert, Issues, Provenance, Request, Rule, Validator, handler};

use super::applies_to::{ON_V1ALPHA1, at};
use super::freeze::{self, StoredRequest};
use super::release::{self, AutoApply, ImageField, Release};
use super::spec_change::SpecChange;
use super::{deprecated_names, embedded, profiling_config, stash};
use crate::conversion::DeploymentRequestConversion;
use crate::operator::facts::ClusterFacts;

pub(crate) const GPU_DISCOVERY_FIELD: Rule = rule! {
    id: "DGDR-A1",
    summary: "enableGpuDiscovery is left out or true: it has no effect",
    help: "remove the field",
    ..ON_V1ALPHA1
};

pub(crate) const PROFILER_IMAGE: Rule = rule! {
    id: "DGDR-A2",
    summary: "a request names the image of the profiler",
    help: "write the image with the profiler, such as nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.4.2",
    ..ON_V1ALPHA1
};

/// The schema's default of `enableGpuDiscovery`: this value doesn't show what the user set.
const GPU_DISCOVERY_DEFAULT: bool = true;

/// The rules of v1alpha1 objects.
pub(super) struct V1alpha1Validator;

#[handler]
impl Validator<DynamoGraphDeploymentRequest> for V1alpha1Validator {
    async fn create(&self, new: &DynamoGraphDeploymentRequest, request: &Request) -> Issues {
        let mut issues = stateless(None, new, &ClusterFacts::of(request));
        release::on_create(&Release::of_written(&new.spec), &mut issues);
        issues
    }

    async fn update(
        &self,
        old: &DynamoGraphDeploymentRequest,
        new: &DynamoGraphDeploymentRequest,
        request: &Request,
    ) -> Issues {
        let mut issues = stateless(Some(&old.spec), new, &ClusterFacts::of(request));
        if !issues.has_errors() {
            changes(old, new, &mut issues);
        }
        issues
    }
}

/// DGDR-A1 to DGDR-A8 and DGDR-B9. What the stored spec, `old`, lacks already may be missing still.
fn stateless(old: Option<&Spec>, new: &DynamoGraphDeploymentRequest, facts: &ClusterFacts) -> Issues {
    let mut issues = Issues::new();
    profiler_pod(&new.spec, &mut issues);
    if new.spec.enable_gpu_discovery.is_some_and(|enabled| enabled != GPU_DISCOVERY_DEFAULT) {
        let text = "spec.enableGpuDiscovery: the field is deprecated and has no effect; leave it out";
        issues.add(GPU_DISCOVERY_FIELD.warning(at("enableGpuDiscovery"), text));
    }
    let has_no_image = |spec: &Spec| spec.profiling_config.profiler_image().is_empty();
    if has_no_image(&new.spec) && !old.is_some_and(has_no_image) {
        let path = at("profilingConfig") / "profilerImage";
        issues.add(PROFILER_IMAGE.required(path).message("must be set"));
    }
    profiling_config::check(old, &new.spec, facts, &mut issues);
    if let Some(graph) = stash::spec(&new.metadata).get("overrides").and_then(|overrides| overrides.get("dgd")) {
        deprecated_names::check(graph, deprecated_names::GraphSource::Stash, &mut issues);
    }
    issues
}

/// DECODE, of what the profiler's pod is given.
fn profiler_pod(spec: &Spec, issues: &mut Issues) {
    let (profiling, at) = (&spec.profiling_config, || at("profilingConfig"));
    if let Some(resources) = &profiling.resources {
        embedded::check(resources, || at() / "resources", issues);
    }
    for (index, toleration) in profiling.tolerations.iter().enumerate() {
        embedded::check(toleration, || (at() / "tolerations").index(index), issues);
    }
}

fn changes(old: &DynamoGraphDeploymentRequest, new: &DynamoGraphDeploymentRequest, issues: &mut Issues) {
    let (before, after) = (Release::of_written(&old.spec), Release::of_written(&new.spec));
    release::on_update(&before, &after, issues);
    let change = || {
        // What the Go operator's annotation keeps counts as conversion reads it.
        let hub = SpecChange::between(&in_hub(old), &in_hub(new));
        let is_same = stash::of_core(&old.metadata) == stash::of_core(&new.metadata);
        let of_core = if is_same { SpecChange::None } else { SpecChange::Other };
        SpecChange::between(&as_stored(&old.spec), &as_stored(&new.spec)).max(hub).max(of_core)
    };
    freeze::check(&StoredRequest { phase: Some(phase(old)), apply: before.apply }, after.apply, change, issues);
}

/// The spec in v1beta1; `None` for what can't be converted.
fn in_hub(request: &DynamoGraphDeploymentRequest) -> Option<HubSpec> {
    let (mut provenance, mut issues) = (Provenance::silent(), Issues::new());
    DeploymentRequestConversion.to_hub(request, &mut provenance, &mut issues).ok().map(|hub| hub.spec)
}

/// The spec with the default of its schema: the API server gives it to what a user writes, and not to what it converts
/// from v1beta1 to show what was there.
fn as_stored(spec: &Spec) -> Spec {
    Spec { enable_gpu_discovery: spec.enable_gpu_discovery.or(Some(GPU_DISCOVERY_DEFAULT)), ..spec.clone() }
}

/// The phase that v1beta1 has for an object's state.
fn phase(object: &DynamoGraphDeploymentRequest) -> RequestPhase {
    let state = object.status.as_ref().and_then(|status| status.state.as_ref());
    match state {
        Some(RequestState::Profiling) => RequestPhase::Profiling,
        Some(RequestState::Deploying) => RequestPhase::Deploying,
        Some(RequestState::Failed) => RequestPhase::Failed,
        Some(RequestState::Ready) if is_deployed(object) => RequestPhase::Deployed,
        Some(RequestState::Ready | RequestState::DeploymentDeleted) => RequestPhase::Ready,
        Some(RequestState::Initializing | RequestState::Pending | RequestState::Other(_)) | None => {
            RequestPhase::Pending
        }
    }
}

/// Whether a ready object's graph was made: its status says so, or keeps the phase of the very graph that it names.
fn is_deployed(object: &DynamoGraphDeploymentRequest) -> bool {
    let deployment = object.status.as_ref().and_then(|status| status.deployment.as_ref());
    let name = deployment.map_or("", |deployment| deployment.name.as_str());
    deployment.is_some_and(|deployment| deployment.created)
        || stash::status(&object.metadata).is_some_and(|kept| kept.phase == "Deployed" && kept.dgd_name == name)
}

impl<'a> Release<'a> {
    /// In v1alpha1 a graph is applied only where the spec says so.
    fn of_written(spec: &'a Spec) -> Self {
        let apply = if spec.auto_apply { AutoApply::Enabled } else { AutoApply::Disabled };
        let (image, image_field) = image(spec);
        Self { image, image_field, version_override: &spec.runtime_version_override, apply }
    }
}

/// The image that v1beta1 has: that of the workers stands in where none is named for the profiler.
fn image(spec: &Spec) -> (&str, ImageField) {
    let of_workers = spec.deployment_overrides.as_ref().map_or("", |overrides| overrides.workers_image.as_str());
    let of_profiler = spec.profiling_config.profiler_image();
    match of_profiler {
        "" => (of_workers, ImageField::Workers),
        of_profiler => (of_profiler, ImageField::Profiler),
    }
}

#[cfg(test)]
mod tests {
    use gateward::testing::Findings;
    use gateward::{DECODE, schema::from_crd, yaml};
    use serde_json::{Value, json};

    use super::super::testing::{alpha, assert_only, create, create_blind, update, update_with, with_status};
    use super::*;

    #[test]
    fn the_schema_sets_the_discovery_field_to_what_gives_no_warning() {
        let crd = yaml::read(dynamo_api::crds::GRAPH_DEPLOYMENT_REQUEST.json).documents.remove(0).value;
        let version = from_crd(&crd).unwrap().into_iter().find(|version| version.version == "v1alpha1").unwrap();
        let mut request = alpha(&json!({}));
        version.schema.apply_defaults(&mut request);
        assert_eq!(request["spec"]["enableGpuDiscovery"], GPU_DISCOVERY_DEFAULT);
    }

    #[test]
    fn an_update_is_judged_by_itself_before_its_change_is() {
        let old = with_status(alpha(&json!({})), json!({"state": "Profiling"}));
        let new = alpha(&json!({"model": "acme/otter-70b", "profilingConfig": {"profilerImage": "profiler:main"}}));
        assert_only(&update(&old, &new), &profiling_config::GIVEN, "spec.profilingConfig.config");
    }

    #[test]
    fn the_default_of_the_discovery_field_changes_no_frozen_request() {
        let discovering = |value: Value| alpha(&json!({"enableGpuDiscovery": value}));
        let old = with_status(discovering(json!(null)), json!({"state": "Ready"}));
        update(&old, &discovering(json!(true))).assert_allowed();
        let explicit = with_status(discovering(json!(true)), json!({"state": "Ready"}));
        update(&explicit, &discovering(json!(null))).assert_allowed();
        assert_only(&update(&old, &discovering(json!(false))), &freeze::WHILE_READY, "spec");
    }

    #[test]
    fn what_the_operator_kept_can_not_be_taken_from_a_frozen_request() {
        let keeping = |kept: &str| {
            let mut request = alpha(&json!({}));
            request["metadata"]["annotations"] = json!({"nvidia.com/dgdr-spec": kept});
            request
        };
        let deep = format!("{}{}", "[".repeat(130), "]".repeat(130));
        let kept = |version: &str, more: &str, trust: &str| {
            let graph = format!(r#"{{"apiVersion":"nvidia.com/v1beta1","kind":"X","x":{deep}}}"#);
            let overrides = format!(r#"{{"dgd":{graph},"trustRemoteCode":{trust}}}"#);
            keeping(&format!(r#"{{"version":{version},{more}"spec":{{"overrides":{overrides}}}}}"#))
        };
        let old = with_status(kept("1", "", "false"), json!({"state": "Ready"}));
        update(&old, &kept("1", "", "false")).assert_allowed();
        for new in
            [kept(r#""1""#, "", "false"), kept("1", "", "true"), kept("1", &format!(r#""junk":{deep},"#), "true")]
        {
            assert_only(&update(&old, &new), &freeze::WHILE_READY, "spec");
        }
    }

    #[test]
    fn what_an_annotation_brings_into_v1beta1_changes_a_frozen_request() {
        let entry = json!({"path": ["spec", "overrides"], "was": {"trustRemoteCode": true}});
        let keeping = |part: &str, version: &str| {
            let mut request = alpha(&json!({}));
            let kept = json!({"version": 1, part: {version: [entry]}});
            request["metadata"]["annotations"] = json!({"gateward.dev/preserved": kept.to_string()});
            request
        };
        let plain = with_status(alpha(&json!({})), json!({"state": "Ready"}));
        for part in ["known", "unknown"] {
            assert_only(&update(&plain, &keeping(part, "v1beta1")), &freeze::WHILE_READY, "spec");
            update(&plain, &keeping(part, "v1alpha1")).assert_allowed();
            let kept = with_status(keeping(part, "v1beta1"), json!({"state": "Ready"}));
            update(&kept, &keeping(part, "v1beta1")).assert_allowed();
            assert_only(&update(&kept, &alpha(&json!({}))), &freeze::WHILE_READY, "spec");
        }
    }

    /// An update where the operator doesn't discover GPUs.
    fn update_blind(old: &Value, new: &Value) -> Findings {
        update_with(&json!({}), old, new)
    }

    fn profiled(profiling: &Value) -> Value {
        alpha(&json!({"profilingConfig": profiling}))
    }

    #[test]
    fn what_was_missing_and_still_is_is_no_finding_of_an_update() {
        let config = json!({"sla": {"ttft": 250.0}});
        for lacking in [
            json!(null),
            json!({"profilerImage": "profiler:1.4.0"}),
            json!({"config": config}),
            json!({"profilerImage": "profiler:1.4.0", "config": config}),
        ] {
            let old = profiled(&lacking);
            let mut new = old.clone();
            new["metadata"]["labels"] = json!({"wave": "2"});
            new["spec"]["model"] = "acme/badger-3b".into();
            update_blind(&old, &new).assert_allowed();
        }
    }

    #[test]
    fn what_an_update_takes_away_is_missing() {
        let hardware = json!({"hardware": {"gpuModel": "H100"}});
        let whole = profiled(&json!({"profilerImage": "profiler:1.4.0", "config": hardware}));
        let findings = update_blind(&whole, &profiled(&json!(null)));
        findings.only(&[&PROFILER_IMAGE, &profiling_config::GIVEN, &profiling_config::GPUS_KNOWN]);
        let half = profiled(&json!({"profilerImage": "profiler:1.4.0"}));
        update_blind(&half, &profiled(&json!(null))).only(&[&PROFILER_IMAGE]);
        let odd = profiled(&json!({"profilerImage": "profiler:1.4.0", "config": "sla: {}"}));
        assert_only(&update_blind(&odd, &half), &profiling_config::GIVEN, "spec.profilingConfig.config");
    }

    #[test]
    fn rejects_parts_of_the_pod_that_have_the_wrong_type() {
        let profiling = json!({
            "profilerImage": "profiler:1.4.0", "config": {}, "resources": {"limits": ["1"]}, "tolerations": [{}, "all"],
        });
        let findings = create(&alpha(&json!({"profilingConfig": profiling})));
        findings.only(&[&DECODE, &DECODE]);
        let paths = ["spec.profilingConfig.resources.limits", "spec.profilingConfig.tolerations[1]"];
        assert_eq!(findings.paths(), paths);
    }

    #[test]
    fn warnings_come_in_the_order_of_the_rules_and_with_a_denial() {
        let config = json!({"engine": {"backend": "sglang"}, "deployment": {"model": "acme/badger-3b"}});
        let mut request = alpha(&json!({
            "enableGpuDiscovery": false, "profilingConfig": {"profilerImage": "profiler:main", "config": config},
        }));
        let kept =
            r#"{"overrides":{"dgd":{"apiVersion":"nvidia.com/v1alpha1","spec":{"services":{"VllmWorker":{}}}}}}"#;
        request["metadata"]["annotations"] = json!({"nvidia.com/dgdr-spec": kept});
        let findings = create_blind(&request);
        findings.only(&[&profiling_config::GPUS_KNOWN, &release::ON_CREATE]);
        let warnings = findings.warnings();
        let words = ["enableGpuDiscovery", "sglang", "badger", "VllmWorker"];
        assert_eq!(warnings.len(), words.len());
        assert!(warnings.iter().zip(words).all(|(warning, word)| warning.contains(word)), "{warnings:?}");
    }

    #[test]
    fn warns_of_outdated_names_in_what_the_object_keeps() {
        let mut request = alpha(&json!({}));
        let graph = r#"{"apiVersion":"nvidia.com/v1alpha1","spec":{"services":{"VllmWorker":{}}}}"#;
        for kept in [
            format!(r#"{{"version":1,"spec":{{"overrides":{{"dgd":{graph}}}}}}}"#),
            format!(r#"{{"overrides":{{"dgd":{graph}}}}}"#),
        ] {
            request["metadata"]["annotations"] = json!({"nvidia.com/dgdr-spec": kept});
            let findings = create(&request);
            findings.assert_allowed();
            findings
                .by(&deprecated_names::CURRENT_NAMES)
                .at("metadata.annotations[nvidia.com/dgdr-spec]")
                .saying("VllmWorker");
        }
        for kept in ["", "[]", "{", r#"{"spec": 5}"#, r#"{"spec":{"overrides":"x"}}"#] {
            request["metadata"]["annotations"] = json!({"nvidia.com/dgdr-spec": kept});
            assert!(create(&request).warnings().is_empty(), "{kept}");
        }
    }
}
