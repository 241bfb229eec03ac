//! What a new v1beta1 request gets where the user left it out: DGDR-D2.

use dynamo_api::v1beta1::{Backend, DynamoGraphDeploymentRequest, SearchStrategy};
use gateward::{Operation, Request};

use crate::operator::facts::ClusterFacts;
use crate::operator::version;

/// Where images of the profiler are published.
const PROFILER_REPOSITORY: &str = "nvcr.io/nvidia/ai-dynamo/dynamo-planner";

/// The request with its defaults. Updates are left as they are.
pub(super) fn apply(mut object: DynamoGraphDeploymentRequest, request: &Request) -> DynamoGraphDeploymentRequest {
    if request.operation == Some(Operation::Create) {
        let spec = &mut object.spec;
        spec.backend.get_or_insert(Backend::Auto);
        spec.search_strategy.get_or_insert(SearchStrategy::Rapid);
        spec.auto_apply.get_or_insert(true);
        if spec.image.is_empty() {
            spec.image = profiler_image(&ClusterFacts::of(request)).unwrap_or_default();
        }
    }
    object
}

/// The configured image, or the published one of the operator's own version, where that is a version.
fn profiler_image(facts: &ClusterFacts) -> Option<String> {
    facts.default_image.clone().or_else(|| {
        let version = version::lenient(&facts.operator_version)?;
        Some(format!("{PROFILER_REPOSITORY}:{version}"))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{alpha, beta, default_with};
    use crate::testing::on;

    fn defaulted(facts: &Value, changes: &Value) -> Value {
        default_with(facts, &beta(changes)).patched()["spec"].clone()
    }

    #[test]
    fn fills_in_what_the_user_left_out() {
        let spec = defaulted(&json!({"operatorVersion": "1.6.0"}), &json!({"backend": "", "image": ""}));
        let wanted = json!({
            "model": "acme/otter-7b", "backend": "auto", "searchStrategy": "rapid", "autoApply": true,
            "image": "nvcr.io/nvidia/ai-dynamo/dynamo-planner:1.6.0",
        });
        assert_eq!(spec, wanted);
    }

    #[test]
    fn keeps_what_the_user_wrote() {
        let written =
            json!({"backend": "sglang", "image": "planner:main", "searchStrategy": "thorough", "autoApply": false});
        let findings = default_with(&json!({"operatorVersion": "1.6.0"}), &beta(&written));
        assert!(findings.answer().decision.patch.is_empty());
    }

    #[test]
    fn leaves_updates_alone() {
        let bare = beta(&json!({"backend": null, "image": null}));
        let findings = on(&json!({}), |request| request.default_update(&bare, &bare));
        assert!(findings.answer().decision.patch.is_empty());
    }

    #[test]
    fn leaves_v1alpha1_and_claimed_namespaces_alone() {
        let findings = default_with(&json!({}), &alpha(&json!({"runtimeVersionOverride": ""})));
        findings.assert_allowed();
        assert!(findings.answer().decision.patch.is_empty());
        let claimed = json!({"clusterWide": true, "excludedNamespaces": ["river"]});
        assert!(default_with(&claimed, &beta(&json!({"backend": null}))).answer().decision.patch.is_empty());
    }
}
