//! Leaves objects behind that can be read and deleted without us: each stored in one version, and not converted.
//!
//! A conversion webhook without a server is worse than none: every list of such objects fails, and
//! garbage collection and the deletion of namespaces stop in the whole cluster.

mod plan;
mod report;
mod rewrite;

use std::time::Duration;

use json_patch::Patch as JsonPatch;
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams};

use crate::config::ServiceName;
use crate::crds::{Definition, api};
use crate::failure::{RequestError, with_timeout};
pub use plan::ConversionOutcome;
use plan::{Plan, plan, with_one_stored_version, without_conversion};
pub use report::{CrdObjects, CrdReport, CrdState, RefusedObject, UninstallEvent};

/// How long one answer may take: the API server itself gives up after a minute.
const TIMEOUT: Duration = Duration::from_mins(1);
/// How many times a change of a CRD is retried after conflicts.
const ATTEMPTS: usize = 10;

/// Prepares the CRDs of a release for a time without it.
#[derive(Clone)]
pub struct Uninstall {
    /// The way to the API server.
    pub client: Client,
    /// The field manager.
    pub manager: String,
    /// The Service of the release. CRDs whose objects another one converts are left alone.
    pub service: ServiceName,
    /// What becomes of the conversion.
    pub conversion: ConversionOutcome,
    /// Whether anything is changed.
    pub effect: Effect,
}

/// Whether anything is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Everything is changed.
    Real,
    /// Nothing: the API server only checks what would be changed.
    DryRun,
}

/// Why the work ended before all CRDs were looked at.
#[derive(Debug, thiserror::Error)]
#[error("the CRD {name} can't be read or changed: {why}")]
pub struct UninstallError {
    /// The CRD.
    pub name: String,
    /// The reason.
    pub why: String,
}

impl Uninstall {
    /// Goes through the named CRDs. What can't be done for one of them stands in its report; the others are done.
    pub async fn run(
        &self,
        crds: &[String],
        on_event: &mut (dyn FnMut(UninstallEvent) + Send),
    ) -> Result<Vec<CrdReport>, UninstallError> {
        let mut reports = Vec::new();
        for name in crds {
            let report = self.prepare(name, on_event).await;
            let report = report.map_err(|why| UninstallError { name: name.clone(), why: why.to_string() })?;
            on_event(UninstallEvent::Done(report.clone()));
            reports.push(report);
        }
        Ok(reports)
    }

    async fn prepare(
        &self,
        name: &str,
        on_event: &mut (dyn FnMut(UninstallEvent) + Send),
    ) -> Result<CrdReport, RequestError> {
        let mut report = CrdReport::of(name);
        let Some(crd) = self.read(name).await? else { return Ok(report.ends(CrdState::Absent)) };
        report.describe(&crd);
        let storage = match plan(&crd, &self.service, self.conversion) {
            Plan::Nothing => return Ok(report.ends(CrdState::NothingToDo)),
            Plan::LeaveAlone(why) => return Ok(report.remains(why)),
            Plan::Prepare { storage } => storage,
        };
        if crd.stored() != [storage.as_str()] {
            match self.rewrite(&crd, &storage, on_event).await {
                Ok(objects) => report.objects = objects,
                Err(why) => return Ok(report.remains(why)),
            }
            if !report.objects.refused.is_empty() {
                return Ok(report.remains("objects of it may still be stored in another version".into()));
            }
            let now = self.change(&crd, with_one_stored_version, Part::Status).await?;
            report.describe(&now);
        }
        if self.conversion == ConversionOutcome::Removed {
            let now = self.change(&crd, without_conversion, Part::Whole).await?;
            report.no_longer_served = plan::no_longer_served(&crd, &now);
            report.describe(&now);
        }
        Ok(report.ends(CrdState::Done))
    }

    async fn read(&self, name: &str) -> Result<Option<Definition>, RequestError> {
        Ok(with_timeout(TIMEOUT, self.api().get_opt(name)).await?.map(Definition::from))
    }

    /// Changes a CRD; concurrent changes of others are kept.
    async fn change(
        &self,
        crd: &Definition,
        patch: fn(&Definition) -> JsonPatch,
        part: Part,
    ) -> Result<Definition, RequestError> {
        let mut crd = crd.clone();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let change = Patch::Json::<()>(patch(&crd));
            let (name, parameters, api) = (crd.name().to_owned(), self.parameters(), self.api());
            let changed = match part {
                Part::Whole => with_timeout(TIMEOUT, api.patch(&name, &parameters, &change)).await,
                Part::Status => with_timeout(TIMEOUT, api.patch_status(&name, &parameters, &change)).await,
            };
            match changed {
                Ok(changed) => return Ok(changed.into()),
                // A test of the patch failed, or another client was first.
                Err(why) if attempts < ATTEMPTS && matches!(why.code(), Some(409 | 422)) => {
                    crd = self.read(&name).await?.ok_or(why)?;
                }
                Err(why) => return Err(why),
            }
        }
    }

    fn parameters(&self) -> PatchParams {
        PatchParams {
            dry_run: self.effect == Effect::DryRun,
            field_manager: Some(self.manager.clone()),
            ..PatchParams::default()
        }
    }

    fn api(&self) -> Api<DynamicObject> {
        api(self.client.clone())
    }
}

/// Which part of a CRD is changed.
#[derive(Debug, Clone, Copy)]
enum Part {
    Whole,
    Status,
}
