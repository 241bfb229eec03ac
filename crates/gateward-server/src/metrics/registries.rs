//! The registries behind `/metrics`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prometheus_client::registry::Registry;

/// The registries of one process. Clones share them.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedRegistries(Arc<Mutex<Registries>>);

/// What `/metrics` shows.
#[derive(Debug, Default)]
pub(super) struct Registries {
    /// Names with the operator's prefix.
    pub(super) prefixed: Registry,
    /// Names that are the same for every operator.
    pub(super) common: Registry,
}

impl SharedRegistries {
    pub(super) fn with_prefix(prefix: &str) -> Self {
        let registries = Registries { prefixed: Registry::with_prefix(prefix), common: Registry::default() };
        Self(Arc::new(Mutex::new(registries)))
    }

    /// No scrape happens while this is held.
    pub(super) fn lock(&self) -> MutexGuard<'_, Registries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
