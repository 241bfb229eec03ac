//! The version of the runtime in a DynamoGraphDeploymentRequest: DGDR-B5 and DGDR-B6.

use gateward_core::{CREATE, Issues, Rule, UPDATE};

use super::{ON_DEPLOYMENT_REQUESTS, at};
use crate::rules::runtime_version::RuntimeVersion;

pub(crate) const ON_CREATE: Rule = rule! {
    id: "DGDR-B5",
    summary: "a request says the runtime's version where the image's tag doesn't",
    operations: CREATE,
    ..ON_DEPLOYMENT_REQUESTS
};

pub(crate) const ON_UPDATE: Rule = rule! {
    id: "DGDR-B6",
    summary: "a request says the runtime's version when its image changes to one whose tag doesn't",
    operations: UPDATE,
    ..ON_DEPLOYMENT_REQUESTS
};

/// Whether the generated graph is deployed at once: the field `autoApply`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AutoApply {
    /// It is deployed at once.
    Enabled,
    /// It is deployed once the user enables the field.
    Disabled,
}

/// The fields of a spec that choose the runtime, and `autoApply`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Release<'a> {
    pub image: &'a str,
    pub version_override: &'a str,
    pub apply: AutoApply,
}

/// DGDR-B5.
pub(super) fn on_create(new: &Release, issues: &mut Issues) {
    if new.has_no_version() {
        complain(&ON_CREATE, issues);
    }
}

/// DGDR-B6: a stored image without a version is let be until something about the release changes.
pub(super) fn on_update(old: &Release, new: &Release, issues: &mut Issues) {
    let turned_on = old.apply == AutoApply::Disabled && new.apply == AutoApply::Enabled;
    let changed = new.image != old.image || new.version_override != old.version_override || turned_on;
    if changed && new.has_no_version() {
        complain(&ON_UPDATE, issues);
    }
}

fn complain(rule: &Rule, issues: &mut Issues) {
    let issue = rule.required(at("runtimeVersionOverride"));
    let issue = issue.message("must be set: the tag of spec.image is not a version");
    issues.add(issue.help("set the version of the runtime, or an image with a tag such as 1.4.0"));
}

impl Release<'_> {
    fn has_no_version(&self) -> bool {
        !self.image.is_empty() && self.version_override.is_empty() && RuntimeVersion::of_image(self.image).is_none()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::testing::{alpha, assert_only, beta, create, in_phase, update};
    use super::*;

    const AT: &str = "spec.runtimeVersionOverride";

    fn with_image(image: &str) -> Value {
        beta(&json!({"image": image}))
    }

    #[test]
    fn rejects_a_new_image_whose_tag_is_no_version() {
        for image in ["planner", "planner:", "planner:nightly", "planner:1.4", "planner:v1.4", "host:5000/planner", " "]
        {
            assert_only(&create(&with_image(image)), &ON_CREATE, AT);
        }
        assert_only(&create(&with_image("planner@sha256:aaaa")), &ON_CREATE, AT);
    }

    #[test]
    fn accepts_an_image_whose_tag_is_a_version() {
        for image in ["planner:1.4.0", "host:5000/planner:V1.4.0-cuda13", " planner:1.4.0-rc2+b7@sha256:bbbb "] {
            create(&with_image(image)).assert_allowed();
        }
    }

    #[test]
    fn a_stated_version_or_no_image_at_all_will_do() {
        create(&beta(&json!({"image": "planner:main", "runtimeVersionOverride": "1.3.0"}))).assert_allowed();
        create(&with_image("")).assert_allowed();
        create(&beta(&json!({"image": null}))).assert_allowed();
    }

    #[test]
    fn a_stored_image_without_a_version_is_let_be() {
        let mut new = with_image("planner:main");
        new["spec"]["model"] = "acme/badger-3b".into();
        update(&with_image("planner:main"), &new).assert_allowed();
    }

    #[test]
    fn rejects_a_change_to_an_image_without_a_version() {
        for old in [with_image("planner:1.4.0"), with_image("planner:edge"), with_image("")] {
            assert_only(&update(&old, &with_image("planner:main")), &ON_UPDATE, AT);
        }
        update(&with_image("planner:main"), &with_image("")).assert_allowed();
        update(&with_image("planner:main"), &with_image("planner:1.4.0")).assert_allowed();
    }

    #[test]
    fn rejects_that_the_stated_version_is_taken_away() {
        let stated = |version: &str| beta(&json!({"image": "planner:main", "runtimeVersionOverride": version}));
        assert_only(&update(&stated("1.4.0"), &stated("")), &ON_UPDATE, AT);
        update(&stated("1.4.0"), &stated("1.5.0")).assert_allowed();
        update(&stated(""), &stated("1.5.0")).assert_allowed();
    }

    #[test]
    fn looks_at_a_stored_image_again_when_the_graph_shall_be_applied() {
        let applying = |apply: Value| beta(&json!({"image": "planner:main", "autoApply": apply}));
        for apply in [json!(true), json!(null)] {
            assert_only(&update(&applying(json!(false)), &applying(apply)), &ON_UPDATE, AT);
        }
        update(&applying(json!(true)), &applying(json!(null))).assert_allowed();
        update(&applying(json!(null)), &applying(json!(true))).assert_allowed();
        update(&applying(json!(true)), &applying(json!(false))).assert_allowed();
        let ready = in_phase(applying(json!(false)), "Ready");
        assert_only(&update(&ready, &applying(json!(true))), &ON_UPDATE, AT);
    }

    #[test]
    fn a_v1alpha1_request_has_the_version_in_its_profiler_image() {
        let mut request = alpha(&json!({}));
        request["spec"]["profilingConfig"]["profilerImage"] = "profiler:nightly".into();
        assert_only(&create(&request), &ON_CREATE, AT);
        assert_only(&update(&alpha(&json!({})), &request), &ON_UPDATE, AT);
        update(&request, &request).assert_allowed();
        let mut applied = request.clone();
        applied["spec"]["autoApply"] = true.into();
        assert_only(&update(&request, &applied), &ON_UPDATE, AT);
        request["spec"]["runtimeVersionOverride"] = "1.4.0".into();
        create(&request).assert_allowed();
    }

    #[test]
    fn the_workers_image_stands_in_for_a_profiler_image_that_was_never_named() {
        let mut old = alpha(&json!({"deploymentOverrides": {"workersImage": "profiler:nightly"}}));
        old["spec"]["profilingConfig"]["profilerImage"] = "".into();
        let findings = create(&old);
        findings.by(&ON_CREATE).at(AT);
        let mut new = alpha(&json!({}));
        new["spec"]["profilingConfig"]["profilerImage"] = "profiler:nightly".into();
        update(&old, &new).assert_allowed();
    }
}
