//! Admission rules and defaults of the Dynamo Operator's kinds.

mod component;
pub mod configuration;
mod conversion;
mod dns;
pub mod facts;
mod graph;
mod grove;
pub mod in_cluster;
mod model;
pub mod names;
mod operator_version;
mod provider_override;
mod request;
mod scaling_adapter;
mod schemas;
mod shared;
mod written;

pub use facts::ClusterFacts;
pub use operator_version::OPERATOR_VERSION;

use gateward_core::Registry;

/// The webhooks of the Dynamo Operator: every kind with its versions, rules and defaults.
///
/// ```
/// let registry = dynamo_webhooks::registry();
/// assert!(registry.rules().iter().any(|rule| rule.id == "MODEL-01"));
/// ```
pub fn registry() -> Registry {
    Registry::new()
        .kind(graph::kind())
        .kind(component::kind())
        .kind(request::kind())
        .kind(scaling_adapter::kind())
        .kind(model::kind())
}

/// The CRDs of all kinds, also of those that have no webhook.
pub fn crds() -> Vec<&'static str> {
    dynamo_api::crds::all().map(|crd| crd.yaml).to_vec()
}
