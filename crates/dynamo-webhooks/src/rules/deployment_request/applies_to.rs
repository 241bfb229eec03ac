//! What the rules of deployment requests apply to.

use gateward::{CREATE_AND_UPDATE, FieldPath, Rule};

/// The common part of rules on both versions.
pub(super) const ON_DEPLOYMENT_REQUESTS: Rule = Rule {
    kinds: &["DynamoGraphDeploymentRequest"],
    versions: &["v1alpha1", "v1beta1"],
    page: "docs/rule-book/deployment-request.md",
    ..Rule::on(CREATE_AND_UPDATE)
};

/// The common part of rules on v1alpha1.
pub(super) const ON_V1ALPHA1: Rule = Rule { versions: &["v1alpha1"], ..ON_DEPLOYMENT_REQUESTS };

/// The common part of rules on v1beta1.
pub(super) const ON_V1BETA1: Rule = Rule { versions: &["v1beta1"], ..ON_DEPLOYMENT_REQUESTS };

/// A field of the spec.
pub(super) fn at(field: &'static str) -> FieldPath {
    FieldPath::field("spec") / field
}
