//! A snapshot of the cluster, and the decision that follows from it.

use std::time::SystemTime;

use gateward_certs::KeySource;
use gateward_certs::rotation::{
    CertificateSpec, Change, ContentsError, InjectionTarget, InjectionTargetId, ObservedState, Phase, Replica,
    RotationStatus, StateHash, Step,
};
use k8s_openapi::api::core::v1::Secret;

use super::leader::LeaderContext;
use crate::connection::Connection;
use crate::injection::TargetObject;
use crate::replicas::Replicas;
use crate::request::RequestError;
use crate::secrets::{ManagedSecret, ca as ca_secret_of, data, version};

/// What was read, in the order that [`ObservedState`] demands.
pub(super) struct Snapshot {
    pub(super) ca: Option<Secret>,
    pub(super) serving: Option<Secret>,
    pub(super) targets: Vec<TargetObject>,
    pub(super) replicas: Vec<Replica>,
    api_server_time: Option<SystemTime>,
}

/// What follows from a snapshot.
pub(super) struct Decision {
    pub(super) step: Step,
    /// The contents, if the step is a write.
    pub(super) change: Option<Result<Change, ContentsError>>,
    pub(super) phase: Option<Phase>,
    pub(super) notes: Vec<String>,
}

impl Snapshot {
    /// Reads everything. Returns `None` if the CA's Secret has changed meanwhile.
    pub(super) async fn read(
        LeaderContext { secrets, targets, .. }: &LeaderContext,
        replicas: &Replicas,
        connection: &Connection,
    ) -> Result<Option<Self>, RequestError> {
        let ca = secrets.read(ManagedSecret::Ca).await?;
        let replicas = replicas.read(connection.now()).await?;
        let targets = targets.read().await?;
        let serving = secrets.read(ManagedSecret::Serving).await?;
        let again = secrets.read(ManagedSecret::Ca).await?;
        if version(ca.as_ref()) != version(again.as_ref()) {
            return Ok(None);
        }
        let api_server_time = connection.api_server_time();
        Ok(Some(Self { ca, serving, targets, replicas, api_server_time }))
    }

    /// Decides the next step. Making a key may take a second of computing.
    pub(super) fn decide(
        &self,
        spec: &CertificateSpec,
        settled: Option<StateHash>,
        now: SystemTime,
        keys: &dyn KeySource,
    ) -> Decision {
        let observed_state = self.observed_state(spec, settled);
        let RotationStatus { phase, next: step, notes, .. } = RotationStatus::of(&observed_state, now);
        let change = match &step {
            Step::Write(write) => Some(write.contents(&observed_state, now, keys)),
            Step::Wait(_) => None,
        };
        Decision { step, change, phase, notes }
    }

    /// An injection target as it was read.
    pub(super) fn target(&self, id: &InjectionTargetId) -> Option<&InjectionTarget> {
        let mut entries = self.targets.iter().flat_map(|object| &object.entries);
        entries.find(|entry| entry.target.id == *id).map(|entry| &entry.target)
    }

    fn observed_state<'a>(&self, spec: &'a CertificateSpec, settled: Option<StateHash>) -> ObservedState<'a> {
        let Self { ca, serving, targets, replicas, api_server_time } = self;
        let observed_state = observed_state(spec, ca.as_ref(), serving.as_ref(), targets);
        ObservedState { replicas: replicas.clone(), api_server_time: *api_server_time, settled, ..observed_state }
    }
}

/// What was read, as [`ObservedState`].
pub(crate) fn observed_state<'a>(
    spec: &'a CertificateSpec,
    ca: Option<&Secret>,
    serving: Option<&Secret>,
    targets: &[TargetObject],
) -> ObservedState<'a> {
    let entries = targets.iter().flat_map(|object| &object.entries);
    ObservedState {
        ca_secret: ca.map(ca_secret_of),
        serving_secret: serving.map(data),
        targets: entries.map(|entry| entry.target.clone()).collect(),
        ..ObservedState::empty(spec)
    }
}
