//! What the handlers of a webhook share.

use crate::rule::resource::Resource;
use crate::rule::store::Store;
use crate::webhooks::webhook::Webhook;

impl<H, S> Webhook<H, S> {
    /// Gives the handlers that are added from here on a state: what they share, such as an operator's settings or a client
    /// of its own. A function takes it as its third argument, [`State`](crate::State), and gets a clone with each request. A
    /// function that takes another state than the webhook has doesn't compile; one that takes none is as it was.
    ///
    /// An implementation of [`Validator`](crate::Validator) or [`Defaulter`](crate::Defaulter) has its state in its fields.
    ///
    /// ```
    /// use gateward_core::{Request, State, Verdict, Webhook, Webhooks};
    /// # use gateward_core::resource;
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Otter { river: String }
    /// # resource!(Otter, "example.org/v1", "Otter", "otters");
    /// use std::sync::Arc;
    ///
    /// #[derive(Clone)]
    /// struct Map {
    ///     rivers: Arc<[&'static str]>,
    /// }
    ///
    /// fn known_river(new: &Otter, _: &Request, State(map): State<Map>) -> Result<(), Verdict> {
    ///     if map.rivers.contains(&new.river.as_str()) { Ok(()) } else { Err(Verdict::deny("nobody knows that river")) }
    /// }
    ///
    /// fn otters(map: Map) -> Webhook<Otter, Map> {
    ///     Webhook::new().with_state(map).validator(known_river)
    /// }
    ///
    /// let webhooks = Webhooks::new().register(otters(Map { rivers: Arc::new(["Wye", "Usk"]) }));
    /// # let sent = serde_json::json!({"apiVersion": "example.org/v1", "kind": "Otter", "river": "Wey"});
    /// # #[cfg(feature = "testing")]
    /// # gateward_core::testing::TestRequest::of(&webhooks).create(&sent).assert_denied();
    /// ```
    pub fn with_state<T: Clone + Send + Sync + 'static>(self, state: T) -> Webhook<H, T> {
        let Self { declaration, validators, defaulters, spokes, schemas, set_replicas, entries, problems, state: _ } =
            self;
        Webhook { declaration, validators, defaulters, spokes, schemas, set_replicas, entries, problems, state }
    }

    /// Handlers read this store: the server keeps it filled, and `generate rbac` gives it the right to list and to watch the
    /// objects. It is ready once the store is filled; it doesn't wait where it converts the objects itself, since nobody
    /// converts them until it is ready.
    pub fn watches<K: Resource>(mut self, store: &Store<K>) -> Self {
        self.declaration.stores.push(store.watched());
        self
    }
}
