//! Watches all injection targets: stores them, reports changed objects to [`super::restore`], and publishes the
//! `caBundle`s that API servers use.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{StreamExt, pin_mut};
use kube::runtime::watcher::Event;
use tokio::sync::{Notify, mpsc, watch};

use super::leader::LeaderContext;
use super::restore::Changed;
use super::status_store::{StatusStore, StatusTopic};
use crate::connection::Connection;
use crate::injection::{
    ClaimingConfigurations, Clock, InjectableKind, InjectableObject, InjectionTargets, TargetStore, WatchScope,
};
use crate::namespace_lease::ObservedConfigurations;
use crate::send_if_changed::send_if_changed;
use crate::watch::with_backoff;

/// The watches of all injection targets.
pub(super) struct InjectionWatch {
    connection: Connection,
    targets: TargetStore,
    status: Arc<StatusStore>,
    /// Within this time every API server observes a change.
    settle: Duration,
    known: Mutex<InjectionTargets>,
    claiming: Mutex<ClaimingConfigurations>,
    /// Why watches of webhook configurations keep failing.
    failing: Mutex<BTreeMap<WatchScope, String>>,
    configurations: watch::Sender<ObservedConfigurations>,
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
        Self {
            connection,
            targets,
            status,
            settle,
            known,
            claiming: Mutex::default(),
            failing: Mutex::default(),
            configurations: watch::Sender::default(),
            changes,
            reconcile,
            wakeup: Notify::new(),
        }
    }

    /// What webhook configurations say of claims on namespaces.
    pub(super) fn configurations(&self) -> watch::Receiver<ObservedConfigurations> {
        self.configurations.subscribe()
    }

    /// Runs one watch.
    pub(super) async fn watch(&self, scope: WatchScope) {
        let events = with_backoff(self.targets.events(&scope), |why| {
            self.note_failure(&scope, why.clone());
            let warning =
                why.map(|why| format!("the watch of {scope} keeps failing: {why}; its last state stays in use"));
            self.status.warn(StatusTopic::Watch(scope.clone()), warning);
        });
        pin_mut!(events);
        let (mut listed, mut synced) = (Vec::new(), false);
        while let Some(event) = events.next().await {
            match event {
                Event::Init => listed.clear(),
                Event::InitApply(object) => {
                    listed.push(object.name().to_owned());
                    self.observe(scope.kind, &object);
                }
                Event::Apply(object) => self.observe(scope.kind, &object),
                Event::Delete(object) => {
                    self.known().remove(scope.kind, object.name(), self.clock());
                    self.claiming().remove(scope.kind, object.name());
                    self.reconcile.notify_one();
                }
                Event::InitDone => {
                    if scope.name.is_none() {
                        self.claiming().retain_listed(scope.kind, &listed);
                    }
                    let mut known = self.known();
                    known.retain_listed(scope.kind, |name| scope.covers(name), &listed, self.clock());
                    if !std::mem::replace(&mut synced, true) {
                        known.watch_synced();
                    }
                }
            }
            self.wakeup.notify_one();
        }
    }

    /// Nothing counts as claimed while a webhook configuration could have gone unseen.
    fn note_failure(&self, scope: &WatchScope, why: Option<String>) {
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        match why.filter(|_| scope.kind != InjectableKind::Crd) {
            Some(why) => drop(failing.insert(scope.clone(), why)),
            None => drop(failing.remove(scope)),
        }
        self.wakeup.notify_one();
    }

    fn observe(&self, kind: InjectableKind, object: &InjectableObject) {
        self.claiming().observe(kind, object, self.targets.rules());
        if let Some(target) = self.known().observe(kind, object, self.targets.rules(), self.clock()) {
            let by = self.targets.likely_writers(object);
            // The receiver is gone only at shutdown.
            let _ = self.changes.send(Changed { object: target, by });
        }
    }

    fn clock(&self) -> Clock {
        Clock { now: Instant::now(), api_server_time: self.connection.api_server_time() }
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
        let is_complete = known.is_complete();
        let next = known.next_change(self.settle, now);
        drop(known);
        let failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner).values().next().cloned();
        send_if_changed(&self.configurations, self.claiming().observed(is_complete, failing));
        self.status.update(|facts| {
            facts.targets = targets;
            (facts.status.injected, facts.status.conflicts) = (injected, conflicts);
        });
        next
    }

    fn claiming(&self) -> MutexGuard<'_, ClaimingConfigurations> {
        self.claiming.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, InjectionTargets> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
