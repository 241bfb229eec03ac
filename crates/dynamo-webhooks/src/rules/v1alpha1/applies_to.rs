//! What the rules of v1alpha1 apply to.

use gateward::{CREATE_AND_UPDATE, Rule};

/// The common part of rules on v1alpha1 objects, and on the v1alpha1 fields that conversion preserved.
pub(super) const ON_V1ALPHA1_FIELDS: Rule = Rule {
    kinds: &["DynamoGraphDeployment", "DynamoComponentDeployment"],
    versions: &["v1alpha1", "v1beta1"],
    page: "docs/rule-book/component.md",
    ..Rule::on(CREATE_AND_UPDATE)
};
