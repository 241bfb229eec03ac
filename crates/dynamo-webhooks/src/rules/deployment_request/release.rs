//! The version of the runtime in a DynamoGraphDeploymentRequest: DGDR-B5 and DGDR-B6.

use gateward::{CREATE, FieldPath, Issues, Rule, UPDATE};

use super::applies_to::{ON_DEPLOYMENT_REQUESTS, at};
use crate::rules::runtime_version::{RuntimeVersion, unversioned};

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

/// The field that names the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImageField {
    /// `image` of v1beta1.
    Image,
    /// `profilerImage` of v1alpha1.
    Profiler,
    /// `workersImage` of v1alpha1.
    Workers,
}

impl ImageField {
    fn path(self) -> FieldPath {
        match self {
            Self::Image => at("image"),
            Self::Profiler => at("profilingConfig") / "profilerImage",
            Self::Workers => at("deploymentOverrides") / "workersImage",
        }
    }
}

/// The fields of a spec that choose the runtime, and `autoApply`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Release<'a> {
    pub image: &'a str,
    pub image_field: ImageField,
    pub version_override: &'a str,
    pub apply: AutoApply,
}

/// DGDR-B5.
pub(super) fn on_create(new: &Release, issues: &mut Issues) {
    if new.has_no_version() {
        new.add_missing_version(&ON_CREATE, issues);
    }
}

/// DGDR-B6: a stored image without a version is let be until something about the release changes.
pub(super) fn on_update(old: &Release, new: &Release, issues: &mut Issues) {
    let turned_on = old.apply == AutoApply::Disabled && new.apply == AutoApply::Enabled;
    let changed = new.image != old.image || new.version_override != old.version_override || turned_on;
    if changed && new.has_no_version() {
        new.add_missing_version(&ON_UPDATE, issues);
    }
}

impl Release<'_> {
    fn has_no_version(&self) -> bool {
        !self.image.is_empty() && self.version_override.is_empty() && RuntimeVersion::of_image(self.image).is_none()
    }

    fn add_missing_version(&self, rule: &Rule, issues: &mut Issues) {
        let issue = rule.required(at("runtimeVersionOverride")).anchor(self.image_field.path());
        issues.add(unversioned(issue, self.image));
    }
}
