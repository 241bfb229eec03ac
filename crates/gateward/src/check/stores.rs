//! The stores that handlers read, as they would be once all files are applied.

use gateward_core::{Scope, StoreEvent, WatchedStore};
use serde_json::Value;

use super::checker::{Checker, read};
use super::judge::NAMESPACE;
use super::stored::Stored;
use super::subject::{gvk_of, meta, objects};

impl Checker<'_> {
    /// Fills the stores that handlers read: with what the cluster has, and the stored objects and those of the files, each
    /// a name and a text, over it. What can't be read there is what [`Self::check`] says of the file.
    pub async fn fill_stores<'f>(&self, files: impl IntoIterator<Item = (&'f str, &'f [u8])>) {
        let stores = self.webhooks.stores();
        if let Some(cluster) = &self.cluster {
            self.webhooks.fill_stores(cluster.as_ref()).await;
        } else {
            for store in &stores {
                store.take(StoreEvent::ListBegins);
                store.take(StoreEvent::ListEnds);
            }
        }
        let add = |object: &Value| {
            for store in &stores {
                if let Some(held) = self.as_held(store.as_ref(), object) {
                    store.take(StoreEvent::Changed(held));
                }
            }
        };
        for object in self.stored.iter().flat_map(Stored::all) {
            add(object);
        }
        for (file, text) in files {
            for document in &read(file, text).documents {
                for (_, object) in objects(&document.value) {
                    add(object);
                }
            }
        }
    }

    /// An object as the store would hold it: in its version, and in a namespace.
    fn as_held(&self, store: &dyn WatchedStore, object: &Value) -> Option<Value> {
        let (own, held) = (gvk_of(object), store.gvk());
        // One that the API server is to name is another each time.
        if !own.same_kind(&held) || meta(object, "name").is_empty() {
            return None;
        }
        let mut object = object.clone();
        if own.version != held.version {
            let converted = self.webhooks.convert(&object.to_string(), &held.api_version()).ok()?;
            object = serde_json::from_str(&converted.json).ok()?;
        }
        if store.scope() == Scope::Namespaced && meta(&object, "namespace").is_empty() {
            // It has a name, so metadata is an object.
            object["metadata"]["namespace"] = NAMESPACE.into();
        }
        Some(object)
    }
}
