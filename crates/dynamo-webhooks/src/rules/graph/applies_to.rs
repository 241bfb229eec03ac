//! What the rules of graphs apply to.

use gateward::{CREATE_AND_UPDATE, Rule};

/// The common part of rules on graphs.
pub(super) const GRAPHS: Rule = Rule {
    kinds: &["DynamoGraphDeployment"],
    versions: &["v1alpha1", "v1beta1"],
    page: "docs/rule-book/graph.md",
    ..Rule::on(CREATE_AND_UPDATE)
};
