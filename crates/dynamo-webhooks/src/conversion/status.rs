//! The status: names of backing objects, of which v1alpha1 also has the newest alone, and a pod selector.

use dynamo_api::{v1alpha1, v1beta1};
use gateward_core::{FieldPath, Provenance};

/// The status of a graph in v1beta1.
pub(super) fn lift_graph(written: &v1alpha1::DynamoGraphDeploymentStatus) -> v1beta1::DynamoGraphDeploymentStatus {
    v1beta1::DynamoGraphDeploymentStatus {
        observed_generation: written.observed_generation,
        state: written.state.clone(),
        conditions: written.conditions.clone(),
        components: written.services.iter().map(|(key, service)| (key.clone(), lift_replicas(service))).collect(),
        restart: written.restart.clone(),
        checkpoints: written.checkpoints.clone(),
        rolling_update: written.rolling_update.as_ref().map(lift_rolling_update),
        placement: written.placement.clone(),
    }
}

/// The status of a graph in v1alpha1. `kept` is what was kept of it.
pub(super) fn lower_graph(
    status: &v1beta1::DynamoGraphDeploymentStatus,
    mut kept: v1alpha1::DynamoGraphDeploymentStatus,
) -> v1alpha1::DynamoGraphDeploymentStatus {
    let services = status.components.iter();
    let services = services.map(|(key, live)| (key.clone(), lower_replicas(live, kept.services.remove(key)))).collect();
    v1alpha1::DynamoGraphDeploymentStatus {
        observed_generation: status.observed_generation,
        state: status.state.clone(),
        conditions: status.conditions.clone(),
        services,
        restart: status.restart.clone(),
        checkpoints: status.checkpoints.clone(),
        rolling_update: status.rolling_update.as_ref().map(lower_rolling_update),
        placement: status.placement.clone(),
    }
}

/// What v1beta1 can't say of a graph's status.
pub(super) fn graph_remainder(
    written: &v1alpha1::DynamoGraphDeploymentStatus,
) -> v1alpha1::DynamoGraphDeploymentStatus {
    let services = written.services.iter().filter_map(|(key, service)| Some((key.clone(), names_apart(service)?)));
    v1alpha1::DynamoGraphDeploymentStatus {
        services: services.collect(),
        ..v1alpha1::DynamoGraphDeploymentStatus::default()
    }
}

/// Tells where the members of a graph's status came from.
pub(super) fn record_graph(provenance: &mut Provenance) {
    let status = || FieldPath::field("status");
    provenance.moved(|| (status() / "components", status() / "services"));
    let update = || status() / "rollingUpdate";
    provenance.moved(|| (update() / "updatedComponents", update() / "updatedServices"));
}

/// The status of a standalone component in v1beta1.
pub(super) fn lift_component(
    written: &v1alpha1::DynamoComponentDeploymentStatus,
) -> v1beta1::DynamoComponentDeploymentStatus {
    v1beta1::DynamoComponentDeploymentStatus {
        observed_generation: written.observed_generation,
        conditions: written.conditions.clone().unwrap_or_default(),
        component: written.service.as_ref().map(lift_replicas),
    }
}

/// The status of a standalone component in v1alpha1. `kept` is what was kept of it; a status of which v1beta1 can't say
/// anything comes from there alone.
pub(super) fn lower_component(
    status: Option<&v1beta1::DynamoComponentDeploymentStatus>,
    kept: v1alpha1::DynamoComponentDeploymentStatus,
) -> Option<v1alpha1::DynamoComponentDeploymentStatus> {
    if status.is_none() && kept.pod_selector.is_empty() {
        return None;
    }
    let live = status.and_then(|status| status.component.as_ref());
    Some(v1alpha1::DynamoComponentDeploymentStatus {
        observed_generation: status.and_then(|status| status.observed_generation),
        conditions: Some(status.map(|status| status.conditions.clone()).unwrap_or_default()),
        pod_selector: kept.pod_selector,
        service: live.map(|live| lower_replicas(live, kept.service)),
    })
}

/// What v1beta1 can't say of a component's status.
pub(super) fn component_remainder(
    written: &v1alpha1::DynamoComponentDeploymentStatus,
) -> v1alpha1::DynamoComponentDeploymentStatus {
    v1alpha1::DynamoComponentDeploymentStatus {
        pod_selector: written.pod_selector.clone(),
        service: written.service.as_ref().and_then(names_apart),
        ..v1alpha1::DynamoComponentDeploymentStatus::default()
    }
}

/// Tells where the members of a component's status came from.
pub(super) fn record_component(provenance: &mut Provenance) {
    provenance.moved(|| (FieldPath::field("status") / "component", FieldPath::field("status") / "service"));
}

fn lift_replicas(written: &v1alpha1::ServiceReplicaStatus) -> v1beta1::ComponentReplicaStatus {
    v1beta1::ComponentReplicaStatus {
        component_kind: written.component_kind.clone(),
        component_names: names(written),
        runtime_namespace: written.runtime_namespace.clone(),
        gpus_per_engine: written.gpus_per_engine,
        gpus_per_replica: written.gpus_per_replica,
        replicas: written.replicas,
        updated_replicas: written.updated_replicas,
        ready_replicas: written.ready_replicas,
        available_replicas: written.available_replicas,
        scheduled_replicas: written.scheduled_replicas,
    }
}

/// The newest object is the last in the list, unless it was told apart of a list that is still the same.
fn lower_replicas(
    live: &v1beta1::ComponentReplicaStatus,
    kept: Option<v1alpha1::ServiceReplicaStatus>,
) -> v1alpha1::ServiceReplicaStatus {
    let (component_name, component_names) = match kept.filter(|kept| still_hold(kept, &live.component_names)) {
        Some(kept) => (kept.component_name, kept.component_names),
        None => (Some(live.component_names.last().cloned().unwrap_or_default()), live.component_names.clone()),
    };
    v1alpha1::ServiceReplicaStatus {
        component_kind: live.component_kind.clone(),
        component_name,
        component_names,
        runtime_namespace: live.runtime_namespace.clone(),
        gpus_per_engine: live.gpus_per_engine,
        gpus_per_replica: live.gpus_per_replica,
        replicas: live.replicas,
        updated_replicas: live.updated_replicas,
        ready_replicas: live.ready_replicas,
        available_replicas: live.available_replicas,
        scheduled_replicas: live.scheduled_replicas,
    }
}

/// The one name of old counts where there is no list.
fn names(written: &v1alpha1::ServiceReplicaStatus) -> Vec<String> {
    match name(written) {
        "" => written.component_names.clone(),
        name if written.component_names.is_empty() => vec![name.to_owned()],
        _ => written.component_names.clone(),
    }
}

fn name(written: &v1alpha1::ServiceReplicaStatus) -> &str {
    written.component_name.as_deref().unwrap_or_default()
}

/// The names of `written`, if the list alone doesn't tell them.
fn names_apart(written: &v1alpha1::ServiceReplicaStatus) -> Option<v1alpha1::ServiceReplicaStatus> {
    let newest = written.component_names.last().map(String::as_str).unwrap_or_default();
    (name(written) != newest).then(|| v1alpha1::ServiceReplicaStatus {
        component_name: written.component_name.clone(),
        component_names: written.component_names.clone(),
        ..v1alpha1::ServiceReplicaStatus::default()
    })
}

/// Whether names that were kept are those of the live list; a name alone also holds where the list is gone.
fn still_hold(kept: &v1alpha1::ServiceReplicaStatus, live: &[String]) -> bool {
    let is_name_alone = kept.component_names.is_empty() && !name(kept).is_empty();
    names(kept) == live || (is_name_alone && live.is_empty())
}

fn lift_rolling_update(written: &v1alpha1::RollingUpdateStatus) -> v1beta1::RollingUpdateStatus {
    v1beta1::RollingUpdateStatus {
        phase: written.phase.clone(),
        start_time: written.start_time.clone(),
        end_time: written.end_time.clone(),
        updated_components: written.updated_services.clone(),
    }
}

fn lower_rolling_update(update: &v1beta1::RollingUpdateStatus) -> v1alpha1::RollingUpdateStatus {
    v1alpha1::RollingUpdateStatus {
        phase: update.phase.clone(),
        start_time: update.start_time.clone(),
        end_time: update.end_time.clone(),
        updated_services: update.updated_components.clone(),
    }
}
