//! What a write writes.

use std::collections::BTreeMap;
use std::time::SystemTime;

use super::kept::{OLD_CERTIFICATES, OLD_PRIVATE_KEY};
use super::progress::{PROGRESS, Phase, Progress, REQUEST};
use super::situation::Situation;
use super::step::{AuthorityWrite, BundleWrite, Incoming, LeafWrite, Signer, Write};
use super::view::View;
use crate::authority::{Authority, IssueError};
use crate::bundle::Bundle;
use crate::keys::KeySource;
use crate::secret::{
    AuthorityFields, AuthorityState, CERTIFICATE, OLD_PLACE_OF_THE_AUTHORITYS_KEY, PRIVATE_KEY, SecretData, TRUST,
};
use crate::validity::Validity;

/// What is to be written, and where.
///
/// Every write is guarded: by the resourceVersion with which the object was read, or, where it was not there, by being
/// a creation. A write that is refused for that is no failure: the next look decides anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// To the authority's Secret.
    AuthoritySecret(SecretChange),
    /// To the server's Secret.
    LeafSecret(SecretChange),
    /// To consumers.
    Bundles(Vec<BundleWrite>),
}

/// What becomes of a Secret.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretChange {
    /// The whole data.
    pub data: SecretData,
    /// Annotations that are set, or removed where there is no value; the others stay.
    pub annotations: BTreeMap<&'static str, Option<String>>,
}

impl Write {
    /// What to write. `view` is the one that the step was decided on.
    pub fn contents(&self, view: &View<'_>, now: SystemTime, keys: &dyn KeySource) -> Result<Change, ContentsError> {
        let situation = Situation::of(view, now);
        match self {
            Self::Authority(write) => Ok(Change::AuthoritySecret(situation.authority_secret(write, keys)?)),
            Self::Leaf(LeafWrite::Issue { signer, .. }) => Ok(Change::LeafSecret(situation.issued(*signer, keys)?)),
            Self::Leaf(LeafWrite::DropOldKey) => {
                let data = view.leaf.clone().ok_or(ContentsError::OtherView)?;
                Ok(Change::LeafSecret(data.without(OLD_PLACE_OF_THE_AUTHORITYS_KEY).into()))
            }
            Self::Bundles(writes) => Ok(Change::Bundles(writes.clone())),
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
    /// The write was decided on another view.
    #[error("the write was decided on another view; look again and decide anew")]
    OtherView,
}

impl From<SecretData> for SecretChange {
    fn from(data: SecretData) -> Self {
        Self { data, ..Self::default() }
    }
}

impl SecretChange {
    fn annotated(mut self, annotation: &'static str, value: Option<String>) -> Self {
        self.annotations.insert(annotation, value);
        self
    }
}

impl Situation<'_> {
    fn authority_secret(&self, write: &AuthorityWrite, keys: &dyn KeySource) -> Result<SecretChange, ContentsError> {
        let data = self.view.authority.as_ref().map(|secret| secret.data.clone()).unwrap_or_default();
        match write {
            AuthorityWrite::Create => {
                Ok(over(without_old(with(data, &self.new_authority(keys)?))).annotated(REQUEST, None))
            }
            AuthorityWrite::Adopt => Ok(over(without_old(with(data, &self.in_old_place()?)))),
            AuthorityWrite::Begin { incoming, outgoing, outgoing_signer, cause } => {
                let key =
                    outgoing_signer.map(|signer| self.signer(signer)).transpose()?.map(Authority::private_key_pem);
                let data = with_old(data, outgoing, key);
                let (data, to) = match incoming {
                    Incoming::Present => (data, self.signer(Signer::Present)?.anchor().fingerprint()),
                    Incoming::New => {
                        let new = self.new_authority(keys)?;
                        (with(data, &new), new.anchor().fingerprint())
                    }
                };
                let progress = Progress { phase: Phase::Publish, cause: Some(*cause), since: Some(self.now), to };
                let change = SecretChange::from(data).annotated(PROGRESS, Some(progress.to_string()));
                Ok(if *incoming == Incoming::New { change.annotated(REQUEST, None) } else { change })
            }
            AuthorityWrite::Switch => self.entered(data, Phase::Switch),
            AuthorityWrite::Retire => self.entered(without_old(data), Phase::Retire),
            AuthorityWrite::Finish => Ok(over(without_old(data))),
            AuthorityWrite::DropRequest => Ok(SecretChange::from(data).annotated(REQUEST, None)),
        }
    }

    fn entered(&self, data: SecretData, phase: Phase) -> Result<SecretChange, ContentsError> {
        let cause = self.kept.progress.and_then(|progress| progress.cause);
        let to = self.signer(Signer::Present)?.anchor().fingerprint();
        let progress = Progress { phase, cause, since: Some(self.now), to };
        Ok(SecretChange::from(data).annotated(PROGRESS, Some(progress.to_string())))
    }

    fn signer(&self, signer: Signer) -> Result<&Authority, ContentsError> {
        let state = match signer {
            Signer::Present => Some(&self.kept.present),
            Signer::Outgoing => self.kept.outgoing.as_ref().map(|outgoing| &outgoing.authority),
        };
        state.and_then(AuthorityState::usable).ok_or(ContentsError::OtherView)
    }

    fn new_authority(&self, keys: &dyn KeySource) -> Result<Authority, ContentsError> {
        let wanted = self.view.wanted;
        let time = self.time.ok_or(ContentsError::ClocksDisagree)?;
        let validity = Validity::starting(time, wanted.lifetimes.authority.duration()).map_err(IssueError::from)?;
        Ok(Authority::new(&wanted.authority_name, validity, keys)?)
    }

    fn in_old_place(&self) -> Result<Authority, ContentsError> {
        let (data, name) = (self.view.leaf.as_ref(), &self.view.wanted.leaf_secret);
        match AuthorityState::of(data, name, AuthorityFields::OLD_PLACE, self.time) {
            AuthorityState::Usable(authority) | AuthorityState::Expiring(authority) => Ok(*authority),
            _ => Err(ContentsError::OtherView),
        }
    }

    fn issued(&self, signer: Signer, keys: &dyn KeySource) -> Result<SecretChange, ContentsError> {
        let authority = self.signer(signer)?;
        self.time.ok_or(ContentsError::ClocksDisagree)?;
        let validity = self.server_validity(authority).ok_or(ContentsError::OtherView)?;
        let leaf = authority.issue(&self.view.wanted.names, validity, keys)?;
        let data = self.view.leaf.clone().unwrap_or_default();
        let data = data.with(CERTIFICATE, leaf.certificate_pem()).with(PRIVATE_KEY, leaf.private_key_pem());
        Ok(data.with(TRUST, authority.certificate_pem()).without(OLD_PLACE_OF_THE_AUTHORITYS_KEY).into())
    }
}

/// With no exchange under way.
fn over(data: SecretData) -> SecretChange {
    SecretChange::from(data).annotated(PROGRESS, None)
}

fn with(data: SecretData, authority: &Authority) -> SecretData {
    data.with(CERTIFICATE, authority.certificate_pem()).with(PRIVATE_KEY, authority.private_key_pem())
}

fn with_old(data: SecretData, outgoing: &Bundle, key: Option<String>) -> SecretData {
    let data = data.with(OLD_CERTIFICATES, outgoing.to_pem());
    match key {
        Some(key) => data.with(OLD_PRIVATE_KEY, key),
        None => data.without(OLD_PRIVATE_KEY),
    }
}

fn without_old(data: SecretData) -> SecretData {
    data.without(OLD_CERTIFICATES).without(OLD_PRIVATE_KEY)
}
