//! Watches all injection targets: stores them, reports changed objects to [`super::restore`], and publishes the
//! `caBundle`s that API servers use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, mpsc, watch};

use super::context::ControllerContext;
use super::restore::Changed;
use super::status_store::StatusTopic;
use crate::injected::InjectedCaBundles;
use crate::injection::{Clock, InjectionTargets, WatchEvent, WatchScope};
use crate::send_if_changed::send_if_changed;

/// The watches of all injection targets.
pub(super) struct InjectionWatch {
    context: Arc<ControllerContext>,
    known: Mutex<InjectionTargets>,
    changes: mpsc::UnboundedSender<Changed>,
    trust: watch::Sender<InjectedCaBundles>,
    wakeup: Notify,
}

impl InjectionWatch {
    pub(super) fn new(context: Arc<ControllerContext>, changes: mpsc::UnboundedSender<Changed>) -> Self {
        let known = Mutex::new(InjectionTargets::awaiting(context.targets.scopes().len()));
        Self { context, known, changes, trust: watch::Sender::new(InjectedCaBundles::default()), wakeup: Notify::new() }
    }

    pub(super) fn trust(&self) -> watch::Receiver<InjectedCaBundles> {
        self.trust.subscribe()
    }

    /// Runs one watch.
    pub(super) async fn watch(&self, scope: WatchScope) {
        let first = AtomicBool::new(true);
        self.context.targets.watch(scope, |event| self.handle(event, &first)).await;
    }

    fn handle(&self, event: WatchEvent, first: &AtomicBool) {
        let clock = Clock { now: Instant::now(), api_server_time: self.context.connection.api_server_time() };
        let mut known = self.known();
        match event {
            WatchEvent::Applied(kind, object) => {
                let store = &self.context.targets;
                if let Some(target) = known.observe(kind, &object, store.rules(), clock) {
                    let by = store.likely_writers(&object);
                    // The receiver is gone only at shutdown.
                    let _ = self.changes.send(Changed { object: target, by });
                }
            }
            WatchEvent::Deleted(kind, name) => {
                known.remove(kind, &name, clock);
                self.context.wakeup.notify_one();
            }
            WatchEvent::Listed(scope, listed) => {
                known.retain_listed(scope.kind, |name| scope.covers(name), &listed, clock);
                if first.swap(false, Ordering::Relaxed) {
                    known.watch_synced();
                }
            }
            WatchEvent::Failing(scope, why) => {
                drop(known);
                let warning =
                    why.map(|why| format!("the watch of {scope} keeps failing: {why}; its last state stays in use"));
                return self.context.status.warn(StatusTopic::Watch(scope), warning);
            }
        }
        let targets = known.is_complete().then(|| known.objects());
        let conflicts = known.conflicts();
        drop(known);
        self.context.status.update(|facts| (facts.targets, facts.conflicts) = (targets, conflicts));
        self.wakeup.notify_one();
    }

    /// Publishes the injected `caBundle`s whenever they change, also by time alone.
    pub(super) async fn publish(&self) {
        let settle = self.context.spec.settle;
        loop {
            let now = Instant::now();
            let (trust, next) = {
                let known = self.known();
                (known.trust(settle, now), known.next_change(settle, now))
            };
            send_if_changed(&self.trust, trust);
            match next {
                Some(at) => drop(tokio::time::timeout_at(at.into(), self.wakeup.notified()).await),
                None => self.wakeup.notified().await,
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, InjectionTargets> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
