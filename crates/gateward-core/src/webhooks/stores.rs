//! The stores that handlers read, for the reader of the cluster that fills them.

use std::sync::Arc;

use crate::rule::cluster::{ClusterReader, ListLookup};
use crate::rule::store::{StoreEvent, WatchedStore};
use crate::webhooks::Webhooks;

impl Webhooks {
    /// The stores that handlers read, each once.
    pub fn stores(&self) -> Vec<&Arc<dyn WatchedStore>> {
        let mut stores: Vec<&Arc<dyn WatchedStore>> = Vec::new();
        for store in self.declarations().flat_map(|declared| &declared.stores) {
            if !stores.iter().any(|known| Arc::ptr_eq(known, store)) {
                stores.push(store);
            }
        }
        stores
    }

    /// Fills the stores once with what the cluster has, as far as it can be listed.
    pub async fn fill_stores(&self, cluster: &dyn ClusterReader) {
        for store in self.stores() {
            match cluster.list_all(&store.query()).await {
                ListLookup::Found(objects) => {
                    store.take(StoreEvent::ListBegins);
                    for object in objects {
                        store.take(StoreEvent::Listed(object));
                    }
                    store.take(StoreEvent::ListEnds);
                }
                ListLookup::Unreadable(why) => store.take(StoreEvent::Unreadable(why)),
            }
        }
    }
}
