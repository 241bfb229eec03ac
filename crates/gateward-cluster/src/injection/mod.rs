//! Injection of `caBundle` into webhook configurations and the conversion stanzas of CRDs, and detection of conflicting
//! webhook configurations.

mod claiming;
mod classify;
mod conflicts;
mod conversion;
mod evaluate;
mod object;
mod patch;
mod target_status;
mod targets;
mod watch;

use std::collections::BTreeMap;

use futures_util::future::{try_join_all, try_join3};
use gateward_certs::CaBundle;
use kube::api::{ListParams, Patch, PatchParams};
use kube::{Api, Client};

pub(crate) use classify::{TargetEntry, TargetObject};
pub(crate) use conflicts::OtherConfiguration;
pub use conflicts::{ConflictingWebhook, WebhookEndpoint};
pub(crate) use conversion::{ConversionAction, ConversionReadiness};
pub(crate) use evaluate::target_statuses;
pub(crate) use object::{InjectableKind, InjectableObject};
pub(crate) use patch::base64;
pub use target_status::{NotOurs, TargetState, TargetStatus};
pub(crate) use targets::{Clock, InjectionTargets};
pub(crate) use watch::WatchScope;

use crate::config::{ControllerConfig, InjectionRules};
use crate::connection::Connection;
use crate::namespace_lease::OwnConfiguration;
use crate::request::{RequestError, with_read_timeout, with_write_timeout};

/// Reads injection targets and writes their `caBundle`s.
#[derive(Clone)]
pub(crate) struct TargetStore {
    client: Client,
    rules: InjectionRules,
    parameters: PatchParams,
}

impl TargetStore {
    pub(crate) fn new(connection: &Connection, config: &ControllerConfig) -> Self {
        let parameters = PatchParams { field_manager: Some(config.field_manager.clone()), ..PatchParams::default() };
        Self { client: connection.client(), rules: config.targets.clone(), parameters }
    }

    pub(crate) fn rules(&self) -> &InjectionRules {
        &self.rules
    }

    /// The field managers that may have changed a `caBundle`.
    pub(crate) fn likely_writers(&self, object: &InjectableObject) -> String {
        let likely_writers = object.likely_writers(self.parameters.field_manager.as_deref().unwrap_or_default());
        if likely_writers.is_empty() { "an unknown client".to_owned() } else { likely_writers.join(", ") }
    }

    pub(crate) fn api(&self, kind: InjectableKind) -> Api<InjectableObject> {
        Api::all_with(self.client.clone(), &kind)
    }

    /// All injection targets, read from the API server without a cache.
    pub(crate) async fn read(&self) -> Result<Vec<TargetObject>, RequestError> {
        let crds = try_join_all(self.rules.crds.iter().map(|name| self.read_crd(name)));
        let lists = (self.list(InjectableKind::Validating), self.list(InjectableKind::Mutating));
        let (validating, mutating, crds) = try_join3(lists.0, lists.1, crds).await?;
        Ok(validating.into_iter().chain(mutating).chain(crds.into_iter().flatten()).collect())
    }

    /// The configurations with our labels, and those with our names, which may have lost their labels.
    async fn list(&self, kind: InjectableKind) -> Result<Vec<TargetObject>, RequestError> {
        let labels: Vec<_> = self.rules.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let by_label = (!labels.is_empty()).then(|| ListParams::default().labels(&labels.join(",")));
        let names = self.rules.names(kind).into_iter();
        let by_name = names.map(|name| ListParams::default().fields(&format!("metadata.name={name}")));
        let api = self.api(kind);
        let lists = by_label.into_iter().chain(by_name).map(|parameters| {
            let api = api.clone();
            async move { with_read_timeout(api.list(&parameters)).await }
        });
        let mut found = BTreeMap::new();
        for object in try_join_all(lists).await?.iter().flat_map(|list| &list.items) {
            found.extend(self.rules.classify(kind, object).map(|found| (found.name.clone(), found)));
        }
        Ok(found.into_values().collect())
    }

    /// The configurations that are not ours by their names and have webhooks for our kinds, read without a cache.
    pub(crate) async fn others(&self) -> Result<Vec<OtherConfiguration>, RequestError> {
        let mut others = Vec::new();
        for kind in [InjectableKind::Validating, InjectableKind::Mutating] {
            let list = with_read_timeout(self.api(kind).list(&ListParams::default())).await?;
            others.extend(list.items.iter().filter_map(|object| self.rules.other(kind, object)));
        }
        Ok(others)
    }

    async fn read_crd(&self, name: &str) -> Result<Option<TargetObject>, RequestError> {
        let crd = with_read_timeout(self.api(InjectableKind::Crd).get_opt(name)).await?;
        Ok(crd.and_then(|crd| self.rules.classify(InjectableKind::Crd, &crd)))
    }

    /// Writes bundles into an object that was read. It fails if the object has changed meanwhile.
    pub(crate) async fn write(
        &self,
        seen: &TargetObject,
        bundles: &[(&TargetEntry, &CaBundle)],
    ) -> Result<(), RequestError> {
        let locations = bundles.iter().map(|(entry, bundle)| (&entry.location, *bundle));
        self.patch(seen, patch::patch(&seen.version, locations)).await
    }

    /// Writes the conversion stanza of a CRD that was read. It fails if the CRD has changed meanwhile.
    pub(crate) async fn restore_stanza(&self, seen: &TargetObject, bundle: &CaBundle) -> Result<(), RequestError> {
        self.patch(seen, self.rules.restore_patch(&seen.name, &seen.version, bundle)).await
    }

    /// Has our own webhooks leave claimed namespaces out.
    pub(crate) async fn patch_selectors(
        &self,
        own: &OwnConfiguration,
        patch: json_patch::Patch,
    ) -> Result<(), RequestError> {
        let Some(kind) = InjectableKind::of(own.review) else { return Ok(()) };
        let patch = Patch::Json::<()>(patch);
        with_write_timeout(self.api(kind).patch(&own.name, &self.parameters, &patch)).await.map(drop)
    }

    async fn patch(&self, seen: &TargetObject, patch: json_patch::Patch) -> Result<(), RequestError> {
        let patch = Patch::Json::<()>(patch);
        with_write_timeout(self.api(seen.kind).patch(&seen.name, &self.parameters, &patch)).await?;
        Ok(())
    }
}
