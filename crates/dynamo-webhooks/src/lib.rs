//! Admission rules and defaults of the Dynamo Operator's kinds.

pub mod facts;

pub use facts::ClusterFacts;
