//! One look at the cluster, and what follows from it.

use std::time::SystemTime;

use gateward_certs::KeySource;
use gateward_certs::rotation::{
    CertificateSpec, Change, ContentsError, InjectionTarget, InjectionTargetId, ObservedState, Phase, Replica,
    RotationStatus, StateHash, Step,
};
use k8s_openapi::api::core::v1::Secret;

use super::means::Means;
use crate::consumers::Sighting;
use crate::patience::RequestError;
use crate::secrets::{Which, authority as authority_secret, data, version};

/// What was read, in the order that [`ObservedState`] demands.
pub(super) struct Look {
    pub(super) authority: Option<Secret>,
    pub(super) leaf: Option<Secret>,
    pub(super) consumers: Vec<Sighting>,
    pub(super) replicas: Vec<Replica>,
    api_server_time: Option<SystemTime>,
}

/// What follows from a look.
pub(super) struct Decision {
    pub(super) step: Step,
    /// What is to be written, where the step is a write.
    pub(super) change: Option<Result<Change, ContentsError>>,
    pub(super) phase: Option<Phase>,
    pub(super) notes: Vec<String>,
}

impl Look {
    /// Reads everything; `None` if the authority's Secret has changed meanwhile.
    pub(super) async fn take(means: &Means) -> Result<Option<Self>, RequestError> {
        let authority = means.secrets.read(Which::Ca).await?;
        let now = means.connection.now();
        let replicas = means.replicas.read(now).await?;
        let consumers = means.consumers.read().await?;
        let leaf = means.secrets.read(Which::Leaf).await?;
        let again = means.secrets.read(Which::Ca).await?;
        if version(authority.as_ref()) != version(again.as_ref()) {
            return Ok(None);
        }
        let api_server_time = means.connection.api_server_time();
        Ok(Some(Self { authority, leaf, consumers, replicas, api_server_time }))
    }

    /// What is to be done about it. Making a key may take a second of computing.
    pub(super) fn decide(
        &self,
        wanted: &CertificateSpec,
        settled: Option<StateHash>,
        now: SystemTime,
        keys: &dyn KeySource,
    ) -> Decision {
        let view = self.view(wanted, settled);
        let RotationStatus { phase, next: step, notes, .. } = RotationStatus::of(&view, now);
        let change = match &step {
            Step::Write(write) => Some(write.contents(&view, now, keys)),
            Step::Wait(_) => None,
        };
        Decision { step, change, phase, notes }
    }

    /// A consumer as it was read.
    pub(super) fn consumer(&self, id: &InjectionTargetId) -> Option<&InjectionTarget> {
        let mut entries = self.consumers.iter().flat_map(|sighting| &sighting.entries);
        entries.find(|entry| entry.consumer.id == *id).map(|entry| &entry.consumer)
    }

    fn view<'a>(&self, wanted: &'a CertificateSpec, settled: Option<StateHash>) -> ObservedState<'a> {
        let Self { authority, leaf, consumers, replicas, api_server_time } = self;
        let view = view(wanted, authority.as_ref(), leaf.as_ref(), consumers);
        ObservedState { replicas: replicas.clone(), api_server_time: *api_server_time, settled, ..view }
    }
}

/// What was read, as decisions take it.
pub(crate) fn view<'a>(
    wanted: &'a CertificateSpec,
    authority: Option<&Secret>,
    leaf: Option<&Secret>,
    consumers: &[Sighting],
) -> ObservedState<'a> {
    let entries = consumers.iter().flat_map(|sighting| &sighting.entries);
    ObservedState {
        ca_secret: authority.map(authority_secret),
        serving_secret: leaf.map(data),
        targets: entries.map(|entry| entry.consumer.clone()).collect(),
        ..ObservedState::empty(wanted)
    }
}
