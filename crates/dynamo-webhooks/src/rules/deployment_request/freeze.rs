//! When a request's spec may not change: DGDR-B3, with DGDR-B7 and DGDR-B8.

use dynamo_api::v1beta1::RequestPhase;
use gateward::{FieldPath, Issues, Rule, UPDATE};

use super::applies_to::ON_DEPLOYMENT_REQUESTS;
use super::release::AutoApply;
use super::spec_change::SpecChange;

pub(crate) const WHILE_IN_USE: Rule = rule! {
    id: "DGDR-B3",
    summary: "the spec of a request stays as it is while it is profiled, deployed or being deployed",
    operations: UPDATE,
    ..ON_DEPLOYMENT_REQUESTS
};

pub(crate) const WHILE_READY: Rule = rule! {
    id: "DGDR-B8",
    summary: "the spec of a ready request can't change, but for runtimeVersionOverride and autoApply where that was false",
    operations: UPDATE,
    ..ON_DEPLOYMENT_REQUESTS
};

/// The fields of the stored object that decide what may change. The phase of the new object is not trusted.
#[derive(Debug)]
pub(super) struct StoredRequest {
    pub phase: Option<RequestPhase>,
    pub apply: AutoApply,
}

/// Validates a change of the spec; `change` is computed only in phases that restrict it.
pub(super) fn check(
    before: &StoredRequest,
    after: AutoApply,
    change: impl FnOnce() -> SpecChange,
    issues: &mut Issues,
) {
    let Some((rule, phase)) = before.frozen() else { return };
    let permitted = match change() {
        SpecChange::None => true,
        SpecChange::ReleaseOnly => before.may_choose_release(after),
        SpecChange::Other => false,
    };
    if !permitted {
        let issue = rule.forbidden(FieldPath::field("spec"));
        let issue = issue.message(format!("spec is immutable in phase {phase}"));
        issues.add(issue.help("delete the DynamoGraphDeploymentRequest and recreate it"));
    }
}

impl StoredRequest {
    /// The rule that keeps the spec as it is, and the phase that does. The one place that knows the phases.
    fn frozen(&self) -> Option<(&'static Rule, &RequestPhase)> {
        let phase = self.phase.as_ref()?;
        let rule = match phase {
            RequestPhase::Profiling | RequestPhase::Deploying | RequestPhase::Deployed => &WHILE_IN_USE,
            RequestPhase::Ready => &WHILE_READY,
            _ => return None,
        };
        Some((rule, phase))
    }

    /// DGDR-B7: the runtime's version can be chosen until the graph is applied, which can be asked for once there is
    /// one.
    fn may_choose_release(&self, after: AutoApply) -> bool {
        self.apply == AutoApply::Disabled
            && match self.phase {
                Some(RequestPhase::Ready) => true,
                Some(RequestPhase::Profiling) => after == AutoApply::Disabled,
                _ => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{alpha, assert_only, beta, in_phase, update, with_status};
    use super::*;

    const FROZEN: [&str; 3] = ["Profiling", "Deploying", "Deployed"];

    fn other_model() -> Value {
        beta(&json!({"model": "acme/otter-70b"}))
    }

    #[test]
    fn rejects_a_change_of_a_request_in_use() {
        for phase in FROZEN {
            let findings = update(&in_phase(beta(&json!({})), phase), &other_model());
            assert_only(&findings, &WHILE_IN_USE, "spec");
            findings.by(&WHILE_IN_USE).saying(phase);
        }
    }

    fn asked(changes: &Value) -> Value {
        let mut request = beta(changes);
        if changes.get("autoApply").is_none() {
            request["spec"]["autoApply"] = false.into();
        }
        request
    }

    #[test]
    fn rejects_any_other_change_while_the_graph_waits_to_be_applied() {
        let old = in_phase(asked(&json!({})), "Ready");
        let findings = update(&old, &asked(&json!({"model": "acme/otter-70b"})));
        assert_only(&findings, &WHILE_READY, "spec");
        findings.by(&WHILE_READY).saying("Ready");
        let both = asked(&json!({"model": "acme/otter-70b", "autoApply": true}));
        assert_only(&update(&old, &both), &WHILE_READY, "spec");
    }

    fn other_alpha(changes: &Value) -> Value {
        let mut request = alpha(changes);
        request["spec"]["model"] = "acme/otter-70b".into();
        request
    }

    #[test]
    fn a_kept_phase_counts_for_the_graph_that_it_names() {
        let old = |state: &str, kept: &str| {
            let status = json!({"state": state, "deployment": {"name": "g"}});
            let mut old = with_status(alpha(&json!({"autoApply": true})), status);
            old["metadata"]["annotations"] = json!({"nvidia.com/dgdr-status": kept});
            old
        };
        let deployed = r#"{"phase":"Deployed","dgdName":"g"}"#;
        let new = other_alpha(&json!({"autoApply": true}));
        assert_only(&update(&old("Ready", deployed), &new), &WHILE_IN_USE, "spec");
        assert_only(&update(&old("DeploymentDeleted", deployed), &new), &WHILE_READY, "spec");
        for other in [r#"{"phase":"Deployed","dgdName":"h"}"#, r#"{"phase":"Ready","dgdName":"g"}"#, "{", "", "5"] {
            assert_only(&update(&old("Ready", other), &new), &WHILE_READY, "spec");
        }
    }

    #[test]
    fn what_v1alpha1_keeps_of_the_spec_is_part_of_it() {
        let keeping = |kept: &str| {
            let mut request = alpha(&json!({"autoApply": true}));
            request["metadata"]["annotations"] = json!({"nvidia.com/dgdr-spec": kept});
            request
        };
        let old =
            with_status(keeping(r#"{"version":1,"spec":{"hardware":{"gpuSku":"l4"}}}"#), json!({"state": "Profiling"}));
        assert_only(&update(&old, &keeping("")), &WHILE_IN_USE, "spec");
        update(&old, &keeping(r#"{"spec": {"hardware": {"gpuSku": "l4"}}, "version": 1}"#)).assert_allowed();
        update(&old, &keeping(r#"{"hardware": {"gpuSku": "l4"}}"#)).assert_allowed();
    }
}
