//! Reading v1alpha1 graphs and components as v1beta1.
//!
//! A lift is total: whatever could be decoded can be lifted, and nodes of an odd JSON type inside embedded Kubernetes
//! subtrees stay as they are. It is told what came from where, so that findings come back in the user's own paths; the
//! hub's paths and the user's differ in the rows of the table in `trail`.

mod component;
mod experimental;
mod graph;
mod main_container;
mod merge;
mod pod_template;
mod resources;
mod sidecar;
mod status;
mod trail;

use dynamo_api::{v1alpha1, v1beta1};
use gateward_core::{ConversionError, Convert, FieldPath, Issues, Provenance};

/// Reads a v1alpha1 DynamoGraphDeployment as v1beta1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraphConversion;

impl Convert<v1alpha1::DynamoGraphDeployment, v1beta1::DynamoGraphDeployment> for GraphConversion {
    fn lift(
        &self,
        graph: &v1alpha1::DynamoGraphDeployment,
        provenance: &mut Provenance,
        _: &mut Issues,
    ) -> Result<v1beta1::DynamoGraphDeployment, ConversionError> {
        Ok(graph::lift(graph, provenance))
    }

    fn lower(
        &self,
        _: &v1beta1::DynamoGraphDeployment,
        _: &mut Issues,
    ) -> Result<v1alpha1::DynamoGraphDeployment, ConversionError> {
        Err(ConversionError { path: FieldPath::root(), message: "not written yet".into() })
    }
}

/// Reads a v1alpha1 DynamoComponentDeployment as v1beta1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ComponentConversion;

impl Convert<v1alpha1::DynamoComponentDeployment, v1beta1::DynamoComponentDeployment> for ComponentConversion {
    fn lift(
        &self,
        component: &v1alpha1::DynamoComponentDeployment,
        provenance: &mut Provenance,
        _: &mut Issues,
    ) -> Result<v1beta1::DynamoComponentDeployment, ConversionError> {
        Ok(component::lift(component, provenance))
    }

    fn lower(
        &self,
        _: &v1beta1::DynamoComponentDeployment,
        _: &mut Issues,
    ) -> Result<v1alpha1::DynamoComponentDeployment, ConversionError> {
        Err(ConversionError { path: FieldPath::root(), message: "not written yet".into() })
    }
}

#[cfg(test)]
pub(crate) mod tests;
