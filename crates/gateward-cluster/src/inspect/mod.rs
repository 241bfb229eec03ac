//! Inspects the certificates of an installation from outside, for `certs status` and `certs rotate`.

mod configuration;
mod error;
mod provided;
mod summary;

use std::time::SystemTime;

pub use configuration::configuration_file;
pub use error::InspectError;
pub use provided::ProvidedStatus;
pub(crate) use provided::certificate_name;
pub use summary::{CertificateSummary, RotationSummary, Summary, TargetSummary};

use gateward_certs::rotation::{ObservedState, RotationRequest, RotationRequestError, RotationStatus, Step, Wait};
use gateward_certs::secret::{CaState, ServingCertificate, ServingCertificateState};
use gateward_certs::{Provision, ProvisionMode, ServerNames};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kube::api::{Patch, PatchParams};
use rustls::pki_types::CertificateDer;
use serde_json::json;

use crate::cert_controller::observed_state;
use crate::config::ControllerConfig;
use crate::connection::Connection;
use crate::injection::{TargetObject, TargetState, TargetStatus, TargetStore, target_statuses};
use crate::lease::{LeaseStatus, lease_status};
use crate::request::with_short_timeout;
use crate::secrets::{ManagedSecret, SecretStore, ca, version};
use crate::status::Leader;

/// The state of certificates and injection targets.
#[derive(Debug)]
pub struct Inspection {
    /// Who provides certificates and `caBundle`s.
    pub provider: ProvisionMode,
    /// The certificates, and what happens next. Replicas are not probed: Pods can't be reached from everywhere.
    pub status: CertificatesStatus,
    /// The leader.
    pub leader: Leader,
    /// Since when the lease has been expired, if it has.
    pub silent_since: Option<SystemTime>,
    /// The status of each injection target.
    pub targets: Vec<TargetStatus>,
}

/// The certificates, by who provides them.
#[derive(Debug)]
pub enum CertificatesStatus {
    /// The leader.
    Own(Box<RotationStatus>),
    /// cert-manager or the user.
    Provided(Box<ProvidedStatus>),
}

/// The outcome of a request for a CA rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RotationRequestOutcome {
    /// The request was written.
    Requested,
    /// The same request is pending.
    AlreadyRequested,
    /// A rotation is under way.
    InProgress,
}

/// Reads everything once.
pub async fn inspect(connection: &Connection, config: &ControllerConfig) -> Result<Inspection, InspectError> {
    let (secrets, targets) = (SecretStore::new(connection, config), TargetStore::new(connection, config));
    let ca = secrets.read(ManagedSecret::Ca).await?;
    let seen = targets.read().await?;
    let serving = secrets.read(ManagedSecret::Serving).await?;
    let LeaseStatus { holder, until } = lease_status(connection, config).await?;
    let now = connection.now();
    let provision = provided::provision(config, ca.as_ref(), serving.as_ref());
    let (status, chain) = if provision == Provision::Automatic {
        own(config, ca.as_ref(), serving.as_ref(), &seen, now)
    } else {
        let bundle = secrets.read(ManagedSecret::Bundle).await?;
        let status = ProvidedStatus::of(config, &provision, bundle.as_ref(), serving.as_ref(), &seen, now);
        let chain = status.serving.as_ref().map(ServingCertificate::chain);
        (CertificatesStatus::Provided(Box::new(status)), chain)
    };
    Ok(Inspection {
        provider: provision.mode(),
        leader: holder.map_or(Leader::Unknown, Leader::Other),
        silent_since: until.filter(|until| *until < now),
        targets: target_statuses(&seen, targets.rules(), &chain.unwrap_or_default()),
        status,
    })
}

type Chain = Vec<CertificateDer<'static>>;

/// The status of certificates that the leader makes, and the chain of the serving certificate.
fn own(
    config: &ControllerConfig,
    ca: Option<&Secret>,
    serving: Option<&Secret>,
    seen: &[TargetObject],
    now: SystemTime,
) -> (CertificatesStatus, Option<Chain>) {
    let mut spec = config.spec();
    // The first is the one that the API server asks for; the others depend on the cluster's domain, which is not known
    // here.
    let required = spec.names.iter().take(1).cloned().collect::<Vec<_>>();
    spec.names = ServerNames::new(required).unwrap_or(spec.names);
    let observed_state = ObservedState { api_server_time: Some(now), ..observed_state(&spec, ca, serving, seen) };
    let status = RotationStatus::of(&observed_state, now);
    let chain = status.serving.certificate().map(ServingCertificate::chain);
    (CertificatesStatus::Own(Box::new(status)), chain)
}

impl CertificatesStatus {
    /// What a person should look at.
    fn attention(&self) -> Vec<String> {
        let status = match self {
            Self::Provided(status) => return status.faults.iter().map(ToString::to_string).collect(),
            Self::Own(status) => status,
        };
        let mut attention = status.notes.clone();
        if !matches!(status.serving, ServingCertificateState::Complete(_)) && status.phase.is_none() {
            attention.insert(0, format!("the serving certificate: {}", status.serving));
        }
        if !matches!(status.ca, CaState::Usable(_)) {
            attention.insert(0, format!("the CA: {}", status.ca));
        }
        attention
    }

    /// Whether there is a certificate to serve.
    fn has_certificate(&self) -> bool {
        match self {
            Self::Own(status) => status.serving.certificate().is_some(),
            Self::Provided(status) => status.serving.is_some(),
        }
    }
}

impl Inspection {
    /// What a person should look at, each in a sentence; nothing if all is well, or on its way.
    pub fn attention(&self) -> Vec<String> {
        let mut attention = self.status.attention();
        match (&self.leader, self.silent_since) {
            (Leader::Unknown, _) => attention.push("no replica writes: the lease has no holder".to_owned()),
            (leader, Some(_)) => attention.push(format!("the leader {leader} is silent, and no other has taken over")),
            _ => {}
        }
        let carries = |it: &&TargetStatus| it.entry.is_some() && !matches!(it.state, TargetState::NotOurs(_));
        if self.targets.iter().filter(carries).count() == 0 {
            attention.push("no webhook configuration and no CRD calls the Service".to_owned());
        }
        // Without a certificate, no `caBundle` is wrong.
        let shown = self.status.has_certificate();
        let refused = |state: &TargetState| *state != TargetState::Refuses || shown;
        let at_fault = self.targets.iter().filter(|it| it.state != TargetState::Trusts && refused(&it.state));
        attention.extend(at_fault.map(ToString::to_string));
        attention
    }

    /// The next step, as far as it is known without probing the replicas.
    pub fn next(&self) -> String {
        let status = match &self.status {
            CertificatesStatus::Provided(status) => return status.next.clone(),
            CertificatesStatus::Own(status) => status,
        };
        match &status.next {
            Step::Wait(Wait::NoReplica) => "the leader waits until every replica serves the new certificate".to_owned(),
            next => next.to_string(),
        }
    }
}

/// Requests a rotation of the present CA. The leader rotates it once, however often it is requested.
pub async fn request_rotation(
    connection: &Connection,
    config: &ControllerConfig,
) -> Result<RotationRequestOutcome, InspectError> {
    let Inspection { status, provider, .. } = inspect(connection, config).await?;
    let status = match status {
        CertificatesStatus::Own(status) => status,
        CertificatesStatus::Provided(status) => return Err(status.not_ours(provider, config)),
    };
    let (secret, annotation) = (config.spec().ca_secret, config.spec().annotations.request);
    let Some(present) = status.ca.usable() else {
        return Err(InspectError::NoCa { secret, state: status.ca.to_string() });
    };
    if status.phase.is_some() {
        return Ok(RotationRequestOutcome::InProgress);
    }
    let fingerprint = present.trust_anchor().fingerprint();
    let before = SecretStore::new(connection, config).read(ManagedSecret::Ca).await?;
    let asked = before.as_ref().and_then(|secret| ca(secret).annotations.get(&annotation).cloned());
    let asked: Option<Result<RotationRequest, RotationRequestError>> = asked.map(|request| request.parse());
    if asked.is_some_and(|request| request.is_ok_and(|request| request.concerns(fingerprint))) {
        return Ok(RotationRequestOutcome::AlreadyRequested);
    }
    let annotations = json!({annotation: RotationRequest::Replace(fingerprint).to_string()});
    // The resourceVersion guards the write: the CA that was inspected is the one to rotate.
    let patch = json!({"metadata": {"resourceVersion": version(before.as_ref()), "annotations": annotations}});
    let api: Api<Secret> = Api::namespaced(connection.client(), &config.namespace);
    let parameters = PatchParams { field_manager: Some(config.field_manager.clone()), ..PatchParams::default() };
    let written = with_short_timeout(api.patch_metadata(&config.secrets.ca, &parameters, &Patch::Merge(patch))).await;
    match written {
        Ok(_) => Ok(RotationRequestOutcome::Requested),
        Err(why) if why.is_stale() => Err(InspectError::Changed { secret }),
        Err(why) => Err(why.into()),
    }
}
