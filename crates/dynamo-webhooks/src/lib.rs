//! Admission rules and defaults of the Dynamo Operator's kinds.

mod conversion;
mod dns;
mod operator;
mod rules;

pub use operator::{ClusterFacts, OPERATOR_VERSION, configuration, facts, in_cluster, names};

use gateward_core::Registry;

/// The webhooks of the Dynamo Operator: every kind with its versions, rules and defaults.
///
/// ```
/// let registry = dynamo_webhooks::registry();
/// assert!(registry.rules().iter().any(|rule| rule.id == "MODEL-01"));
/// ```
pub fn registry() -> Registry {
    Registry::new()
        .kind(rules::graph::kind())
        .kind(rules::component_deployment::kind())
        .kind(rules::deployment_request::kind())
        .kind(rules::scaling_adapter::kind())
        .kind(rules::model::kind())
}

/// The CRDs of all kinds, also of those that have no webhook.
pub fn crds() -> Vec<&'static str> {
    dynamo_api::crds::all().map(|crd| crd.yaml).to_vec()
}
