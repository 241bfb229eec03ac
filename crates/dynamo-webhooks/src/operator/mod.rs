//! The Dynamo Operator as the rules see it: its configuration, its release, its accounts and what its cluster has.

mod chart;
pub mod configuration;
mod dynamo;
pub mod facts;
pub mod in_cluster;
pub mod names;
pub(crate) mod principals;
mod removed_values;
mod settings;
pub(crate) mod version;

pub use dynamo::Dynamo;
pub use facts::ClusterFacts;
pub use version::OPERATOR_VERSION;
