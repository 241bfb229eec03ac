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

pub(crate) use deployment_request::DeploymentRequestConversion;

use dynamo_api::{v1alpha1, v1beta1};
use gateward_core::{ConversionError, Convert, Issues, Provenance, RoundTrip};

/// Converts DynamoGraphDeployment between the versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraphConversion;

impl GraphConversion {
    /// Converts a graph for defaulting, without preserving the fields that v1beta1 lacks.
    pub(crate) fn to_hub_for_defaulting(graph: &v1alpha1::DynamoGraphDeployment) -> v1beta1::DynamoGraphDeployment {
        graph::read(graph, &mut Provenance::silent(), &mut Issues::new()).0
    }
}

impl Convert<v1alpha1::DynamoGraphDeployment, v1beta1::DynamoGraphDeployment> for GraphConversion {
    fn to_hub(
        &self,
        graph: &v1alpha1::DynamoGraphDeployment,
        provenance: &mut Provenance,
        issues: &mut Issues,
    ) -> Result<v1beta1::DynamoGraphDeployment, ConversionError> {
        Ok(graph::to_hub(graph, provenance, issues).0)
    }

    fn from_hub(
        &self,
        graph: &v1beta1::DynamoGraphDeployment,
        issues: &mut Issues,
    ) -> Result<v1alpha1::DynamoGraphDeployment, ConversionError> {
        Ok(graph::from_hub(graph, issues)?.0)
    }

    fn to_hub_with_round_trip(
        &self,
        graph: &v1alpha1::DynamoGraphDeployment,
        issues: &mut Issues,
    ) -> Result<(v1beta1::DynamoGraphDeployment, RoundTrip), ConversionError> {
        Ok(graph::to_hub(graph, &mut Provenance::silent(), issues))
    }

    fn from_hub_with_round_trip(
        &self,
        graph: &v1beta1::DynamoGraphDeployment,
        issues: &mut Issues,
    ) -> Result<(v1alpha1::DynamoGraphDeployment, RoundTrip), ConversionError> {
        graph::from_hub(graph, issues)
    }

    fn annotations(&self) -> &'static [&'static str] {
        &preserved::GRAPH_KEYS
    }
}

/// Converts DynamoComponentDeployment between the versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComponentConversion;

impl Convert<v1alpha1::DynamoComponentDeployment, v1beta1::DynamoComponentDeployment> for ComponentConversion {
    fn to_hub(
        &self,
        component: &v1alpha1::DynamoComponentDeployment,
        provenance: &mut Provenance,
        issues: &mut Issues,
    ) -> Result<v1beta1::DynamoComponentDeployment, ConversionError> {
        Ok(standalone::to_hub(component, provenance, issues).0)
    }

    fn from_hub(
        &self,
        component: &v1beta1::DynamoComponentDeployment,
        issues: &mut Issues,
    ) -> Result<v1alpha1::DynamoComponentDeployment, ConversionError> {
        Ok(standalone::from_hub(component, issues).0)
    }

    fn to_hub_with_round_trip(
        &self,
        component: &v1alpha1::DynamoComponentDeployment,
        issues: &mut Issues,
    ) -> Result<(v1beta1::DynamoComponentDeployment, RoundTrip), ConversionError> {
        Ok(standalone::to_hub(component, &mut Provenance::silent(), issues))
    }

    fn from_hub_with_round_trip(
        &self,
        component: &v1beta1::DynamoComponentDeployment,
        issues: &mut Issues,
    ) -> Result<(v1alpha1::DynamoComponentDeployment, RoundTrip), ConversionError> {
        Ok(standalone::from_hub(component, issues))
    }

    fn annotations(&self) -> &'static [&'static str] {
        &preserved::COMPONENT_KEYS
    }
}

/// Converts DynamoGraphDeploymentScalingAdapter between the versions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScalingAdapterConversion;

impl Convert<v1alpha1::DynamoGraphDeploymentScalingAdapter, v1beta1::DynamoGraphDeploymentScalingAdapter>
    for ScalingAdapterConversion
{
    fn to_hub(
        &self,
        adapter: &v1alpha1::DynamoGraphDeploymentScalingAdapter,
        provenance: &mut Provenance,
        _: &mut Issues,
    ) -> Result<v1beta1::DynamoGraphDeploymentScalingAdapter, ConversionError> {
        Ok(scaling_adapter::to_hub(adapter, provenance))
    }

    fn from_hub(
        &self,
        adapter: &v1beta1::DynamoGraphDeploymentScalingAdapter,
        _: &mut Issues,
    ) -> Result<v1alpha1::DynamoGraphDeploymentScalingAdapter, ConversionError> {
        Ok(scaling_adapter::from_hub(adapter))
    }
}

#[cfg(test)]
pub(crate) mod tests;
