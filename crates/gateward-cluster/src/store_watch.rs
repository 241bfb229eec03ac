//! Keeps what rules read in memory as the API server has it.

use std::sync::Arc;

use futures_util::{StreamExt, pin_mut};
use gateward_core::{StoreEvent, WatchedStore};
use kube::core::{ApiResource, DynamicObject};
use kube::runtime::watcher::{self, Config, Event};
use kube::{Api, Client};
use serde_json::Value;

use crate::watch::{WATCH_SECONDS, with_backoff};

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
    let config = Config::default().timeout(WATCH_SECONDS).labels(&query.label_selector);
    // That errors have ended doesn't make it complete.
    let failed = |why: Option<String>| {
        if let Some(why) = why {
            store.take(StoreEvent::Unreadable(why.clone()));
            report(StoreState::Interrupted(why));
        }
    };
    let events = with_backoff(watcher::watcher(api(client, store.as_ref()), config), failed);
    pin_mut!(events);
    while let Some(event) = events.next().await {
        match event {
            Event::Init => store.take(StoreEvent::ListBegins),
            Event::InitApply(object) => store.take(StoreEvent::Listed(value(object))),
            Event::InitDone => {
                store.take(StoreEvent::ListEnds);
                report(StoreState::Filled);
            }
            Event::Apply(object) => store.take(StoreEvent::Changed(value(object))),
            Event::Delete(object) => store.take(StoreEvent::Removed(value(object))),
        }
    }
}

fn api(client: Client, store: &dyn WatchedStore) -> Api<DynamicObject> {
    let (gvk, plural) = (store.gvk(), store.query().plural);
    let api_version = gvk.api_version();
    Api::all_with(client, &ApiResource { group: gvk.group, version: gvk.version, api_version, kind: gvk.kind, plural })
}

/// The object without what no rule asks for and often is half of it.
fn value(mut object: DynamicObject) -> Value {
    object.metadata.managed_fields = None;
    // A tree of texts and values has a form as a value.
    serde_json::to_value(object).unwrap_or_default()
}
