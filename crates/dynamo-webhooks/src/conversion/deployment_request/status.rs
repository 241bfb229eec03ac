//! The status. The states of v1alpha1 don't map one to one to the phases of v1beta1.

use dynamo_api::v1alpha1::{DeploymentStatus, RequestState};
use dynamo_api::v1beta1::{ProfilingResults, RequestPhase};
use gateward::Issues;

use super::generated_deployment;
use super::versions::{HubStatus, SpokeStatus};
use crate::conversion::copy_fields::copy_fields;

/// Converts a v1alpha1 status to v1beta1, with the `preserved` v1beta1 fields.
pub(super) fn to_hub(spoke: &SpokeStatus, preserved: &HubStatus) -> HubStatus {
    let name = deployed_name(spoke);
    let is_preserved_deployed = preserved.phase == Some(RequestPhase::Deployed)
        && spoke.state == Some(RequestState::Ready)
        && preserved.dgd_name == name;
    let phase = if is_preserved_deployed { RequestPhase::Deployed } else { phase(spoke) };
    let while_profiling = Some(preserved).filter(|_| phase == RequestPhase::Profiling);
    HubStatus {
        profiling_phase: while_profiling.and_then(|preserved| preserved.profiling_phase.clone()),
        profiling_job_name: while_profiling.map(|preserved| preserved.profiling_job_name.clone()).unwrap_or_default(),
        phase: Some(phase),
        dgd_name: name.to_owned(),
        conditions: spoke.conditions.clone(),
        profiling_results: profiling_results(spoke, preserved),
        deployment_info: preserved.deployment_info.clone().filter(|_| preserved.dgd_name == name),
        observed_generation: spoke.observed_generation,
    }
}

/// The fields that v1beta1 lacks.
pub(super) fn spoke_only(spoke: &SpokeStatus) -> SpokeStatus {
    let is_odd = matches!(
        spoke.state,
        Some(RequestState::Initializing | RequestState::DeploymentDeleted | RequestState::Other(_))
    );
    let deployment = spoke.deployment.clone().filter(|deployment| is_odd || has_more_than_a_name(deployment));
    copy_fields!(spoke => SpokeStatus {
        backend, profiling_results;
        state: spoke.state.clone().filter(|_| is_odd || deployment.is_some()),
        deployment,
        ..SpokeStatus::default()
    })
}

/// Converts a v1beta1 status to v1alpha1, with the `preserved` v1alpha1 fields.
pub(super) fn from_hub(hub: &HubStatus, preserved: &SpokeStatus, issues: &mut Issues) -> SpokeStatus {
    let validity = StateValidity::of(hub, preserved);
    let state = preserved.state.clone().filter(|_| validity != StateValidity::Stale);
    SpokeStatus {
        state: Some(state.unwrap_or_else(|| state_of(hub.phase.as_ref()))),
        backend: preserved.backend.clone(),
        observed_generation: hub.observed_generation,
        conditions: hub.conditions.clone(),
        profiling_results: preserved.profiling_results.clone(),
        generated_deployment: generated_deployment::of(hub, issues),
        deployment: deployment(hub, preserved, validity),
    }
}

/// The fields that v1alpha1 lacks, of a status that is converted to `spoke`.
pub(super) fn hub_only(hub: &HubStatus, spoke: &SpokeStatus) -> HubStatus {
    let deployed = hub.phase == Some(RequestPhase::Deployed) && phase(spoke) != RequestPhase::Deployed;
    let is_profiling = hub.phase == Some(RequestPhase::Profiling);
    let pareto = hub.profiling_results.as_ref().map(|results| results.pareto.clone()).unwrap_or_default();
    let named = deployed || hub.deployment_info.is_some();
    HubStatus {
        phase: deployed.then_some(RequestPhase::Deployed),
        dgd_name: if named { hub.dgd_name.clone() } else { String::new() },
        profiling_phase: hub.profiling_phase.clone().filter(|_| is_profiling),
        profiling_job_name: if is_profiling { hub.profiling_job_name.clone() } else { String::new() },
        profiling_results: (!pareto.is_empty()).then(|| ProfilingResults { pareto, selected_config: None }),
        deployment_info: hub.deployment_info.clone(),
        ..HubStatus::default()
    }
}

/// How much of a preserved state and deployment is valid for the live phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StateValidity {
    /// All of it.
    Valid,
    /// All but `created`: by the live phase the graph isn't created.
    GraphNotCreated,
    /// None of it.
    Stale,
}

impl StateValidity {
    fn of(hub: &HubStatus, preserved: &SpokeStatus) -> Self {
        let live = hub.phase.as_ref();
        match &preserved.state {
            Some(RequestState::DeploymentDeleted) if deployed_name(preserved) != hub.dgd_name => Self::Stale,
            Some(RequestState::Ready) if live == Some(&RequestPhase::Deployed) => Self::Valid,
            Some(RequestState::Ready) if live == Some(&RequestPhase::Ready) => {
                if phase(preserved) == RequestPhase::Ready { Self::Valid } else { Self::GraphNotCreated }
            }
            _ if phase(preserved) == *live.unwrap_or(&RequestPhase::Pending) => Self::Valid,
            _ => Self::Stale,
        }
    }
}

fn phase(spoke: &SpokeStatus) -> RequestPhase {
    match &spoke.state {
        Some(RequestState::Profiling) => RequestPhase::Profiling,
        Some(RequestState::Deploying) => RequestPhase::Deploying,
        Some(RequestState::Failed) => RequestPhase::Failed,
        Some(RequestState::Ready) if spoke.deployment.as_ref().is_some_and(|deployment| deployment.created) => {
            RequestPhase::Deployed
        }
        Some(RequestState::Ready | RequestState::DeploymentDeleted) => RequestPhase::Ready,
        Some(RequestState::Initializing | RequestState::Pending | RequestState::Other(_)) | None => {
            RequestPhase::Pending
        }
    }
}

fn state_of(phase: Option<&RequestPhase>) -> RequestState {
    match phase {
        Some(RequestPhase::Profiling) => RequestState::Profiling,
        Some(RequestPhase::Deploying) => RequestState::Deploying,
        Some(RequestPhase::Ready | RequestPhase::Deployed) => RequestState::Ready,
        Some(RequestPhase::Failed) => RequestState::Failed,
        Some(RequestPhase::Pending | RequestPhase::Other(_)) | None => RequestState::Pending,
    }
}

fn deployed_name(spoke: &SpokeStatus) -> &str {
    spoke.deployment.as_ref().map_or("", |deployment| deployment.name.as_str())
}

fn has_more_than_a_name(deployment: &DeploymentStatus) -> bool {
    let only_named = DeploymentStatus { name: deployment.name.clone(), ..DeploymentStatus::default() };
    *deployment != only_named || deployment.name.is_empty()
}

fn profiling_results(spoke: &SpokeStatus, preserved: &HubStatus) -> Option<ProfilingResults> {
    let pareto = preserved.profiling_results.as_ref().map(|results| results.pareto.clone()).unwrap_or_default();
    let results = ProfilingResults { pareto, selected_config: spoke.generated_deployment.clone() };
    Some(results).filter(|results| *results != ProfilingResults::default())
}

/// A deployment that v1beta1 only names isn't `created`: else a v1alpha1 controller wouldn't create it.
fn deployment(hub: &HubStatus, preserved: &SpokeStatus, validity: StateValidity) -> Option<DeploymentStatus> {
    let preserved = preserved
        .deployment
        .clone()
        .filter(|preserved| validity != StateValidity::Stale && preserved.name == hub.dgd_name);
    if let Some(preserved) = preserved {
        return Some(DeploymentStatus { created: preserved.created && validity == StateValidity::Valid, ..preserved });
    }
    let name = hub.dgd_name.clone();
    (!name.is_empty()).then(|| DeploymentStatus { name, ..DeploymentStatus::default() })
}
