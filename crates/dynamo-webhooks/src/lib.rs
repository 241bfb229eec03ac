//! Admission rules and defaults of the Dynamo Operator's kinds.

mod component;
pub mod facts;
mod graph;
mod grove;
mod lift;
mod model;
mod operator_version;
mod provider_override;
mod request;
mod shared;
mod written;

pub use facts::ClusterFacts;

use gateward_core::Registry;

/// The webhooks of the Dynamo Operator: every kind with its rules and defaults.
///
/// ```
/// let registry = dynamo_webhooks::registry();
/// assert!(registry.rules().iter().any(|rule| rule.id == "MODEL-01"));
/// ```
pub fn registry() -> Registry {
    Registry::new().kind(graph::kind()).kind(component::kind()).kind(request::kind()).kind(model::kind())
}
