//! The contents of a write.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::ca_secret::{OLD_CRT, OLD_KEY};
use super::observed::ObservedState;
use super::progress::{Phase, RotationProgress};
use super::state::RotationState;
use super::step::{CaBundleWrite, CaSecretWrite, Incoming, ServingSecretWrite, Signer, Write};
use crate::ca::{Ca, IssueError};
use crate::ca_bundle::CaBundle;
use crate::keys::KeySource;
use crate::secret::{CA_CRT, CA_KEY, CaState, SecretData, TLS_CRT, TLS_KEY};
use crate::validity::Validity;

/// A change of an object.
///
/// Every write is guarded: by the resourceVersion with which the object was read, or, where it was not there, by being
/// a creation. A conflict is no failure: the next step is decided anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// To the CA's Secret.
    CaSecret(SecretChange),
    /// To the serving Secret.
    ServingSecret(SecretChange),
    /// To injection targets.
    CaBundles(Vec<CaBundleWrite>),
}

/// The new contents of a Secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretChange {
    /// The whole data.
    pub data: SecretData,
    /// Annotations that are set, or removed where there is no value; the others stay.
    pub annotations: BTreeMap<String, Option<String>>,
}

impl Write {
    /// The contents. `observed` is the state that the step was decided on.
    pub fn contents(
        &self,
        observed: &ObservedState<'_>,
        now: SystemTime,
        keys: &dyn KeySource,
    ) -> Result<Change, ContentsError> {
        let state = RotationState::of(observed, now);
        match self {
            Self::CaSecret(write) => Ok(Change::CaSecret(state.ca_secret_change(write, keys)?)),
            Self::ServingSecret(ServingSecretWrite::Issue { signer, .. }) => {
                Ok(Change::ServingSecret(state.serving_secret_change(*signer, keys)?))
            }
            Self::ServingSecret(ServingSecretWrite::DropOldKey) => {
                let data = observed.serving_secret.clone().ok_or(ContentsError::OutdatedState)?;
                Ok(Change::ServingSecret(data.without(CA_KEY).into()))
            }
            Self::CaBundles(writes) => Ok(Change::CaBundles(writes.clone())),
        }
    }
}

/// Why there is nothing to write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ContentsError {
    /// A certificate could not be made.
    #[error(transparent)]
    Issue(#[from] IssueError),
    /// The clocks differ, so nothing can be dated.
    #[error("the clocks of this pod and of the API server differ; set the clock of the node")]
    ClocksDisagree,
    /// The write was decided on another observed state.
    #[error("the write was decided on another view; look again and decide anew")]
    OutdatedState,
}

impl From<SecretData> for SecretChange {
    fn from(data: SecretData) -> Self {
        Self { data, ..Self::default() }
    }
}

impl SecretChange {
    fn annotated(mut self, annotation: &str, value: Option<String>) -> Self {
        self.annotations.insert(annotation.to_owned(), value);
        self
    }
}

impl RotationState<'_> {
    fn ca_secret_change(&self, write: &CaSecretWrite, keys: &dyn KeySource) -> Result<SecretChange, ContentsError> {
        let data = self.observed.ca_secret.as_ref().map(|secret| secret.data.clone()).unwrap_or_default();
        let request = &self.observed.spec.annotations.request;
        match write {
            CaSecretWrite::Create => Ok(self.over(with(data, &self.new_ca(keys)?)).annotated(request, None)),
            CaSecretWrite::Adopt => {
                let legacy = self.legacy_ca();
                let legacy = legacy.usable().ok_or(ContentsError::OutdatedState)?;
                Ok(self.over(with(data, legacy)))
            }
            CaSecretWrite::Begin { incoming, outgoing, outgoing_signer, cause } => {
                let key = outgoing_signer.map(|signer| self.signer(signer)).transpose()?.map(Ca::private_key_pem);
                let data = with_old(data, outgoing, key);
                let (data, to) = match incoming {
                    Incoming::Present => (data, self.signer(Signer::Present)?.trust_anchor().fingerprint()),
                    Incoming::New => {
                        let new = self.new_ca(keys)?;
                        (with(data, &new), new.trust_anchor().fingerprint())
                    }
                };
                let progress =
                    RotationProgress { phase: Phase::Publish, cause: Some(*cause), since: Some(self.now), to };
                let change = self.marked(data, progress);
                Ok(if *incoming == Incoming::New { change.annotated(request, None) } else { change })
            }
            CaSecretWrite::Switch => self.entered(data, Phase::Switch),
            CaSecretWrite::Retire => self.entered(without_old(data), Phase::Retire),
            CaSecretWrite::Finish => Ok(self.over(data)),
            CaSecretWrite::DropRequest => Ok(SecretChange::from(data).annotated(request, None)),
        }
    }

    fn entered(&self, data: SecretData, phase: Phase) -> Result<SecretChange, ContentsError> {
        let cause = self.ca_secret.progress.and_then(|progress| progress.cause);
        let to = self.signer(Signer::Present)?.trust_anchor().fingerprint();
        let progress = RotationProgress { phase, cause, since: Some(self.now), to };
        Ok(self.marked(data, progress))
    }

    /// With the progress of a rotation.
    fn marked(&self, data: SecretData, progress: RotationProgress) -> SecretChange {
        let annotation = &self.observed.spec.annotations.progress;
        SecretChange::from(data).annotated(annotation, Some(progress.to_string()))
    }

    /// With no rotation under way.
    fn over(&self, data: SecretData) -> SecretChange {
        SecretChange::from(without_old(data)).annotated(&self.observed.spec.annotations.progress, None)
    }

    fn signer(&self, signer: Signer) -> Result<&Ca, ContentsError> {
        let state = match signer {
            Signer::Present => Some(&self.ca_secret.present),
            Signer::Outgoing => self.ca_secret.outgoing.as_ref().map(|outgoing| &outgoing.ca),
        };
        state.and_then(CaState::usable).ok_or(ContentsError::OutdatedState)
    }

    fn new_ca(&self, keys: &dyn KeySource) -> Result<Ca, ContentsError> {
        let spec = self.observed.spec;
        let time = self.time.ok_or(ContentsError::ClocksDisagree)?;
        let validity = Validity::starting(time, spec.lifetimes.ca.duration()).map_err(IssueError::from)?;
        Ok(Ca::new(&spec.ca_name, validity, keys)?)
    }

    fn serving_secret_change(&self, signer: Signer, keys: &dyn KeySource) -> Result<SecretChange, ContentsError> {
        let ca = self.signer(signer)?;
        self.time.ok_or(ContentsError::ClocksDisagree)?;
        let validity = self.server_validity(ca).ok_or(ContentsError::OutdatedState)?;
        let serving = ca.issue(&self.observed.spec.names, validity, keys)?;
        let data = self.observed.serving_secret.clone().unwrap_or_default();
        let data = data.with(TLS_CRT, serving.certificate_pem()).with(TLS_KEY, serving.private_key_pem());
        Ok(data.with(CA_CRT, ca.certificate_pem()).without(CA_KEY).into())
    }
}

fn with(data: SecretData, ca: &Ca) -> SecretData {
    data.with(TLS_CRT, ca.certificate_pem()).with(TLS_KEY, ca.private_key_pem())
}

fn with_old(data: SecretData, outgoing: &CaBundle, key: Option<String>) -> SecretData {
    let data = data.with(OLD_CRT, outgoing.to_pem());
    match key {
        Some(key) => data.with(OLD_KEY, key),
        None => data.without(OLD_KEY),
    }
}

fn without_old(data: SecretData) -> SecretData {
    data.without(OLD_CRT).without(OLD_KEY)
}
