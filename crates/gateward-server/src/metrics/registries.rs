//! The registries behind `/metrics`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus_client::registry::Registry;

use super::families::MetricPrefixes;

/// The registries of one process. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedRegistries(Arc<Mutex<Registries>>);

/// What `/metrics` shows.
#[derive(Debug, Default)]
pub(super) struct Registries {
    /// Of every server.
    pub(super) server: Registry,
    /// Of a server in a cluster.
    pub(super) cluster: Registry,
    /// Of the certificate watcher; their names have no prefix.
    pub(super) cert_watcher: Registry,
}

impl SharedRegistries {
    pub(super) fn with_prefixes(prefixes: MetricPrefixes<'_>) -> Self {
        let registries = Registries {
            server: Registry::with_prefix(prefixes.server),
            cluster: Registry::with_prefix(prefixes.cluster),
            cert_watcher: Registry::default(),
        };
        Self(Arc::new(Mutex::new(registries)))
    }

    /// No scrape happens while this is held.
    pub(super) fn lock(&self) -> MutexGuard<'_, Registries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
