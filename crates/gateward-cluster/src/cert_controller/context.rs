//! What all parts of the controller share.

use std::sync::{Arc, Mutex, PoisonError};

use gateward_certs::KeySource;
use gateward_certs::rotation::{CaSecret, CertificateSpec};
use tokio::sync::Notify;

use super::status_store::StatusStore;
use crate::config::ControllerConfig;
use crate::connection::Connection;
use crate::injection::TargetStore;
use crate::lease::Leadership;
use crate::replicas::Replicas;
use crate::secrets::SecretStore;
use crate::write_rate_limiter::WriteRateLimiter;

/// Clients, stores and configuration of the controller.
pub(super) struct ControllerContext {
    pub(super) spec: CertificateSpec,
    pub(super) keys: Arc<dyn KeySource + Send + Sync>,
    pub(super) connection: Connection,
    pub(super) secrets: SecretStore,
    pub(super) targets: TargetStore,
    pub(super) replicas: Replicas,
    pub(super) leadership: Leadership,
    pub(super) rate_limiter: WriteRateLimiter,
    pub(super) status: StatusStore,
    /// Wakes the reconciler.
    pub(super) wakeup: Arc<Notify>,
    /// The CA's Secret as the reconciler has read it last.
    ca: Mutex<Option<CaSecret>>,
}

impl ControllerContext {
    pub(super) fn new(
        connection: &Connection,
        config: &ControllerConfig,
        replicas: Replicas,
        leadership: Leadership,
    ) -> Self {
        Self {
            spec: config.spec(),
            keys: Arc::clone(&config.certificates.keys),
            connection: connection.clone(),
            secrets: SecretStore::new(connection, config),
            targets: TargetStore::new(connection, config),
            replicas,
            leadership,
            rate_limiter: WriteRateLimiter::default(),
            status: StatusStore::new(config.targets.clone()),
            wakeup: Arc::new(Notify::new()),
            ca: Mutex::default(),
        }
    }

    pub(super) fn remember(&self, ca: Option<CaSecret>) {
        *self.ca.lock().unwrap_or_else(PoisonError::into_inner) = ca;
    }

    pub(super) fn remembered_ca(&self) -> Option<CaSecret> {
        self.ca.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
