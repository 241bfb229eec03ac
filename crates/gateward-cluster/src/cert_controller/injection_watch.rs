//! Watches all injection targets: keeps them in the stores of reflectors, reports changed objects to
//! [`super::restore`], and publishes the `caBundle`s that API servers use.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{StreamExt, pin_mut};
use kube::runtime::reflector::store::Writer;
use kube::runtime::watcher::Event;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

use super::leader::LeaderContext;
use super::restore::Changed;
use super::status_store::{StatusStore, StatusTopic};
use crate::connection::Connection;
use crate::injection::{Clock, InjectableKind, InjectableObject, InjectionTargets, TargetStore, WatchScope};
use crate::namespace_lease::ObservedConfigurations;
use crate::restart_on_panic::restart_on_panic;
use crate::send_if_changed::send_if_changed;

/// The watches of all injection targets.
pub(super) struct InjectionWatch {
    connection: Connection,
    targets: TargetStore,
    status: Arc<StatusStore>,
    /// Within this time every API server observes a change.
    settle: Duration,
    known: Mutex<InjectionTargets>,
    /// Why watches of webhook configurations keep failing.
    failing: Mutex<BTreeMap<WatchScope, String>>,
    configurations: watch::Sender<ObservedConfigurations>,
    changes: mpsc::UnboundedSender<Changed>,
    /// Wakes the reconciler.
    reconcile: Arc<Notify>,
    wakeup: Notify,
}

impl InjectionWatch {
    /// Starts all watches. What webhook configurations say of claims on namespaces comes from the receiver.
    pub(super) fn spawn(
        tasks: &mut JoinSet<()>,
        connection: &Connection,
        leader: &LeaderContext,
        settle: Duration,
        changes: mpsc::UnboundedSender<Changed>,
    ) -> watch::Receiver<ObservedConfigurations> {
        let (connection, targets) = (connection.clone(), leader.targets.clone());
        let watches: Vec<_> = targets.scopes().into_iter().map(|scope| (Writer::new(scope.kind), scope)).collect();
        let stores = watches.iter().map(|(store, scope)| (scope.kind, store.as_reader())).collect();
        let known = Mutex::new(InjectionTargets::new(targets.rules().clone(), stores));
        let (status, reconcile) = (Arc::clone(&leader.status), Arc::clone(&leader.wakeup));
        let wakeup = Notify::new();
        let (configurations, observed) = watch::channel(ObservedConfigurations::default());
        let failing = Mutex::default();
        let this = Arc::new(Self {
            connection,
            targets,
            status,
            settle,
            known,
            failing,
            configurations,
            changes,
            reconcile,
            wakeup,
        });
        for (mut store, scope) in watches {
            let this = Arc::clone(&this);
            let watch = async move || this.watch(&scope, &mut store).await;
            tasks.spawn(restart_on_panic("watch of injection targets", watch));
        }
        tasks.spawn(restart_on_panic("injection targets", async move || this.publish().await));
        observed
    }

    /// Runs one watch.
    async fn watch(&self, scope: &WatchScope, store: &mut Writer<InjectableObject>) {
        let events = self.targets.events(scope, |why| {
            self.note_failure(scope, why.clone());
            let warning =
                why.map(|why| format!("the watch of {scope} keeps failing: {why}; its last state stays in use"));
            self.status.warn(StatusTopic::Watch(scope.clone()), warning);
        });
        pin_mut!(events);
        while let Some(event) = events.next().await {
            store.apply_watcher_event(&event);
            match &event {
                Event::InitApply(object) | Event::Apply(object) => self.report(scope.kind, object),
                Event::Delete(_) => self.reconcile.notify_one(),
                Event::Init | Event::InitDone => {}
            }
            // While a watch lists, its store stays as it was.
            if matches!(event, Event::Init | Event::InitApply(_)) {
                continue;
            }
            let clock = Clock { now: Instant::now(), api_server_time: self.connection.api_server_time() };
            self.known().refresh(clock);
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

    /// Has an injection target checked.
    fn report(&self, kind: InjectableKind, object: &InjectableObject) {
        if let Some(target) = self.targets.rules().classify(kind, object) {
            let by = self.targets.likely_writers(object);
            // The receiver is gone only at shutdown.
            let _ = self.changes.send(Changed { object: target, by });
        }
    }

    /// Publishes the injection targets and their `caBundle`s whenever they change, also by time alone.
    async fn publish(&self) {
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
        let failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner).values().next().cloned();
        let observed = ObservedConfigurations { failing, ..known.configurations() };
        drop(known);
        send_if_changed(&self.configurations, observed);
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
