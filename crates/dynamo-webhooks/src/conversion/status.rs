//! The status: names of backing objects, of which v1alpha1 also has the newest in a field of its own, and a pod selector.

use dynamo_api::{v1alpha1, v1beta1};
use gateward::{FieldPath, Provenance};
use v1alpha1::{
    DynamoComponentDeploymentStatus as SpokeComponent, DynamoGraphDeploymentStatus as SpokeGraph, ServiceReplicaStatus,
};
use v1beta1::{
    ComponentReplicaStatus, DynamoComponentDeploymentStatus as HubComponent, DynamoGraphDeploymentStatus as HubGraph,
};

use super::copy_fields::copy_fields;

/// The status of a graph in v1beta1.
pub(super) fn graph_to_hub(spoke: &SpokeGraph) -> HubGraph {
    copy_fields!(spoke => HubGraph {
        observed_generation, state, conditions, restart, checkpoints, placement;
        components: spoke.services.iter().map(|(key, service)| (key.clone(), replicas_to_hub(service))).collect(),
        rolling_update: spoke.rolling_update.as_ref().map(rolling_update_to_hub),
    })
}

/// The status of a graph in v1alpha1. `preserved` has its preserved fields.
pub(super) fn graph_from_hub(status: &HubGraph, mut preserved: SpokeGraph) -> SpokeGraph {
    let services = status.components.iter();
    let services =
        services.map(|(key, live)| (key.clone(), replicas_from_hub(live, preserved.services.remove(key)))).collect();
    copy_fields!(status => SpokeGraph {
        observed_generation, state, conditions, restart, checkpoints, placement;
        services,
        rolling_update: status.rolling_update.as_ref().map(rolling_update_from_hub),
    })
}

/// The fields of a graph's status that v1beta1 lacks.
pub(super) fn spoke_only_graph(spoke: &SpokeGraph) -> SpokeGraph {
    let services = spoke.services.iter().filter_map(|(key, service)| Some((key.clone(), names_apart(service)?)));
    SpokeGraph { services: services.collect(), ..Default::default() }
}

/// Records where the fields of a graph's status come from.
pub(super) fn record_graph(provenance: &mut Provenance) {
    let status = || FieldPath::field("status");
    provenance.moved(|| (status() / "components", status() / "services"));
    let update = || status() / "rollingUpdate";
    provenance.moved(|| (update() / "updatedComponents", update() / "updatedServices"));
}

/// The status of a standalone component in v1beta1.
pub(super) fn component_to_hub(spoke: &SpokeComponent) -> HubComponent {
    HubComponent {
        observed_generation: spoke.observed_generation,
        conditions: spoke.conditions.clone().unwrap_or_default(),
        component: spoke.service.as_ref().map(replicas_to_hub),
    }
}

/// The status of a standalone component in v1alpha1. `preserved` has its preserved fields; a status without any v1beta1
/// field is restored from there alone.
pub(super) fn component_from_hub(status: Option<&HubComponent>, preserved: SpokeComponent) -> Option<SpokeComponent> {
    if status.is_none() && preserved.pod_selector.is_empty() {
        return None;
    }
    let live = status.and_then(|status| status.component.as_ref());
    Some(SpokeComponent {
        observed_generation: status.and_then(|status| status.observed_generation),
        conditions: Some(status.map(|status| status.conditions.clone()).unwrap_or_default()),
        pod_selector: preserved.pod_selector,
        service: live.map(|live| replicas_from_hub(live, preserved.service)),
    })
}

/// The fields of a component's status that v1beta1 lacks.
pub(super) fn spoke_only_component(spoke: &SpokeComponent) -> SpokeComponent {
    SpokeComponent {
        pod_selector: spoke.pod_selector.clone(),
        service: spoke.service.as_ref().and_then(names_apart),
        ..Default::default()
    }
}

/// Records where the fields of a component's status come from.
pub(super) fn record_component(provenance: &mut Provenance) {
    provenance.moved(|| (FieldPath::field("status") / "component", FieldPath::field("status") / "service"));
}

fn replicas_to_hub(spoke: &ServiceReplicaStatus) -> ComponentReplicaStatus {
    copy_fields!(spoke => ComponentReplicaStatus {
        component_kind, runtime_namespace, gpus_per_engine, gpus_per_replica,
        replicas, updated_replicas, ready_replicas, available_replicas, scheduled_replicas;
        component_names: names(spoke),
    })
}

/// The newest object is the last in the list, unless another name is preserved for the same list.
fn replicas_from_hub(live: &ComponentReplicaStatus, preserved: Option<ServiceReplicaStatus>) -> ServiceReplicaStatus {
    let (component_name, component_names) =
        match preserved.filter(|preserved| still_hold(preserved, &live.component_names)) {
            Some(preserved) => (preserved.component_name, preserved.component_names),
            None => (Some(live.component_names.last().cloned().unwrap_or_default()), live.component_names.clone()),
        };
    copy_fields!(live => ServiceReplicaStatus {
        component_kind, runtime_namespace, gpus_per_engine, gpus_per_replica,
        replicas, updated_replicas, ready_replicas, available_replicas, scheduled_replicas;
        component_name,
        component_names,
    })
}

/// The deprecated single name counts if there is no list.
fn names(spoke: &ServiceReplicaStatus) -> Vec<String> {
    match name(spoke) {
        name if !name.is_empty() && spoke.component_names.is_empty() => vec![name.to_owned()],
        _ => spoke.component_names.clone(),
    }
}

fn name(spoke: &ServiceReplicaStatus) -> &str {
    spoke.component_name.as_deref().unwrap_or_default()
}

/// The names of `spoke`, if the single name isn't the last of the list.
fn names_apart(spoke: &ServiceReplicaStatus) -> Option<ServiceReplicaStatus> {
    let newest = spoke.component_names.last().map(String::as_str).unwrap_or_default();
    let (component_name, component_names) = (spoke.component_name.clone(), spoke.component_names.clone());
    let names = || ServiceReplicaStatus { component_name, component_names, ..Default::default() };
    (name(spoke) != newest).then(names)
}

/// Whether preserved names are those of the live list; a single name also holds if there is no list.
fn still_hold(preserved: &ServiceReplicaStatus, live: &[String]) -> bool {
    let is_name_alone = preserved.component_names.is_empty() && !name(preserved).is_empty();
    names(preserved) == live || (is_name_alone && live.is_empty())
}

fn rolling_update_to_hub(spoke: &v1alpha1::RollingUpdateStatus) -> v1beta1::RollingUpdateStatus {
    copy_fields!(spoke => v1beta1::RollingUpdateStatus {
        phase, start_time, end_time;
        updated_components: spoke.updated_services.clone(),
    })
}

fn rolling_update_from_hub(update: &v1beta1::RollingUpdateStatus) -> v1alpha1::RollingUpdateStatus {
    copy_fields!(update => v1alpha1::RollingUpdateStatus {
        phase, start_time, end_time;
        updated_services: update.updated_components.clone(),
    })
}
