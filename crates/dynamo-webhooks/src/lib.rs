//! Admission rules and defaults of the Dynamo Operator's kinds.

pub mod facts;
mod grove;
mod provider_override;

pub use facts::ClusterFacts;
