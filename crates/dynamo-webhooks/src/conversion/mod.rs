//! Conversion of graphs, components and scaling adapters between v1alpha1 and v1beta1, which is the hub.
//!
//! It follows the Go operator's conversion, down to the annotations that preserve the fields of the other version
//! ([`preserved`]). Where the Go operator loses a field, core preserves the difference. Conversion never validates:
//! every object that decodes is converted, and nodes of an unexpected JSON type inside embedded Kubernetes types stay
//! unchanged.
//!
//! Conversion to the hub records where each field comes from, so that findings have the paths of the version that the
//! user sent; [`path_mapper`] lists the paths that differ.

mod component;
mod copy_fields;
mod deployment_request;
mod experimental;
mod graph;
mod main_container;
mod merge;
mod mounts;
mod path_mapper;
mod pod_template;
pub(crate) mod preserved;
mod resources;
mod scaling_adapter;
pub(crate) mod schemas;
mod sidecar;
mod standalone;
mod status;
mod versions;

pub(crate) use deployment_request::DeploymentRequestConversion;

use gateward::{Convert, Issues, Provenance, RoundTrip};

use versions::{HubAdapter, HubComponent, HubGraph, Result, SpokeAdapter, SpokeComponent, SpokeGraph};

/// Converts DynamoGraphDeployment between the versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraphConversion;

impl Convert<SpokeGraph, HubGraph> for GraphConversion {
    fn to_hub(&self, graph: &SpokeGraph, provenance: &mut Provenance, issues: &mut Issues) -> Result<HubGraph> {
        Ok(graph::read(graph, provenance, issues))
    }

    fn from_hub(&self, graph: &HubGraph, issues: &mut Issues) -> Result<SpokeGraph> {
        Ok(graph::read_hub(graph, issues)?.object)
    }

    fn to_hub_with_round_trip(&self, graph: &SpokeGraph, issues: &mut Issues) -> Result<(HubGraph, RoundTrip)> {
        Ok(graph::to_hub(graph, issues))
    }

    fn from_hub_with_round_trip(&self, graph: &HubGraph, issues: &mut Issues) -> Result<(SpokeGraph, RoundTrip)> {
        graph::from_hub(graph, issues)
    }

    fn annotations(&self) -> &'static [&'static str] {
        &preserved::GRAPH_KEYS
    }
}

/// Converts DynamoComponentDeployment between the versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComponentConversion;

impl Convert<SpokeComponent, HubComponent> for ComponentConversion {
    fn to_hub(&self, spoke: &SpokeComponent, provenance: &mut Provenance, issues: &mut Issues) -> Result<HubComponent> {
        Ok(standalone::read(spoke, provenance, issues))
    }

    fn from_hub(&self, hub: &HubComponent, issues: &mut Issues) -> Result<SpokeComponent> {
        Ok(standalone::read_hub(hub, issues).object)
    }

    fn to_hub_with_round_trip(&self, spoke: &SpokeComponent, issues: &mut Issues) -> Result<(HubComponent, RoundTrip)> {
        Ok(standalone::to_hub(spoke, issues))
    }

    fn from_hub_with_round_trip(&self, hub: &HubComponent, issues: &mut Issues) -> Result<(SpokeComponent, RoundTrip)> {
        Ok(standalone::from_hub(hub, issues))
    }

    fn annotations(&self) -> &'static [&'static str] {
        &preserved::COMPONENT_KEYS
    }
}

/// Converts DynamoGraphDeploymentScalingAdapter between the versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScalingAdapterConversion;

impl Convert<SpokeAdapter, HubAdapter> for ScalingAdapterConversion {
    fn to_hub(&self, adapter: &SpokeAdapter, provenance: &mut Provenance, _: &mut Issues) -> Result<HubAdapter> {
        Ok(scaling_adapter::to_hub(adapter, provenance))
    }

    fn from_hub(&self, adapter: &HubAdapter, _: &mut Issues) -> Result<SpokeAdapter> {
        Ok(scaling_adapter::from_hub(adapter))
    }
}

#[cfg(test)]
pub(crate) mod tests;
