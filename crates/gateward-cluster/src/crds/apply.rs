//! Applies CRDs, and waits until their objects are served.

use std::fmt;
use std::time::Duration;

use gateward_certs::CaBundle;
use gateward_certs::secret::CA_CRT;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::{Client, Error};
use semver::Version;
use serde_json::Value;
use tokio::time::Instant;

use super::decision::{CaBundleRule, CrdDecision, InjectionAnnotation, LeftAlone, Release, decide, first};
use super::{Definition, Strategy, api};
use crate::failure::{RequestError, with_timeout};
use crate::request::Backoff;
use crate::secrets::{ca, data};

/// How long one answer may take: a CRD is large, and its schema is compiled.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a missing right may be one that was just given and has not reached the API server yet.
const RIGHTS: Duration = Duration::from_secs(15);
/// The pauses between two attempts grow up to this one.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
const SHORTEST_PAUSE: Duration = Duration::from_millis(200);
/// How often it is looked whether objects are served.
const LOOK: Duration = Duration::from_millis(100);

/// Installs and upgrades the CRDs of a release by server-side apply. Any number may do so at once.
#[derive(Clone)]
pub struct CrdApply {
    /// The way to the API server.
    pub client: Client,
    /// The field manager.
    pub manager: String,
    /// The annotation that says which release has applied a CRD.
    pub annotation: String,
    /// The annotation that names the Service which has objects converted: see [`converted_by`](super::converted_by).
    pub converted_by: String,
    /// The release.
    pub version: Version,
    /// Whom API servers trust when they have objects converted.
    pub trust: ConversionTrust,
    /// How long all of it may take.
    pub timeout: Duration,
}

/// Whom API servers trust when they have objects converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConversionTrust {
    /// The CA in its Secret, beside those that are trusted already.
    CaSecret(SecretName),
    /// These CAs and no others.
    Given(CaBundle),
    /// What the cainjector of cert-manager writes.
    Injected(Injected),
}

/// What the cainjector of cert-manager injects into a CRD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Injected {
    /// `ca.crt` of this Secret, which may not be there yet. A stanza without a `caBundle` gets it at once.
    FromSecret(SecretName),
    /// The CA of this Certificate.
    FromCertificate(SecretName),
}

/// Where a Secret, or what fills one, is. A Secret that can't be read is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretName {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Progress of applying CRDs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApplyEvent {
    /// A CRD is done.
    Done(CrdOutcome),
    /// Something failed and is tried again, with the reason.
    Waiting(String),
}

/// What became of a CRD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrdOutcome {
    /// The CRD.
    pub name: String,
    /// What was done.
    pub applied: Applied,
    /// Notes about it.
    pub notes: Vec<String>,
}

/// What was done about a CRD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    /// It wasn't there.
    Created,
    /// It was another one.
    Changed,
    /// It was there.
    Unchanged,
    /// It is not ours to change.
    LeftAlone(LeftAlone),
}

/// Why a CRD is not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrdApplyError {
    /// The API server refuses it, or can't be reached.
    #[error("the CRD {name} can't be applied: {why}")]
    Refused {
        /// The CRD.
        name: String,
        /// The reason.
        why: String,
    },
    /// Its objects are not served.
    #[error("the CRD {name} is applied, but its objects are not served: {why}")]
    NotEstablished {
        /// The CRD.
        name: String,
        /// The reason.
        why: String,
    },
    /// A document is no CRD.
    #[error("a CRD without a name was to be applied")]
    Nameless,
}

/// Why an attempt failed.
enum Failed {
    /// At the API server.
    Request(RequestError),
    /// The CRD is on its way out, and whatever is applied goes with it.
    Leaving,
}

impl CrdApply {
    /// Applies all CRDs, then waits until the objects of each are served.
    pub async fn apply(
        &self,
        crds: &[Value],
        report: &mut (dyn FnMut(ApplyEvent) + Send),
    ) -> Result<(), CrdApplyError> {
        let started = Instant::now();
        let mut waited_for = Vec::new();
        for crd in crds {
            let name = name(crd)?;
            let done = self.persist(crd, started, report).await;
            let (outcome, now) =
                done.map_err(|failed| CrdApplyError::Refused { name: name.into(), why: failed.reason() })?;
            waited_for.extend(unestablished(&now).map(|_| name));
            report(ApplyEvent::Done(outcome));
        }
        for name in waited_for {
            self.wait_until_established(name, started).await?;
        }
        Ok(())
    }

    /// Tries until it is done, or until there is no sense in it.
    async fn persist(
        &self,
        crd: &Value,
        started: Instant,
        report: &mut (dyn FnMut(ApplyEvent) + Send),
    ) -> Result<(CrdOutcome, Definition), Failed> {
        let mut backoff = Backoff::with_delays(SHORTEST_PAUSE, LONGEST_PAUSE);
        let mut last_reported = String::new();
        loop {
            let failed = match self.attempt(crd).await {
                Ok(Some(done)) => return Ok(done),
                Ok(None) => continue,
                Err(failed) => failed,
            };
            let pause = backoff.fail();
            if started.elapsed() + pause > failed.passes_within(self.timeout) {
                return Err(failed);
            }
            let why = failed.reason();
            if last_reported != why {
                report(ApplyEvent::Waiting(why.clone()));
                last_reported = why;
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Looks and applies; nothing comes back where it has to be looked again.
    async fn attempt(&self, crd: &Value) -> Result<Option<(CrdOutcome, Definition)>, Failed> {
        let name = name(crd).unwrap_or_default();
        let installed = answered(self.api().get_opt(name)).await?.map(Definition::from);
        if installed.as_ref().is_some_and(Definition::is_leaving) {
            return Err(Failed::Leaving);
        }
        let release = self.release().await?;
        let outcome = |applied, notes| CrdOutcome { name: name.to_owned(), applied, notes };
        let Some(installed) = installed else {
            let (document, notes) = first(crd, &release);
            let now = self.submit(name, document).await?;
            return Ok(Some((outcome(Applied::Created, notes), now)));
        };
        match decide(&installed, crd, &release) {
            CrdDecision::LeaveAlone(why) => {
                let notes = unconverted(&installed, crd);
                Ok(Some((outcome(Applied::LeftAlone(why), notes), installed)))
            }
            CrdDecision::Prepare(patch) => {
                let parameters = PatchParams { field_manager: Some(self.manager.clone()), ..PatchParams::default() };
                answered(self.api().patch(name, &parameters, &Patch::Merge(patch))).await?;
                Ok(None)
            }
            CrdDecision::Apply(document, notes) => {
                let now = self.submit(name, document).await?;
                let unchanged = now.resource_version() == installed.resource_version();
                let applied = if unchanged { Applied::Unchanged } else { Applied::Changed };
                Ok(Some((outcome(applied, notes), now)))
            }
        }
    }

    /// The release, with the CAs that are trusted now: the pods may have made their Secret a moment ago.
    async fn release(&self) -> Result<Release<'_>, Failed> {
        let (trusted, rule, injection) = match &self.trust {
            ConversionTrust::CaSecret(name) => {
                let trusted = self.secret(name).await?.map(|secret| ca(&secret).trusted());
                (trusted.unwrap_or_default(), CaBundleRule::Add, None)
            }
            ConversionTrust::Given(bundle) => (bundle.clone(), CaBundleRule::Replace, None),
            ConversionTrust::Injected(Injected::FromSecret(name)) => {
                let secret = self.secret(name).await?.map(|secret| data(&secret)).unwrap_or_default();
                let trusted = CaBundle::parse_lossy(secret.field(CA_CRT).unwrap_or_default()).0;
                (trusted, CaBundleRule::Keep, Some(InjectionAnnotation::of_secret(name.to_string())))
            }
            ConversionTrust::Injected(Injected::FromCertificate(name)) => {
                (CaBundle::default(), CaBundleRule::Keep, Some(InjectionAnnotation::of_certificate(name.to_string())))
            }
        };
        Ok(Release {
            version: &self.version,
            annotation: &self.annotation,
            converted_by: &self.converted_by,
            trusted,
            rule,
            injection,
        })
    }

    async fn secret(&self, SecretName { namespace, name }: &SecretName) -> Result<Option<Secret>, Failed> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        match answered(secrets.get_opt(name)).await {
            Err(Failed::Request(why)) if why.code() == Some(403) => Ok(None),
            answer => answer,
        }
    }

    /// Applies a document over whatever others have written.
    async fn submit(&self, name: &str, document: Value) -> Result<Definition, Failed> {
        let parameters = PatchParams::apply(&self.manager).force();
        Ok(answered(self.api().patch(name, &parameters, &Patch::Apply(document))).await?.into())
    }

    async fn wait_until_established(&self, name: &str, started: Instant) -> Result<(), CrdApplyError> {
        loop {
            let found = self.established(name).await;
            let why = match found {
                Ok(None) => return Ok(()),
                Ok(Some(why)) => why,
                Err(failed) => failed.reason(),
            };
            if started.elapsed() > self.timeout {
                return Err(CrdApplyError::NotEstablished { name: name.to_owned(), why });
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Why the objects of a CRD are not served; nothing where they are.
    async fn established(&self, name: &str) -> Result<Option<String>, Failed> {
        let crd = answered(self.api().get(name)).await?.into();
        Ok(unestablished(&crd).map(str::to_owned))
    }

    fn api(&self) -> Api<DynamicObject> {
        api(self.client.clone())
    }
}

fn name(crd: &Value) -> Result<&str, CrdApplyError> {
    crd.pointer("/metadata/name").and_then(Value::as_str).ok_or(CrdApplyError::Nameless)
}

/// Why the objects of a CRD are not served; nothing where they are.
fn unestablished(crd: &Definition) -> Option<&str> {
    if matches!(crd.condition("Established"), Some(("True", _))) {
        return None;
    }
    let refused = crd.condition("NamesAccepted").filter(|(status, _)| *status == "False");
    Some(refused.map_or("the API server has not taken it in yet", |(_, why)| why))
}

/// Notes about a CRD that stays as an uninstall has left it.
fn unconverted(installed: &Definition, ours: &Value) -> Vec<String> {
    let ours = Definition::from(ours.clone());
    let lacks = installed.strategy() == Strategy::None && ours.strategy() == Strategy::Webhook;
    lacks.then(|| "its objects are not converted, since nothing says by whom".to_owned()).into_iter().collect()
}

async fn answered<T>(request: impl Future<Output = Result<T, Error>>) -> Result<T, Failed> {
    with_timeout(TIMEOUT, request).await.map_err(Failed::Request)
}

impl Failed {
    fn reason(&self) -> String {
        match self {
            Self::Request(unanswered) => unanswered.to_string(),
            Self::Leaving => "it is being deleted, with all its objects".to_owned(),
        }
    }

    /// For how long it makes sense to try again.
    fn passes_within(&self, timeout: Duration) -> Duration {
        let unanswered = match self {
            Self::Request(unanswered) => unanswered,
            Self::Leaving => return timeout,
        };
        match unanswered.code() {
            // Not reached, overloaded, starting, or another client was first.
            None | Some(408 | 409 | 429 | 500..) => timeout,
            Some(401 | 403) => timeout.min(RIGHTS),
            Some(_) => Duration::ZERO,
        }
    }
}

impl fmt::Display for SecretName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

impl fmt::Display for CrdOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.applied)?;
        self.notes.iter().try_for_each(|note| write!(f, "; {note}"))
    }
}

impl fmt::Display for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Created => f.write_str("created"),
            Self::Changed => f.write_str("changed"),
            Self::Unchanged => f.write_str("unchanged"),
            Self::LeftAlone(why) => why.fmt(f),
        }
    }
}
