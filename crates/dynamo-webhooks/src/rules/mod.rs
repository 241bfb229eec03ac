//! Rules and defaults: one module per kind, and one per concern that several kinds share.

pub(crate) mod component;
pub(crate) mod component_deployment;
pub(crate) mod deployment_request;
pub(crate) mod graph;
mod grove;
pub(crate) mod model;
mod provider_override;
mod runtime_version;
pub(crate) mod scaling_adapter;
mod v1alpha1;
