//! The status, as far as both versions can say it.

use dynamo_api::{v1alpha1, v1beta1};

/// The status of a graph.
pub(super) fn graph(written: &v1alpha1::DynamoGraphDeploymentStatus) -> v1beta1::DynamoGraphDeploymentStatus {
    v1beta1::DynamoGraphDeploymentStatus {
        observed_generation: written.observed_generation,
        state: written.state.clone(),
        conditions: written.conditions.clone(),
        components: written.services.iter().map(|(key, service)| (key.clone(), replicas(service))).collect(),
        restart: written.restart.clone(),
        checkpoints: written.checkpoints.clone(),
        rolling_update: written.rolling_update.as_ref().map(rolling_update),
        placement: written.placement.clone(),
    }
}

/// The status of a standalone component.
pub(super) fn component(
    written: &v1alpha1::DynamoComponentDeploymentStatus,
) -> v1beta1::DynamoComponentDeploymentStatus {
    v1beta1::DynamoComponentDeploymentStatus {
        observed_generation: written.observed_generation,
        conditions: written.conditions.clone(),
        component: written.service.as_ref().map(replicas),
    }
}

fn replicas(written: &v1alpha1::ServiceReplicaStatus) -> v1beta1::ComponentReplicaStatus {
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

/// The one name of old counts where there is no list.
fn names(written: &v1alpha1::ServiceReplicaStatus) -> Vec<String> {
    if written.component_names.is_empty() && !written.component_name.is_empty() {
        return vec![written.component_name.clone()];
    }
    written.component_names.clone()
}

fn rolling_update(written: &v1alpha1::RollingUpdateStatus) -> v1beta1::RollingUpdateStatus {
    v1beta1::RollingUpdateStatus {
        phase: written.phase.clone(),
        start_time: written.start_time.clone(),
        end_time: written.end_time.clone(),
        updated_components: written.updated_services.clone(),
    }
}
