//! Watches the leases of all namespaces by their names, and publishes what they claim.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{StreamExt, pin_mut};
use kube::runtime::watcher::{Config, Event};
use kube::{Api, Client};
use tokio::sync::{Notify, watch};

use super::claims::{Claims, ObservedWebhooks};
use super::configurations::ObservedConfigurations;
use super::known::KnownLeases;
use super::record::NamespaceLease;
use crate::any_lease::AnyLease;
use crate::watch::watch_with_backoff;

/// What is claimed at the moment, and whether it can be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ObservedClaims {
    pub(crate) claims: Arc<Claims>,
    /// Why leases or webhook configurations can't be read; `None` if they can.
    pub(crate) unreadable: Option<String>,
}

/// The watches of leases.
pub(crate) struct LeaseWatch {
    leases: Api<AnyLease>,
    known: Mutex<KnownLeases>,
    changed: Notify,
    /// Within this time every API server knows of a webhook configuration.
    settle: Duration,
    claims: watch::Sender<ObservedClaims>,
}

impl LeaseWatch {
    pub(crate) fn new(client: Client, names: &[String], settle: Duration) -> Self {
        let known = Mutex::new(KnownLeases::awaiting(names));
        let unreadable = known.lock().unwrap_or_else(PoisonError::into_inner).unreadable();
        let claims = watch::Sender::new(ObservedClaims { unreadable, ..ObservedClaims::default() });
        Self { leases: Api::all(client), known, changed: Notify::new(), settle, claims }
    }

    pub(crate) fn claims(&self) -> watch::Receiver<ObservedClaims> {
        self.claims.subscribe()
    }

    /// Watches the leases of one name.
    pub(crate) async fn watch(&self, name: &str) {
        let config = Config::default().fields(&format!("metadata.name={name}"));
        let events = watch_with_backoff(self.leases.clone(), config, |why| {
            self.known().watch_fails(name, why);
            self.changed.notify_one();
        });
        pin_mut!(events);
        let mut listed = HashSet::new();
        while let Some(event) = events.next().await {
            let now = Instant::now();
            match event {
                Event::Init => listed.clear(),
                Event::InitApply(AnyLease(lease)) => {
                    let lease = NamespaceLease::read(&lease);
                    listed.insert(lease.namespace.clone());
                    self.known().observe(lease, now);
                }
                Event::Apply(AnyLease(lease)) => self.known().observe(NamespaceLease::read(&lease), now),
                Event::Delete(AnyLease(lease)) => {
                    let lease = NamespaceLease::read(&lease);
                    self.known().remove(&lease.name, &lease.namespace);
                }
                Event::InitDone => self.known().retain_listed(name, &listed),
            }
            self.changed.notify_one();
        }
    }

    /// Publishes what is claimed whenever it changes, also by time alone.
    pub(crate) async fn publish(&self, mut configurations: watch::Receiver<ObservedConfigurations>) {
        let mut webhooks = ObservedWebhooks::default();
        loop {
            let seen = configurations.borrow_and_update().clone();
            let (now, not_read) = (Instant::now(), seen.unreadable());
            // Nothing stands behind a lease while that can't be seen.
            let claiming = if not_read.is_some() { Vec::new() } else { seen.claiming };
            webhooks = ObservedWebhooks::after(&webhooks, claiming, now);
            let (claims, unreadable) = {
                let known = self.known();
                (Claims::of(known.leases(), &webhooks, self.settle, now), known.unreadable().or(not_read))
            };
            let changes_at = claims.changes_at;
            self.claims.send_replace(ObservedClaims { claims: Arc::new(claims), unreadable });
            let timed = async {
                match changes_at {
                    Some(at) => tokio::time::sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.changed.notified() => {}
                () = timed => {}
                changed = configurations.changed() => if changed.is_err() { return },
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownLeases> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
