//! What the reconciler and the restorer share.

use std::sync::{Arc, Mutex, PoisonError};

use gateward_certs::{CaBundle, Provision};
use k8s_openapi::api::core::v1::Secret;
use tokio::sync::Notify;

use super::status_store::StatusStore;
use crate::config::ControllerConfig;
use crate::connection::Connection;
use crate::injection::TargetStore;
use crate::lease::Leadership;
use crate::request::RequestError;
use crate::secrets::{ManagedSecret, SecretStore, state_secret, trusted};
use crate::write_rate_limiter::WriteRateLimiter;

/// Writes Secrets and injection targets while this replica is the leader.
pub(super) struct LeaderContext {
    pub(super) provision: Provision,
    pub(super) secrets: SecretStore,
    pub(super) targets: TargetStore,
    pub(super) leadership: Leadership,
    pub(super) rate_limiter: WriteRateLimiter,
    pub(super) status: Arc<StatusStore>,
    /// Wakes the reconciler.
    pub(super) wakeup: Arc<Notify>,
    /// The CAs that each injection target has to have, as the reconciler has read them last.
    trusted: Mutex<CaBundle>,
}

impl LeaderContext {
    pub(super) fn new(
        connection: &Connection,
        config: &ControllerConfig,
        leadership: Leadership,
        status: Arc<StatusStore>,
    ) -> Self {
        Self {
            provision: config.provision.clone(),
            secrets: SecretStore::new(connection, config),
            targets: TargetStore::new(connection, config),
            leadership,
            rate_limiter: WriteRateLimiter::default(),
            status,
            wakeup: Arc::default(),
            trusted: Mutex::default(),
        }
    }

    pub(super) fn remember(&self, trusted: CaBundle) {
        *self.trusted.lock().unwrap_or_else(PoisonError::into_inner) = trusted;
    }

    pub(super) fn remembered(&self) -> CaBundle {
        self.trusted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The Secret in which the leader keeps its state, where it keeps any.
    pub(super) async fn read_state(&self) -> Result<Option<Secret>, RequestError> {
        match state_secret(&self.provision) {
            Some(which) => self.secrets.read(which).await,
            None => Ok(None),
        }
    }

    /// The CAs that each injection target has to have, read without a cache.
    pub(super) async fn read_trusted(&self) -> Result<CaBundle, RequestError> {
        let (state, serving) = match state_secret(&self.provision) {
            Some(which) => (self.secrets.read(which).await?, None),
            None => (None, self.secrets.read(ManagedSecret::Serving).await?),
        };
        Ok(trusted(&self.provision, state.as_ref(), serving.as_ref()))
    }
}
