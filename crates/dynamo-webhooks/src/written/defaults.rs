//! What a v1alpha1 graph is given that leaves something out: the same as its v1beta1 reading, on its own fields.

use dynamo_api::{v1alpha1, v1beta1};
use gateward_core::{Convert, Defaulted, Defaulter, Issues, Provenance, Request};

use crate::conversion::GraphConversion;
use crate::graph::defaults;

/// The defaults of a v1alpha1 graph.
pub(crate) struct Defaults;

impl Defaulter<v1alpha1::DynamoGraphDeployment> for Defaults {
    async fn default(
        &self,
        mut object: v1alpha1::DynamoGraphDeployment,
        request: &Request,
    ) -> Defaulted<v1alpha1::DynamoGraphDeployment> {
        // A lift is total: there is always a reading.
        if let Ok(hub) = GraphConversion.lift(&object, &mut Provenance::silent(), &mut Issues::new()) {
            take_over(&mut object, defaults::apply(hub, request));
        }
        object.into()
    }
}

/// Takes over what defaulting may set. Services and components stand in the same order.
fn take_over(graph: &mut v1alpha1::DynamoGraphDeployment, defaulted: v1beta1::DynamoGraphDeployment) {
    graph.metadata.annotations = defaulted.metadata.annotations;
    graph.spec.provider_override = defaulted.spec.provider_override;
    let services = graph.spec.services.values_mut().flatten();
    for (service, component) in services.zip(defaulted.spec.components) {
        service.replicas = component.replicas;
        service.min_available = component.min_available;
        service.roles = component.roles;
        service.provider_override = component.provider_override;
    }
}
