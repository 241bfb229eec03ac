//! What a v1alpha1 graph is given that leaves something out: the same as its v1beta1 reading, on its own fields.

use std::collections::BTreeMap;

use dynamo_api::{v1alpha1, v1beta1};
use gateward::{Convert, Issues, Provenance, Request};

use crate::conversion::GraphConversion;
use crate::rules::graph::defaults;

/// The graph with its defaults.
pub(crate) fn apply(mut graph: v1alpha1::DynamoGraphDeployment, request: &Request) -> v1alpha1::DynamoGraphDeployment {
    let lifted = GraphConversion.to_hub(&without_pods(&graph), &mut Provenance::silent(), &mut Issues::new());
    let Ok(hub) = lifted else { return graph };
    let before = hub.metadata.annotations.clone();
    take_over(&mut graph, &before, defaults::apply(hub, request));
    graph
}

/// The graph without what services say of their pods: nothing of it decides a default, and it is most of the work of a
/// conversion.
fn without_pods(graph: &v1alpha1::DynamoGraphDeployment) -> v1alpha1::DynamoGraphDeployment {
    let mut bare = graph.clone();
    for service in bare.spec.services.values_mut().flatten() {
        service.extra_pod_spec = None;
        service.frontend_sidecar = None;
        service.liveness_probe = None;
        service.readiness_probe = None;
        service.envs.clear();
    }
    bare
}

/// Takes over what defaulting may set. Annotations that the lift made or took away are none of it.
fn take_over(
    graph: &mut v1alpha1::DynamoGraphDeployment,
    before: &BTreeMap<String, String>,
    defaulted: v1beta1::DynamoGraphDeployment,
) {
    let annotations = defaulted.metadata.annotations.into_iter();
    graph.metadata.annotations.extend(annotations.filter(|(key, text)| before.get(key) != Some(text)));
    graph.spec.provider_override = defaulted.spec.provider_override;
    for component in defaulted.spec.components {
        if let Some(service) = graph.spec.services.get_mut(&component.name).and_then(Option::as_mut) {
            service.replicas = component.replicas;
            service.min_available = component.min_available;
            service.roles = component.roles;
            service.provider_override = component.provider_override;
        }
    }
}
