//! Keeps what rules read in memory as the API server has it.

use std::borrow::Cow;
use std::sync::Arc;

use futures_util::{StreamExt, pin_mut};
use gateward_core::{StoreEvent, WatchedStore};
use kube::core::{ApiResource, ObjectMeta};
use kube::runtime::watcher::{Config, Event};
use kube::{Api, Client, Resource};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::foreign_object::ForeignObject;
use crate::watch::watch_with_backoff;

/// How a store that is kept filled fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreState {
    /// It holds all that the API server has listed.
    Filled,
    /// The API server doesn't answer, with the reason; what is in the store may be old.
    Interrupted(String),
}

/// Lists the objects of a store, and follows them from then on. `report` hears of each complete list, and of errors that
/// last.
pub async fn keep_filled(client: Client, store: Arc<dyn WatchedStore>, report: impl Fn(StoreState)) {
    let query = store.query();
    let config = Config::default().labels(&query.label_selector);
    // That errors have ended doesn't make it complete.
    let failed = |why: Option<String>| {
        if let Some(why) = why {
            store.take(StoreEvent::Unreadable(why.clone()));
            report(StoreState::Interrupted(why));
        }
    };
    let events = watch_with_backoff(api(client, store.as_ref()), config, failed);
    pin_mut!(events);
    while let Some(event) = events.next().await {
        match event {
            Event::Init => store.take(StoreEvent::ListBegins),
            Event::InitApply(object) => store.take(StoreEvent::Listed(object.value())),
            Event::InitDone => {
                store.take(StoreEvent::ListEnds);
                report(StoreState::Filled);
            }
            Event::Apply(object) => store.take(StoreEvent::Changed(object.value())),
            Event::Delete(object) => store.take(StoreEvent::Removed(object.value())),
        }
    }
}

fn api(client: Client, store: &dyn WatchedStore) -> Api<WatchedObject> {
    let (gvk, plural) = (store.gvk(), store.query().plural);
    let api_version = gvk.api_version();
    Api::all_with(client, &ApiResource { group: gvk.group, version: gvk.version, api_version, kind: gvk.kind, plural })
}

/// An object on its way into a store. It stays text until it is its turn: a tree takes many times as much, and a page of a
/// list has many objects.
#[derive(Debug, Clone)]
struct WatchedObject {
    metadata: ObjectMeta,
    text: Box<RawValue>,
}

/// What a watch has to know of an object. Tenants write the rest, and may nest it deeper than a parser reads.
#[derive(Deserialize)]
struct Watched {
    metadata: WatchedMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WatchedMetadata {
    name: Option<String>,
    namespace: Option<String>,
    resource_version: Option<String>,
}

impl WatchedObject {
    /// The object as a store holds it. A part that nests too deeply to be read is missing; the watch goes on.
    fn value(&self) -> Value {
        ForeignObject::read(&self.text).map(|object| object.value).unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for WatchedObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        let Watched { metadata } = serde_json::from_str(text.get()).map_err(D::Error::custom)?;
        let WatchedMetadata { name, namespace, resource_version } = metadata;
        Ok(Self { metadata: ObjectMeta { name, namespace, resource_version, ..ObjectMeta::default() }, text })
    }
}

impl Resource for WatchedObject {
    type DynamicType = ApiResource;
    type Scope = kube::core::DynamicResourceScope;

    fn kind(kind: &ApiResource) -> Cow<'_, str> {
        kind.kind.as_str().into()
    }

    fn group(kind: &ApiResource) -> Cow<'_, str> {
        kind.group.as_str().into()
    }

    fn version(kind: &ApiResource) -> Cow<'_, str> {
        kind.version.as_str().into()
    }

    fn plural(kind: &ApiResource) -> Cow<'_, str> {
        kind.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
