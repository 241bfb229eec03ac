//! Watches all injection targets: stores them, reports changed objects to [`super::restore`], and publishes the
//! `caBundle`s that API servers use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc};

use super::leader::LeaderContext;
use super::restore::Changed;
use super::status_store::{StatusStore, StatusTopic};
use crate::connection::Connection;
use crate::injection::{Clock, InjectionTargets, TargetStore, WatchEvent, WatchScope};

/// The watches of all injection targets.
pub(super) struct InjectionWatch {
    connection: Connection,
    targets: TargetStore,
    status: Arc<StatusStore>,
    /// Within this time every API server observes a change.
    settle: Duration,
    known: Mutex<InjectionTargets>,
    changes: mpsc::UnboundedSender<Changed>,
    /// Wakes the reconciler.
    reconcile: Arc<Notify>,
    wakeup: Notify,
}

impl InjectionWatch {
    pub(super) fn new(
        connection: &Connection,
        leader: &LeaderContext,
        settle: Duration,
        changes: mpsc::UnboundedSender<Changed>,
    ) -> Self {
        let (connection, targets) = (connection.clone(), leader.targets.clone());
        let known = Mutex::new(InjectionTargets::awaiting(targets.scopes().len()));
        let (status, reconcile) = (Arc::clone(&leader.status), Arc::clone(&leader.wakeup));
        Self { connection, targets, status, settle, known, changes, reconcile, wakeup: Notify::new() }
    }

    /// Runs one watch.
    pub(super) async fn watch(&self, scope: WatchScope) {
        let first = AtomicBool::new(true);
        self.targets.watch(scope, |event| self.handle(event, &first)).await;
    }

    fn handle(&self, event: WatchEvent, first: &AtomicBool) {
        let clock = Clock { now: Instant::now(), api_server_time: self.connection.api_server_time() };
        let mut known = self.known();
        match event {
            WatchEvent::Applied(kind, object) => {
                let store = &self.targets;
                if let Some(target) = known.observe(kind, &object, store.rules(), clock) {
                    let by = store.likely_writers(&object);
                    // The receiver is gone only at shutdown.
                    let _ = self.changes.send(Changed { object: target, by });
                }
            }
            WatchEvent::Deleted(kind, name) => {
                known.remove(kind, &name, clock);
                self.reconcile.notify_one();
            }
            WatchEvent::Listed(scope, listed) => {
                known.retain_listed(scope.kind, |name| scope.covers(name), &listed, clock);
                if first.swap(false, Ordering::Relaxed) {
                    known.watch_synced();
                }
            }
            WatchEvent::Failing(scope, why) => {
                let warning =
                    why.map(|why| format!("the watch of {scope} keeps failing: {why}; its last state stays in use"));
                return self.status.warn(StatusTopic::Watch(scope), warning);
            }
        }
        self.wakeup.notify_one();
    }

    /// Publishes the injection targets and their `caBundle`s whenever they change, also by time alone.
    pub(super) async fn publish(&self) {
        loop {
            match self.update(Instant::now()) {
                Some(at) => drop(tokio::time::timeout_at(at.into(), self.wakeup.notified()).await),
                None => self.wakeup.notified().await,
            }
        }
    }

    /// Returns when the status changes by time alone.
    fn update(&self, now: Instant) -> Option<Instant> {
        let known = self.known();
        let (injected, conflicts) = (known.trust(self.settle, now), known.conflicts());
        let targets = known.is_complete().then(|| known.objects());
        let next = known.next_change(self.settle, now);
        drop(known);
        self.status.update(|facts| {
            facts.targets = targets;
            (facts.status.injected, facts.status.conflicts) = (injected, conflicts);
        });
        next
    }

    fn known(&self) -> MutexGuard<'_, InjectionTargets> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
