//! The stores that handlers read, filled while the server runs.

use std::sync::{Arc, Mutex, PoisonError};

use gateward_cluster::{Client, StoreState, keep_filled, restart_on_panic};
use gateward_core::{GroupVersionKind, WatchedStore, Webhooks};
use gateward_server::{Readiness, WaitGuard};
use tokio::task::JoinSet;

/// Keeps all of them filled as tasks. Where readiness waits, it waits until they are, but for those of objects that the
/// server converts itself: the API server can't list them before somebody is ready to convert them.
pub(crate) fn keep_stores(
    tasks: &mut JoinSet<()>,
    webhooks: &Webhooks,
    client: &Client,
    readiness: Option<&Readiness>,
) {
    for store in webhooks.stores() {
        let readiness = readiness.filter(|_| !converts(webhooks, &store.gvk()));
        let waiting = readiness.map(|it| it.wait_for("stores", format!("listing each {}", store.gvk())));
        let (client, store, waiting) = (client.clone(), Arc::clone(store), Mutex::new(waiting));
        let keep = async move || follow(client.clone(), Arc::clone(&store), &waiting).await;
        tasks.spawn(restart_on_panic("store", keep));
    }
}

fn converts(webhooks: &Webhooks, kind: &GroupVersionKind) -> bool {
    webhooks.declarations().any(|declared| declared.converts() && declared.hub.same_kind(kind))
}

async fn follow(client: Client, store: Arc<dyn WatchedStore>, waiting: &Mutex<Option<WaitGuard>>) {
    let kind = store.gvk();
    let report = |state| {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match state {
            StoreState::Filled => drop(waiting.take()),
            StoreState::Interrupted(why) => {
                tracing::warn!(%kind, %why, "a store that rules read isn't kept up to date");
                if let Some(waiting) = waiting.as_ref() {
                    waiting.update(format!("listing each {kind}: {why}"));
                }
            }
        }
    };
    keep_filled(client, store, report).await;
}

#[cfg(test)]
mod tests {
    use gateward_core::{Resource, Webhook};

    use super::*;
    use crate::cli::convert::converter::tests::{Losing, v1, v2};

    #[test]
    fn what_the_server_converts_itself_is_not_waited_for() {
        let webhooks = Webhooks::new().register(Webhook::<v1::Otter>::new().spoke::<v2::Otter>(Losing));
        assert!(converts(&webhooks, &v1::Otter::gvk()) && converts(&webhooks, &v2::Otter::gvk()));
        let alone = Webhooks::new().register(Webhook::<v1::Otter>::new());
        assert!(!converts(&alone, &v1::Otter::gvk()));
    }
}
