//! Looks at the certificates of an installation from outside, for a person.

mod summary;

use std::time::SystemTime;

pub use summary::{Certificate, Consumer, Rotation, Summary};

use gateward_certs::ServerNames;
use gateward_certs::rotation::{
    ObservedState, ROTATE_CA_ANNOTATION, RotationRequest, RotationRequestError, RotationStatus, Step, Wait,
};
use gateward_certs::secret::{CaState, ServingCertificateState};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::json;

use crate::connection::Connection;
use crate::consumers::{ConsumerStore, told};
use crate::keeper::view;
use crate::lease::{Glimpse, glimpse};
use crate::patience::{RequestError, answered};
use crate::report::{ConsumerReport, ConsumerState, Writer};
use crate::secrets::{SecretStore, Which, authority, version};
use crate::setup::Setup;

/// What was found.
#[derive(Debug)]
pub struct Inspection {
    /// The certificates, and what happens next. Replicas were not asked, since Pods can't be reached from everywhere.
    pub status: RotationStatus,
    /// Which replica writes.
    pub writer: Writer,
    /// Since when the writer has been silent for too long, if it has.
    pub silent_since: Option<SystemTime>,
    /// Each object that carries bundles, or is to.
    pub consumers: Vec<ConsumerReport>,
}

/// What became of a request for another authority.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// It was written.
    Now,
    /// It stands there already.
    Before,
    /// An exchange is under way.
    UnderWay,
}

/// Why nothing was found, or asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InspectError {
    /// The API server refused to tell, or was not reached.
    #[error("{0}")]
    Request(String),
    /// There is nothing that could be exchanged.
    #[error("there is no usable authority in Secret {secret}: {state}; the writer makes one by itself")]
    NoAuthority {
        /// The Secret.
        secret: String,
        /// What is there.
        state: String,
    },
    /// The Secret was changed at the same moment.
    #[error("Secret {secret} was changed at the same moment; try again")]
    Changed {
        /// The Secret.
        secret: String,
    },
}

impl From<RequestError> for InspectError {
    fn from(why: RequestError) -> Self {
        Self::Request(why.to_string())
    }
}

/// Looks at everything once.
pub async fn inspect(connection: &Connection, setup: &Setup) -> Result<Inspection, InspectError> {
    let (secrets, consumers) = (SecretStore::new(connection, setup), ConsumerStore::new(connection, setup));
    let authority = secrets.read(Which::Ca).await?;
    let seen = consumers.read().await?;
    let leaf = secrets.read(Which::Leaf).await?;
    let Glimpse { holder, until } = glimpse(connection, setup).await?;
    let now = connection.now();
    let mut wanted = setup.wanted();
    // The first is the one that the API server asks for; the others depend on the cluster's domain, which is not known here.
    let required = wanted.names.iter().take(1).cloned().collect::<Vec<_>>();
    wanted.names = ServerNames::new(required).unwrap_or(wanted.names);
    let view = ObservedState { api_server_time: Some(now), ..view(&wanted, authority.as_ref(), leaf.as_ref(), &seen) };
    let status = RotationStatus::of(&view, now);
    let shown = status.serving.certificate().map(|pair| pair.end_entity().clone());
    Ok(Inspection {
        writer: holder.map_or(Writer::Nobody, Writer::Other),
        silent_since: until.filter(|until| *until < now),
        consumers: told(&seen, consumers.rules(), shown.as_ref()),
        status,
    })
}

impl Inspection {
    /// What a person should look at, each in a sentence; nothing if all is well, or on its way.
    pub fn attention(&self) -> Vec<String> {
        let mut attention = Vec::new();
        if !matches!(self.status.ca, CaState::Usable(_)) {
            attention.push(format!("the authority is {}", self.status.ca));
        }
        if !matches!(self.status.serving, ServingCertificateState::Complete(_)) && self.status.phase.is_none() {
            attention.push(format!("the server's certificate is {}", self.status.serving));
        }
        match (&self.writer, self.silent_since) {
            (Writer::Nobody, _) => attention.push("no replica writes: nobody holds the lease".to_owned()),
            (writer, Some(_)) => attention.push(format!("the writer {writer} is silent, and no other has taken over")),
            _ => {}
        }
        let carries = |it: &&ConsumerReport| it.entry.is_some() && !matches!(it.state, ConsumerState::NotOurs(_));
        if self.consumers.iter().filter(carries).count() == 0 {
            attention.push("no webhook configuration and no CRD calls the Service".to_owned());
        }
        // Where there is no certificate, nobody refuses it.
        let shown = self.status.serving.certificate().is_some();
        let refused = |state: &ConsumerState| *state != ConsumerState::Refuses || shown;
        let at_fault = self.consumers.iter().filter(|it| it.state != ConsumerState::Trusts && refused(&it.state));
        attention.extend(at_fault.map(ToString::to_string));
        attention.extend(self.status.notes.iter().cloned());
        attention
    }

    /// What happens next, as far as it can be told without asking the replicas.
    pub fn next(&self) -> String {
        match &self.status.next {
            Step::Wait(Wait::NoReplica) => "the writer waits until every replica shows the new certificate".to_owned(),
            next => next.to_string(),
        }
    }
}

/// Asks for another authority than the present one. It is exchanged by the writer, and once, however often this is asked.
pub async fn ask_for_rotation(connection: &Connection, setup: &Setup) -> Result<Asked, InspectError> {
    let Inspection { status, .. } = inspect(connection, setup).await?;
    let secret = setup.wanted().ca_secret;
    let Some(present) = status.ca.usable() else {
        return Err(InspectError::NoAuthority { secret, state: status.ca.to_string() });
    };
    if status.phase.is_some() {
        return Ok(Asked::UnderWay);
    }
    let fingerprint = present.trust_anchor().fingerprint();
    let before = SecretStore::new(connection, setup).read(Which::Ca).await?;
    let asked = before.as_ref().and_then(|secret| authority(secret).annotations.get(ROTATE_CA_ANNOTATION).cloned());
    let asked: Option<Result<RotationRequest, RotationRequestError>> = asked.map(|request| request.parse());
    if asked.is_some_and(|request| request.is_ok_and(|request| request.concerns(fingerprint))) {
        return Ok(Asked::Before);
    }
    let annotations = json!({ROTATE_CA_ANNOTATION: RotationRequest::Replace(fingerprint).to_string()});
    // The version guards the write: what was looked at is what is to be exchanged.
    let patch = json!({"metadata": {"resourceVersion": version(before.as_ref()), "annotations": annotations}});
    let api: Api<Secret> = Api::namespaced(connection.client(), &setup.namespace);
    let parameters = PatchParams { field_manager: Some(setup.field_manager.clone()), ..PatchParams::default() };
    let written = answered(api.patch_metadata(&setup.secrets.authority, &parameters, &Patch::Merge(patch))).await;
    match written {
        Ok(_) => Ok(Asked::Now),
        Err(why) if why.is_stale() => Err(InspectError::Changed { secret }),
        Err(why) => Err(why.into()),
    }
}
