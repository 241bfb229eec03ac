//! What the reconciler and the restorer share.

use std::sync::{Arc, Mutex, PoisonError};

use gateward_certs::rotation::CaSecret;
use tokio::sync::Notify;

use super::status_store::StatusStore;
use crate::config::ControllerConfig;
use crate::connection::Connection;
use crate::injection::TargetStore;
use crate::lease::Leadership;
use crate::secrets::SecretStore;
use crate::write_rate_limiter::WriteRateLimiter;

/// Writes Secrets and injection targets while this replica is the leader.
pub(super) struct LeaderContext {
    pub(super) secrets: SecretStore,
    pub(super) targets: TargetStore,
    pub(super) leadership: Leadership,
    pub(super) rate_limiter: WriteRateLimiter,
    pub(super) status: Arc<StatusStore>,
    /// Wakes the reconciler.
    pub(super) wakeup: Arc<Notify>,
    /// The CA's Secret as the reconciler has read it last.
    ca: Mutex<Option<CaSecret>>,
}

impl LeaderContext {
    pub(super) fn new(
        connection: &Connection,
        config: &ControllerConfig,
        leadership: Leadership,
        status: Arc<StatusStore>,
    ) -> Self {
        Self {
            secrets: SecretStore::new(connection, config),
            targets: TargetStore::new(connection, config),
            leadership,
            rate_limiter: WriteRateLimiter::default(),
            status,
            wakeup: Arc::default(),
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
