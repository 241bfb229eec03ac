//! Admission rules and defaults of the Dynamo Operator's kinds.

mod conversion;
mod operator;
mod rules;
#[cfg(test)]
mod testing;

pub use operator::{ClusterFacts, Dynamo, OPERATOR_VERSION, configuration, facts, in_cluster, names};

use gateward::Webhooks;

/// The webhooks of the Dynamo Operator: every kind with its versions, rules and defaults.
///
/// ```
/// let webhooks = dynamo_webhooks::webhooks();
/// assert!(webhooks.rules().iter().any(|rule| rule.id == "MODEL-01"));
/// ```
pub fn webhooks() -> Webhooks {
    Webhooks::new()
        // Objects and Secrets in clusters have it.
        .with_annotation_prefix("gateward.dev")
        .register(rules::graph::kind())
        .register(rules::component_deployment::kind())
        .register(rules::deployment_request::kind())
        .register(rules::scaling_adapter::kind())
        .register(rules::model::kind())
}

/// The declaration of the Dynamo Operator, for `gateward::main`.
pub fn operator() -> Dynamo {
    Dynamo::new()
}

/// The CRDs of all kinds, also of those that have no webhook.
pub fn crds() -> Vec<&'static str> {
    dynamo_api::crds::all().map(|crd| crd.json).to_vec()
}
