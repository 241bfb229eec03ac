//! What watches tell: kept in a ledger, handed on to who repairs, and put together as what the consumers trust.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, mpsc, watch};

use super::board::Topic;
use super::means::Means;
use super::repair::Changed;
use crate::changes::send_change;
use crate::consumers::{Heard, Ledger, Moment, Scope};
use crate::trust::Trust;

/// Hears of all who carry bundles.
pub(super) struct Ears {
    means: Arc<Means>,
    ledger: Mutex<Ledger>,
    changes: mpsc::UnboundedSender<Changed>,
    trust: watch::Sender<Trust>,
    news: Notify,
}

impl Ears {
    pub(super) fn new(means: Arc<Means>, changes: mpsc::UnboundedSender<Changed>) -> Self {
        let ledger = Mutex::new(Ledger::before(means.consumers.scopes().len()));
        Self { means, ledger, changes, trust: watch::Sender::new(Trust::default()), news: Notify::new() }
    }

    pub(super) fn trust(&self) -> watch::Receiver<Trust> {
        self.trust.subscribe()
    }

    /// Hears of what one watch looks at.
    pub(super) async fn listen(&self, scope: Scope) {
        let first = AtomicBool::new(true);
        self.means.consumers.watch(scope, |heard| self.hear(heard, &first)).await;
    }

    fn hear(&self, heard: Heard, first: &AtomicBool) {
        let moment = Moment { now: Instant::now(), api_server_time: self.means.connection.api_server_time() };
        let mut ledger = self.ledger();
        match heard {
            Heard::Object(kind, object) => {
                let consumers = &self.means.consumers;
                if let Some(sighting) = ledger.heard(kind, &object, consumers.rules(), moment) {
                    let by = consumers.suspects(&object);
                    // Nobody listens only when everything ends.
                    let _ = self.changes.send(Changed { sighting, by });
                }
            }
            Heard::Gone(kind, name) => {
                ledger.gone(kind, &name, moment);
                self.means.news.notify_one();
            }
            Heard::All(scope, told) => {
                ledger.only(scope.kind, |name| scope.covers(name), &told, moment);
                if first.swap(false, Ordering::Relaxed) {
                    ledger.one_has_told();
                }
            }
            Heard::Trouble(scope, why) => {
                drop(ledger);
                let warning =
                    why.map(|why| format!("nothing is heard of the {scope}: {why}; what was heard before counts"));
                return self.means.board.warn(Topic::Watch(scope), warning);
            }
        }
        let consumers = ledger.is_complete().then(|| ledger.sightings());
        let rivals = ledger.rivals();
        drop(ledger);
        self.means.board.note(|facts| (facts.consumers, facts.rivals) = (consumers, rivals));
        self.news.notify_one();
    }

    /// Publishes what the consumers trust, whenever that changes: also by time alone.
    pub(super) async fn publish(&self) {
        let settle = self.means.wanted.settle;
        loop {
            let now = Instant::now();
            let (trust, next) = {
                let ledger = self.ledger();
                (ledger.trust(settle, now), ledger.next_change(settle, now))
            };
            send_change(&self.trust, trust);
            match next {
                Some(at) => drop(tokio::time::timeout_at(at.into(), self.news.notified()).await),
                None => self.news.notified().await,
            }
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
