//! Those who carry bundles: webhook configurations, and the conversion stanzas of CRDs. Among the configurations also
//! those of others for the same kinds.

mod find;
mod ledger;
mod object;
mod patch;
mod rivals;
mod stanza;
mod told;
mod watch;

use std::collections::BTreeMap;

use futures_util::future::{try_join_all, try_join3};
use gateward_certs::CaBundle;
use kube::api::{ListParams, Patch, PatchParams};
use kube::{Api, Client};

pub(crate) use find::{Entry, Sighting};
pub(crate) use ledger::{Ledger, Moment};
pub(crate) use object::{ConsumerKind, ConsumerObject};
pub(crate) use patch::base64;
pub use rivals::{Called, Rival};
pub(crate) use stanza::Stanza;
pub(crate) use told::told;
pub(crate) use watch::{Heard, Scope};

use crate::connection::Connection;
use crate::patience::{RequestError, guarded, read};
use crate::setup::{ConsumerRules, Setup};

/// Reads those who carry bundles, and writes these.
#[derive(Clone)]
pub(crate) struct ConsumerStore {
    client: Client,
    rules: ConsumerRules,
    parameters: PatchParams,
}

impl ConsumerStore {
    pub(crate) fn new(connection: &Connection, setup: &Setup) -> Self {
        let parameters = PatchParams { field_manager: Some(setup.field_manager.clone()), ..PatchParams::default() };
        Self { client: connection.client(), rules: setup.consumers.clone(), parameters }
    }

    pub(crate) fn rules(&self) -> &ConsumerRules {
        &self.rules
    }

    /// Who may have changed a bundle, as far as it is noted.
    pub(crate) fn suspects(&self, object: &ConsumerObject) -> String {
        let suspects = object.suspects(self.parameters.field_manager.as_deref().unwrap_or_default());
        if suspects.is_empty() { "somebody".to_owned() } else { suspects.join(", ") }
    }

    pub(crate) fn api(&self, kind: ConsumerKind) -> Api<ConsumerObject> {
        Api::all_with(self.client.clone(), &kind)
    }

    /// All that are there, from the store itself and from no cache.
    pub(crate) async fn read(&self) -> Result<Vec<Sighting>, RequestError> {
        let crds = try_join_all(self.rules.crds.iter().map(|name| self.read_crd(name)));
        let lists = (self.list(ConsumerKind::Validating), self.list(ConsumerKind::Mutating));
        let (validating, mutating, crds) = try_join3(lists.0, lists.1, crds).await?;
        Ok(validating.into_iter().chain(mutating).chain(crds.into_iter().flatten()).collect())
    }

    /// The configurations of our labels, and those of our names: someone may have taken their labels away.
    async fn list(&self, kind: ConsumerKind) -> Result<Vec<Sighting>, RequestError> {
        let labels: Vec<_> = self.rules.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let by_label = (!labels.is_empty()).then(|| ListParams::default().labels(&labels.join(",")));
        let names = self.rules.names(kind).into_iter();
        let by_name = names.map(|name| ListParams::default().fields(&format!("metadata.name={name}")));
        let api = self.api(kind);
        let lists = by_label.into_iter().chain(by_name).map(|parameters| {
            let api = api.clone();
            async move { read(api.list(&parameters)).await }
        });
        let mut found = BTreeMap::new();
        for object in try_join_all(lists).await?.iter().flat_map(|list| &list.items) {
            found.extend(self.rules.look_at(kind, object).map(|sighting| (sighting.name.clone(), sighting)));
        }
        Ok(found.into_values().collect())
    }

    async fn read_crd(&self, name: &str) -> Result<Option<Sighting>, RequestError> {
        let crd = read(self.api(ConsumerKind::Crd).get_opt(name)).await?;
        Ok(crd.and_then(|crd| self.rules.look_at(ConsumerKind::Crd, &crd)))
    }

    /// Writes bundles into an object that was read. It fails if the object has changed meanwhile.
    pub(crate) async fn write(&self, seen: &Sighting, bundles: &[(&Entry, &CaBundle)]) -> Result<(), RequestError> {
        let places = bundles.iter().map(|(entry, bundle)| (&entry.place, *bundle));
        let patch = Patch::Json::<()>(patch::patch(&seen.version, places));
        guarded(self.api(seen.kind).patch(&seen.name, &self.parameters, &patch)).await?;
        Ok(())
    }

    /// Writes the conversion stanza of a CRD that was read. It fails if the CRD has changed meanwhile.
    pub(crate) async fn restore_stanza(&self, seen: &Sighting, bundle: &CaBundle) -> Result<(), RequestError> {
        let patch = Patch::Json::<()>(self.rules.restoring(&seen.version, bundle));
        guarded(self.api(seen.kind).patch(&seen.name, &self.parameters, &patch)).await?;
        Ok(())
    }
}
